#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/vendor.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;

__device__ float tile_value(const DeviceMatrix& table, int32_t row, int32_t col) {
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

__device__ float half_at(const std::byte* from) {
  return f16_to_float(
      static_cast<uint16_t>(static_cast<uint32_t>(from[0]) | static_cast<uint32_t>(from[1]) << 8));
}

// As ops/block_types.h and the reference round it.
__device__ float coded_value(const DeviceMatrix& table, int32_t row, int32_t col) {
  const DType type = table.dtype;
  const std::byte* const block = table.tiles + coded_block_at(table, row, col);
  const int32_t output = row % kFragmentOutputs;
  const int32_t in_block = col % kCodedColumns;
  const CodePlace place = code_place(type, output, in_block);
  uint32_t code = code_of_word(type, *reinterpret_cast<const uint32_t*>(block + place.word), place);
  if (high_bits(type) > 0) {
    const uint32_t word = *reinterpret_cast<const uint32_t*>(block + place.high_word);
    code |= code_of_high_word(type, word, place);
  }
  const std::byte* const scale = block + group_scale_at(type, output, in_block / group_columns(type));
  const std::byte* const d = block + d_at(type, output);
  constexpr uint64_t kLower = kLookedUp0 | uint64_t{kLookedUp4} << 32;
  constexpr uint64_t kUpper = kLookedUp8 | uint64_t{kLookedUp12} << 32;
  const uint32_t looked_up = is_looked_up(type) ? (code < 8 ? kLower : kUpper) >> code % 8 * 8 & 0xff : code;
  const auto number = static_cast<float>(static_cast<int32_t>(looked_up) - code_excess(type));
  switch (type) {
    case DType::kI8:
      return number * table.scales[row];
    case DType::kF4E2M1: {  // e2m1 as the upper bits of an f16, 2^-14 of it; the sum's scale holds 2^-7 more
      const auto half = static_cast<uint16_t>((code & 7) << 9 | (code >> 3) << 15);
      const float group = f16_to_float(static_cast<uint16_t>(static_cast<uint32_t>(scale[0]) << 7));
      return f16_to_float(half) * group * table.scales[row];
    }
    case DType::kMXFP4: {
      const auto half = static_cast<uint16_t>((code & 7) << 9 | (code >> 3) << 15);
      const auto power =
          static_cast<uint16_t>(static_cast<uint32_t>(scale[0]) | static_cast<uint32_t>(scale[1]) << 8);
      return f16_to_float(half) * 0x1p14f * bf16_to_float(power);
    }
    case DType::kQ8_0:
    case DType::kQ5_0:
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return number * half_at(scale);
    case DType::kQ4_1:
    case DType::kQ5_1:
      return unfused_add(unfused_mul(number, half_at(scale)), half_at(scale + to_minimum(type)));
    case DType::kQ4_K:
    case DType::kQ5_K:
    case DType::kQ2_K: {
      const float step = half_at(d) * static_cast<float>(scale[0]);
      const float least = half_at(d + kToDmin) * static_cast<float>(scale[to_minimum(type)]);
      return unfused_add(unfused_mul(number, step), -least);
    }
    case DType::kInt4:
    case DType::kInt8: {
      const uint32_t word = *reinterpret_cast<const uint32_t*>(scale);
      const auto zero_point = static_cast<int32_t>(word & kZeroPointMask);
      return static_cast<float>(static_cast<int32_t>(code) - zero_point) * float_of(word & ~kZeroPointMask);
    }
    default:  // kQ3_K, kQ6_K, kIQ4_XS
      return number * (half_at(d) * static_cast<float>(static_cast<int8_t>(scale[0])));
  }
}

template <bool coded>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(DeviceMatrix table, const int32_t* ids, int64_t count, float* out) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  let_next_start();
  wait_for_previous();
  if (i >= count * table.cols) return;
  const int32_t id = ids[i / table.cols];
  const auto value_of = coded ? coded_value : tile_value;
  out[i] = id == kNoRow ? 0.0f : value_of(table, id, static_cast<int32_t>(i % table.cols));
}

}  // namespace

TileOrder tile_order(int compute_capability) {
  return kHasWgmma && compute_capability == 90 ? TileOrder::kSwizzled : TileOrder::kFragments;
}

int64_t tile_bytes(DType dtype, int64_t rows, int64_t cols) {
  const int64_t tile = is_coded(dtype) ? kTileRows / kFragmentOutputs * coded_bytes(dtype) : kTileSize;
  return divide_up(rows, kTileRows) * k_tiles(dtype, cols) * tile;
}

int64_t scale_bytes(DType dtype, int64_t rows, int64_t cols, int32_t scale_rows) {
  if (has_row_scales(dtype)) return rows * static_cast<int64_t>(sizeof(float));
  if (dtype != DType::kF8E4M3) return 0;
  return divide_up(cols, kScaleColumns) * divide_up(rows, scale_rows) * static_cast<int64_t>(sizeof(float));
}

Launch gather(const DeviceMatrix& table, const int32_t* ids, int64_t count, float* out) {
  const auto kernel = is_coded(table.dtype) ? gather_kernel<true> : gather_kernel<false>;
  return make_launch("gather", kernel, {static_cast<uint32_t>(divide_up(count * table.cols, kThreads))},
                     kThreads, 0, table, ids, count, out);
}

int64_t matmul_workspace(const DeviceMatrix& matrix, int64_t rows) {
  return kCounterBytes + (matrix.order == TileOrder::kSwizzled ? swizzled_workspace(matrix, rows)
                                                               : fragments_workspace(matrix, rows));
}

ProductRoom ProductRoom::behind(int64_t taken) const {
  constexpr int64_t kBorder = 256;
  ProductRoom room = *this;
  room.own = counters + divide_up(taken, kBorder) * kBorder;
  return room;
}

Activations activations_of(const DeviceMatrix& matrix, int64_t rows, const ProductRoom& room) {
  return matrix.order == TileOrder::kSwizzled ? swizzled_activations(matrix, rows, room)
                                              : fragments_activations(matrix, room);
}

bool reads_ahead(const DeviceMatrix& matrix, int64_t rows) {
  constexpr int64_t kFewRows = 64;
  return matrix.order == TileOrder::kSwizzled && rows <= kFewRows;
}

Launch multiply(const DeviceMatrix& matrix, int64_t rows, const ProductRoom& room, float* out,
                const ProductTuning& tuning) {
  return matrix.order == TileOrder::kSwizzled ? swizzled_multiply(matrix, rows, room, out, tuning.resident)
                                              : fragments_multiply(matrix, rows, room, out);
}

int64_t read_ahead(Launch& product, const DeviceMatrix& next, int64_t bytes) {
  return next.order == TileOrder::kSwizzled ? swizzled_read_ahead(product, next, bytes) : 0;
}

Launches matmul(const DeviceMatrix& matrix, const float* x, int64_t rows, std::byte* workspace, float* out) {
  return {quantize(activations_of(matrix, rows, workspace), x, rows), multiply(matrix, rows, workspace, out)};
}

}  // namespace llmservice::gpu
