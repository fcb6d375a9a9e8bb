// Stored rows of a matrix to its tiles, and tiles to those of a narrower type.
#include <cmath>

#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/quantize_record.h"
#include "backends/gpu/kernels/reduce.h"
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

__device__ __forceinline__ uint32_t byte_at(const std::byte* from, int64_t offset) {
  return static_cast<uint32_t>(from[offset]);
}

// The code of a column of a stored row, as the device holds it; block types as ops/block_types.h has them.
__device__ uint32_t stored_code(DType type, const std::byte* row, int64_t col) {
  switch (type) {
    case DType::kI8:
      return byte_at(row, col) ^ 0x80;
    case DType::kF4E2M1:
      return byte_at(row, col / 2) >> col % 2 * 4 & 15;
    case DType::kQ8_0:
      return byte_at(row, col / 32 * 34 + 2 + col % 32) ^ 0x80;
    case DType::kQ4_0:
      return byte_at(row, col / 32 * 18 + 2 + col % 16) >> col % 32 / 16 * 4 & 15;
    case DType::kMXFP4:
      return byte_at(row, col / 32 * 17 + 1 + col % 16) >> col % 32 / 16 * 4 & 15;
    case DType::kQ4_K:
      return byte_at(row, col / 256 * 144 + 16 + col % 256 / 64 * 32 + col % 32) >> col % 64 / 32 * 4 & 15;
    default: {  // kQ6_K, from -32
      const std::byte* const block = row + col / 256 * 210;
      const int64_t half = col % 256 / 128;
      const int64_t at = col % 128;
      const uint32_t low = byte_at(block, half * 64 + at % 64) >> at / 64 * 4 & 15;
      const uint32_t high = byte_at(block, 128 + half * 32 + at % 32) >> at / 32 * 2 & 3;
      return (low | high << 4) + (128 - 32);
    }
  }
}

// Writes what lies at `from`, a byte or two, to `to`: neighbours may be written at the same time.
__device__ __forceinline__ void copy_half(const std::byte* from, std::byte* to) {
  to[0] = from[0];
  to[1] = from[1];
}

// The scales of the group of output `output` (of 16) that begins with column `col` of a stored row; `group`
// in the block `to`.
__device__ void store_scales(DType type, const std::byte* row, uint32_t own, int64_t col, int32_t output,
                             std::byte* to) {
  const auto in_block = static_cast<int32_t>(col % kCodedColumns);
  std::byte* const scale = to + group_scale_at(type, output, in_block / group_columns(type));
  if (type == DType::kF4E2M1) {
    const float magnitude = fp8_to_float(static_cast<uint8_t>(own & 0x7f)) * kStoredFp8Scale;
    *scale = static_cast<std::byte>(float_to_f16(magnitude * 0x1p7f) >> 7);
  } else if (type == DType::kQ8_0 || type == DType::kQ4_0) {
    copy_half(row + col / 32 * (type == DType::kQ8_0 ? 34 : 18), scale);
  } else if (type == DType::kMXFP4) {  // an exponent is a bf16 without its mantissa, and 2^-127 subnormal
    const uint32_t exponent = byte_at(row, col / 32 * 17);
    const uint32_t power = exponent == 0 ? 0x40 : exponent << 7;
    scale[0] = static_cast<std::byte>(power & 0xff);
    scale[1] = static_cast<std::byte>(power >> 8);
  } else if (type == DType::kQ4_K) {
    const std::byte* const block = row + col / 256 * 144;
    const int64_t group = col % 256 / 32;
    const std::byte* const packed = block + 4;
    if (group < 4) {
      scale[0] = static_cast<std::byte>(byte_at(packed, group) & 63);
      scale[kToMinimum] = static_cast<std::byte>(byte_at(packed, 4 + group) & 63);
    } else {
      const uint32_t low = byte_at(packed, 4 + group);
      scale[0] = static_cast<std::byte>((low & 15) | byte_at(packed, group - 4) >> 6 << 4);
      scale[kToMinimum] = static_cast<std::byte>(low >> 4 | byte_at(packed, group) >> 6 << 4);
    }
    if (in_block > 0) return;
    copy_half(block, to + d_at(type, output));
    copy_half(block + 2, to + d_at(type, output) + kToDmin);
  } else if (type == DType::kQ6_K) {
    const std::byte* const block = row + col / 256 * 210;
    *scale = block[192 + col % 256 / 16];
    if (in_block == 0) copy_half(block + 208, to + d_at(type, output));
  }
}

// Two columns of a stored row for each thread. Words are shared with other rows, which may come later.
__global__ void __launch_bounds__(kThreads)
    pack_coded_kernel(DeviceMatrix matrix, std::byte* tiles, const std::byte* stored, int64_t row_bytes,
                      const std::byte* group_scales, int32_t first, int32_t count) {
  const int64_t pairs = divide_up(matrix.cols, 2);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  wait_for_previous();
  let_next_start();
  if (i >= count * pairs) return;
  const DType type = matrix.dtype;
  const int64_t col = i % pairs * 2;
  const std::byte* const from = stored + i / pairs * row_bytes;
  const int64_t row = first + i / pairs;
  const auto output = static_cast<int32_t>(row % kFragmentOutputs);
  std::byte* const to = tiles + coded_block_at(matrix, row, col);
  const uint32_t own =
      type == DType::kF4E2M1 ? byte_at(group_scales, (i / pairs * matrix.cols + col) / 16) : 0;
  const uint32_t turned = own >> 7 << 3;  // the sign of kF4E2M1
  uint32_t bits = 0;
  CodePlace place{};
  for (int32_t j = 0; j < 2 && col + j < matrix.cols; ++j) {
    place = code_place(type, output, static_cast<int32_t>(col % kCodedColumns) + j);
    bits |= code_in_word(type, stored_code(type, from, col + j) ^ turned, place);
  }
  add_to(reinterpret_cast<uint32_t*>(to + place.word), bits);
  if (type != DType::kI8 && col % group_columns(type) == 0) store_scales(type, from, own, col, output, to);
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
  return make_launch("pack_coded_rows", pack_coded_kernel,
                     {static_cast<uint32_t>(divide_up(pairs, kThreads))}, kThreads, 0, matrix, tiles, stored,
                     row_bytes, group_scales, first, count);
}

}  // namespace llmservice::gpu
