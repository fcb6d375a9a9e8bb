// Stored rows of a matrix to its tiles, and tiles to those of a narrower type.
#include <cmath>

#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/quantize_record.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/stored_blocks.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/vendor.h"

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

// Two columns of a stored row for each thread. Words are shared with other rows, which may come later.
__global__ void __launch_bounds__(kThreads)
    pack_coded_kernel(DeviceMatrix matrix, std::byte* tiles, StoredRows stored, const std::byte* group_scales,
                      int32_t first, int32_t count) {
  const int64_t pairs = divide_up(matrix.cols, 2);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  wait_for_previous();
  let_next_start();
  if (i >= count * pairs) return;
  const DType type = matrix.dtype;
  const int64_t col = i % pairs * 2;
  const std::byte* const from = stored.data + i / pairs * stored.bytes;
  const int64_t row = first + i / pairs;
  const auto output = static_cast<int32_t>(row % kFragmentOutputs);
  std::byte* const to = tiles + coded_block_at(matrix, row, col);
  const uint32_t own =
      type == DType::kF4E2M1 ? byte_at(group_scales, (i / pairs * matrix.cols + col) / 16) : 0;
  const uint32_t turned = own >> 7 << 3;  // the sign of kF4E2M1
  uint32_t bits = 0;
  uint32_t high = 0;
  CodePlace place{};
  for (int32_t j = 0; j < 2 && col + j < matrix.cols; ++j) {
    place = code_place(type, output, static_cast<int32_t>(col % kCodedColumns) + j);
    const uint32_t code = stored_code(type, stored.block, from, col + j) ^ turned;
    bits |= code_in_word(type, code, place);
    if (high_bits(type) > 0) high |= code_in_high_word(code, place);
  }
  add_to(reinterpret_cast<uint32_t*>(to + place.word), bits);
  if (high_bits(type) > 0) add_to(reinterpret_cast<uint32_t*>(to + place.high_word), high);
  if (type != DType::kI8 && col % group_columns(type) == 0) {
    store_scales(type, stored.block, from, own, col, output, to);
  }
}

// A block for each tile of codes, which two tiles of `from` become.
__global__ void __launch_bounds__(kThreads)
    narrow_kernel(DeviceMatrix from, std::byte* tiles, float* scales) {
  constexpr int kQuads = kTileRows * kTileBytes / 4 / kThreads;
  constexpr int kRowQuads = kTileBytes / 4;
  const auto k = static_cast<int32_t>(blockIdx.x);
  const auto row_tile = static_cast<int32_t>(blockIdx.y);
  const int32_t wide_tiles = k_tiles(from.dtype, from.cols);
  wait_for_previous();
  let_next_start();
  float values[kQuads][4];
  float largest = 0;
#pragma unroll
  for (int n = 0; n < kQuads; ++n) {
    const int32_t quad = n * static_cast<int32_t>(kThreads) + static_cast<int32_t>(threadIdx.x);
    const int32_t byte = quad % kRowQuads * 8;
    const int32_t wide_tile = 2 * k + byte / kTileBytes;
    const std::byte* const tile = from.tiles + (int64_t{row_tile} * wide_tiles + wide_tile) * kTileSize;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const int32_t at = tile_offset(from.order, quad / kRowQuads, byte % kTileBytes + 2 * i);
      const uint32_t two = wide_tile < wide_tiles ? *reinterpret_cast<const uint32_t*>(tile + at) : 0;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const auto half = static_cast<uint16_t>(two >> (16 * j));
        const float value = from.dtype == DType::kBF16 ? bf16_to_float(half) : f16_to_float(half);
        values[n][i + j] = value;
        // NaN is taken for infinity, which a maximum does not lose.
        const bool finite = fabsf(value) <= 3.402823466e38f;
        largest = fmaxf(largest, finite ? fabsf(value) : __builtin_huge_valf());
      }
    }
  }
  largest = reduce_block<Max>(largest);
  const bool finite = largest < __builtin_huge_valf();
  if (largest < kSmallestMagnitude) largest = kSmallestMagnitude;
  const float inverse = kFp8Max / largest;
  std::byte* const to = tiles + (int64_t{row_tile} * k_tiles(DType::kF8E4M3, from.cols) + k) * kTileSize;
#pragma unroll
  for (int n = 0; n < kQuads; ++n) {
    const int32_t quad = n * static_cast<int32_t>(kThreads) + static_cast<int32_t>(threadIdx.x);
    float scaled[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) scaled[i] = finite ? values[n][i] * inverse : 0.0f;
    *reinterpret_cast<uint32_t*>(to + tile_offset(from.order, quad / kRowQuads, quad % kRowQuads * 4)) =
        narrow_to_fp8(scaled);
  }
  if (threadIdx.x == 0) {
    scales[int64_t{k} * divide_up(from.rows, kTileRows) + row_tile] = finite ? largest / kFp8Max : largest;
  }
}

}  // namespace

Launch narrow_tiles(const DeviceMatrix& from, std::byte* tiles, float* scales) {
  const Grid grid{static_cast<uint32_t>(k_tiles(DType::kF8E4M3, from.cols)),
                  static_cast<uint32_t>(divide_up(from.rows, kTileRows))};
  return make_launch("narrow_tiles", narrow_kernel, grid, kThreads, 0, from, tiles, scales);
}

Launch pack_rows(const DeviceMatrix& matrix, std::byte* tiles, const std::byte* stored, int32_t first,
                 int32_t count) {
  const int64_t words = count * divide_up(int64_t{matrix.cols} * element_bytes(matrix.dtype), 4);
  return make_launch("pack_rows", pack_kernel, {static_cast<uint32_t>(divide_up(words, kThreads))}, kThreads,
                     0, matrix, tiles, stored, first, count);
}

Launch pack_coded_rows(const DeviceMatrix& matrix, std::byte* tiles, const std::byte* stored,
                       int64_t row_bytes, const std::byte* group_scales, int32_t first, int32_t count) {
  const int64_t pairs = count * divide_up(matrix.cols, 2);
  const StoredRows rows{stored, row_bytes, block_layout(matrix.dtype)};
  return make_launch("pack_coded_rows", pack_coded_kernel,
                     {static_cast<uint32_t>(divide_up(pairs, kThreads))}, kThreads, 0, matrix, tiles, rows,
                     group_scales, first, count);
}

}  // namespace llmservice::gpu
