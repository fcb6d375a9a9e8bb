// Rows of codes as they are stored (ops/block_types.h), read column by column to be laid out as
// coded_tiles.h has them.
#pragma once

#include "backends/gpu/kernels/coded_tiles.h"
#include "backends/gpu/kernels/numbers.h"

namespace llmservice::gpu {

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

__device__ __forceinline__ uint32_t byte_at(const std::byte* from, int64_t offset) {
  return static_cast<uint32_t>(from[offset]);
}

// Column `col` of 32: the low nibbles of 16 bytes, then their high ones.
__device__ __forceinline__ uint32_t nibble_of_32(const std::byte* codes, int64_t col) {
  return byte_at(codes, col % 16) >> col / 16 * 4 & 15;
}

// A word of one bit per column, and the nibbles below them.
__device__ __forceinline__ uint32_t five_bits(const std::byte* word, int64_t col) {
  return nibble_of_32(word + 4, col) | (byte_at(word, col / 8) >> col % 8 & 1) << 4;
}

// Column `col` of 256: runs of 64 in 32 bytes each.
__device__ __forceinline__ uint32_t nibble_of_256(const std::byte* codes, int64_t col) {
  return byte_at(codes, col / 64 * 32 + col % 32) >> col % 64 / 32 * 4 & 15;
}

// Halves of 128 in 32 bytes each, of two bits of four columns 32 apart.
__device__ __forceinline__ uint32_t two_bits_of_256(const std::byte* codes, int64_t col) {
  return byte_at(codes, col / 128 * 32 + col % 32) >> col % 128 / 32 * 2 & 3;
}

// 32 bytes of one bit of eight columns 32 apart.
__device__ __forceinline__ uint32_t high_bit_of_256(const std::byte* bits, int64_t col) {
  return byte_at(bits, col % 32) >> col / 32 & 1;
}

__device__ __forceinline__ uint32_t q6k_code(const std::byte* block, int64_t col) {
  const int64_t half = col / 128;
  const int64_t at = col % 128;
  const uint32_t low = byte_at(block, half * 64 + at % 64) >> at / 64 * 4 & 15;
  const uint32_t high = byte_at(block, 128 + half * 32 + at % 32) >> at / 32 * 2 & 3;
  return low | high << 4;
}

// Rows of blocks, or of codes whose scales lie apart.
struct StoredRows {
  const std::byte* data;
  int64_t bytes;  // of a row
  BlockLayout block;
};

struct InBlock {
  const std::byte* block;
  int32_t col;
};

// A column of a row. Divided in 32 bits: CUDA calls a function for 64.
__device__ __forceinline__ InBlock block_of(const BlockLayout& layout, const std::byte* row, int64_t col) {
  const auto columns = static_cast<uint32_t>(layout.columns);
  const uint32_t block = static_cast<uint32_t>(col) / columns;
  return {row + block * layout.bytes, static_cast<int32_t>(static_cast<uint32_t>(col) - block * columns)};
}

// The code of a column of a stored row, as the device holds it.
__device__ __forceinline__ uint32_t stored_code(DType type, const BlockLayout& layout, const std::byte* row,
                                                int64_t col) {
  if (type == DType::kI8) return byte_at(row, col) ^ 0x80;
  if (type == DType::kF4E2M1) return byte_at(row, col / 2) >> col % 2 * 4 & 15;
  const auto [block, in_block] = block_of(layout, row, col);
  switch (type) {
    case DType::kQ8_0:
      return byte_at(block, 2 + in_block) ^ 0x80;
    case DType::kInt8:
      return byte_at(block, 4 + in_block);
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return nibble_of_32(block + 2, in_block);
    case DType::kQ4_1:
    case DType::kInt4:
      return nibble_of_32(block + 4, in_block);
    case DType::kMXFP4:
      return nibble_of_32(block + 1, in_block);
    case DType::kQ5_0:
      return five_bits(block + 2, in_block);
    case DType::kQ5_1:
      return five_bits(block + 4, in_block);
    case DType::kIQ4_XS:
      return nibble_of_32(block + 8 + in_block / 32 * 16, in_block % 32);
    case DType::kQ4_K:
      return nibble_of_256(block + 16, in_block);
    case DType::kQ5_K:
      return nibble_of_256(block + 48, in_block) | high_bit_of_256(block + 16, in_block) << 4;
    case DType::kQ2_K:
      return two_bits_of_256(block + 16, in_block);
    case DType::kQ3_K:
      return two_bits_of_256(block + 32, in_block) | high_bit_of_256(block, in_block) << 2;
    default:
      return q6k_code(block, in_block);
  }
}

// Writes `bytes` that lie at `from` to `to`: neighbours may be written at the same time.
__device__ __forceinline__ void copy_number(const std::byte* from, std::byte* to, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = from[i];
}

// Of 32 columns `group` of kQ4_K and kQ5_K, six bits each.
__device__ __forceinline__ void six_bit_scales(const std::byte* packed, int64_t group, std::byte* scale,
                                               std::byte* minimum) {
  if (group < 4) {
    *scale = static_cast<std::byte>(byte_at(packed, group) & 63);
    *minimum = static_cast<std::byte>(byte_at(packed, 4 + group) & 63);
  } else {
    const uint32_t low = byte_at(packed, 4 + group);
    *scale = static_cast<std::byte>((low & 15) | byte_at(packed, group - 4) >> 6 << 4);
    *minimum = static_cast<std::byte>(low >> 4 | byte_at(packed, group) >> 6 << 4);
  }
}

// Of 16 columns `group` of kQ3_K, six bits, 32 more than the number.
__device__ __forceinline__ uint32_t q3k_scale(const std::byte* packed, int64_t group) {
  const uint32_t low = byte_at(packed, group % 8) >> group / 8 * 4 & 15;
  return low | (byte_at(packed, 8 + group % 4) >> group / 4 * 2 & 3) << 4;
}

// Of 32 columns `group` of kIQ4_XS, likewise.
__device__ __forceinline__ uint32_t iq4xs_scale(const std::byte* block, int64_t group) {
  const uint32_t low = byte_at(block, 4 + group / 2) >> group % 2 * 4 & 15;
  return low | (byte_at(block, 2 + group / 4) >> group % 4 * 2 & 3) << 4;
}

// The scales of the group of output `output` (of 16) that begins with column `col` of a stored row, in the
// block `to`. `own`: the e4m3 scale of a group of kF4E2M1, which lies apart.
__device__ __forceinline__ void store_scales(DType type, const BlockLayout& layout, const std::byte* row,
                                             uint32_t own, int64_t col, int32_t output, std::byte* to) {
  const auto in_tile = static_cast<int32_t>(col % kCodedColumns);
  std::byte* const scale = to + group_scale_at(type, output, in_tile / group_columns(type));
  if (type == DType::kF4E2M1) {
    const float magnitude = fp8_to_float(static_cast<uint8_t>(own & 0x7f)) * kStoredFp8Scale;
    *scale = static_cast<std::byte>(float_to_f16(magnitude * 0x1p7f) >> 7);
    return;
  }
  const auto [block, in_block] = block_of(layout, row, col);
  std::byte* const minimum = scale + to_minimum(type);
  int64_t d = 0;  // where those lie that groups have in common
  switch (type) {
    case DType::kMXFP4: {  // an exponent is a bf16 without its mantissa, and 2^-127 subnormal
      const uint32_t exponent = byte_at(block, 0);
      const uint32_t power = exponent == 0 ? 0x40 : exponent << 7;
      scale[0] = static_cast<std::byte>(power & 0xff);
      scale[1] = static_cast<std::byte>(power >> 8);
      return;
    }
    case DType::kQ4_1:
    case DType::kQ5_1:
      copy_number(block + 2, minimum, 2);
      return copy_number(block, scale, 2);
    case DType::kInt4:
    case DType::kInt8:
      return copy_number(block, scale, 4);
    case DType::kQ4_K:
    case DType::kQ5_K:
      six_bit_scales(block + 4, in_block / 32, scale, minimum);
      break;
    case DType::kQ2_K:
      *scale = static_cast<std::byte>(byte_at(block, in_block / 16) & 15);
      *minimum = static_cast<std::byte>(byte_at(block, in_block / 16) >> 4);
      d = 80;
      break;
    case DType::kQ3_K:
      *scale = static_cast<std::byte>(q3k_scale(block + 96, in_block / 16) - 32);
      d = 108;
      break;
    case DType::kIQ4_XS:
      *scale = static_cast<std::byte>(iq4xs_scale(block, in_block / 32) - 32);
      break;
    case DType::kQ6_K:
      *scale = block[192 + in_block / 16];
      d = 208;
      break;
    default:  // d alone
      return copy_number(block, scale, 2);
  }
  if (in_tile > 0) return;
  copy_number(block + d, to + d_at(type, output), 2);
  if (has_stepped_minima(type)) copy_number(block + d + 2, to + d_at(type, output) + kToDmin, 2);
}

#endif

}  // namespace llmservice::gpu
