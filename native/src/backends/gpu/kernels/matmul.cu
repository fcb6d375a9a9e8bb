#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/vendor.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;

// Four bytes of a stored row for each thread.
__global__ void __launch_bounds__(kThreads)
    pack_kernel(DeviceMatrix matrix, std::byte* tiles, const std::byte* stored, int32_t first,
                int32_t count) {
  const auto row_bytes = int64_t{matrix.cols} * element_bytes(matrix.dtype);
  const int64_t words = divide_up(row_bytes, 4);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  wait_for_previous();
  let_next_start();
  if (i >= count * words) return;
  const int64_t byte = i % words * 4;
  const std::byte* const from = stored + i / words * row_bytes + byte;
  uint32_t word = 0;
  for (int64_t j = 0; j < 4 && byte + j < row_bytes; ++j) {
    const auto code = static_cast<uint8_t>(from[j]);
    word |= static_cast<uint32_t>(matrix.dtype == DType::kF8E4M3 ? device_fp8(code) : code) << (8 * j);
  }
  const int64_t row = first + i / words;
  const int64_t tile = row / kTileRows * divide_up(row_bytes, kTileBytes) + byte / kTileBytes;
  const int32_t offset = tile_offset(matrix.order, static_cast<int32_t>(row % kTileRows),
                                     static_cast<int32_t>(byte % kTileBytes));
  *reinterpret_cast<uint32_t*>(tiles + tile * kTileSize + offset) = word;
}

__device__ float table_value(const DeviceMatrix& table, int32_t row, int32_t col) {
  const int32_t bytes = element_bytes(table.dtype);
  const int64_t byte = int64_t{col} * bytes;
  const int64_t tile = int64_t{row / kTileRows} * k_tiles(table.dtype, table.cols) + byte / kTileBytes;
  const auto in_tile = static_cast<int32_t>(byte % kTileBytes);
  const std::byte* const at = table.tiles + tile * kTileSize +
                              tile_offset(table.order, row % kTileRows, in_tile & ~3) + (in_tile & 3);
  if (table.dtype == DType::kBF16) return bf16_to_float(*reinterpret_cast<const uint16_t*>(at));
  if (table.dtype == DType::kF16) return f16_to_float(*reinterpret_cast<const uint16_t*>(at));
  const int64_t scale =
      col / kScaleColumns * divide_up(table.rows, table.scale_rows) + row / table.scale_rows;
  return fp8_to_float(static_cast<uint8_t>(*at)) * table.scales[scale];
}

__global__ void __launch_bounds__(kThreads)
    gather_kernel(DeviceMatrix table, const int32_t* ids, int64_t count, float* out) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  wait_for_previous();
  let_next_start();
  if (i >= count * table.cols) return;
  const int32_t id = ids[i / table.cols];
  out[i] = id == kNoRow ? 0.0f : table_value(table, id, static_cast<int32_t>(i % table.cols));
}

}  // namespace

TileOrder tile_order(int compute_capability) {
  return kHasWgmma && compute_capability == 90 ? TileOrder::kSwizzled : TileOrder::kFragments;
}

int64_t tile_bytes(DType dtype, int64_t rows, int64_t cols) {
  return divide_up(rows, kTileRows) * k_tiles(dtype, cols) * kTileSize;
}

int64_t scale_bytes(DType dtype, int64_t rows, int64_t cols, int32_t scale_rows) {
  if (dtype != DType::kF8E4M3) return 0;
  return divide_up(cols, kScaleColumns) * divide_up(rows, scale_rows) * static_cast<int64_t>(sizeof(float));
}

Launch pack_rows(const DeviceMatrix& matrix, std::byte* tiles, const std::byte* stored, int32_t first,
                 int32_t count) {
  const int64_t words = count * divide_up(int64_t{matrix.cols} * element_bytes(matrix.dtype), 4);
  return make_launch("pack_rows", pack_kernel, {static_cast<uint32_t>(divide_up(words, kThreads))}, kThreads,
                     0, matrix, tiles, stored, first, count);
}

Launch gather(const DeviceMatrix& table, const int32_t* ids, int64_t count, float* out) {
  return make_launch("gather", gather_kernel,
                     {static_cast<uint32_t>(divide_up(count * table.cols, kThreads))}, kThreads, 0, table,
                     ids, count, out);
}

int64_t matmul_workspace(const DeviceMatrix& matrix, int64_t rows) {
  return kCounterBytes + (matrix.order == TileOrder::kSwizzled ? swizzled_workspace(matrix, rows)
                                                               : fragments_workspace(matrix, rows));
}

Launches matmul(const DeviceMatrix& matrix, const float* x, int64_t rows, std::byte* workspace, float* out) {
  return matrix.order == TileOrder::kSwizzled ? swizzled_matmul(matrix, x, rows, workspace, out)
                                              : fragments_matmul(matrix, x, rows, workspace, out);
}

}  // namespace llmservice::gpu
