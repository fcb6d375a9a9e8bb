// Block types: those of GGUF files, and those that packed integers become (packed_tensor.h). A row is a run
// of blocks; a block is some columns' codes and what they share:
//   Q8_0, 32 columns: d (f16), 32 signed bytes.           value = code · d
//   Q4_0, 32 columns: d (f16), 16 bytes of two codes.     value = (code - 8) · d
//   Q4_1, 32: d, m (f16), 16 bytes of two codes.          value = code · d + m
//   Q5_0, 32: d (f16), a word of high bits, 16 bytes of two low nibbles.
//                                                         value = (code - 16) · d
//   Q5_1, 32: d, m (f16), a word of high bits, 16 bytes.  value = code · d + m
//   Q4_K, 256: d, dmin (f16), 8 scales and minima of six bits in 12 bytes, 128 bytes of two codes.
//                                                         value = code · (d · scale) - dmin · minimum
//   Q5_K, 256: as Q4_K, with 32 bytes of high bits before the nibbles.
//   Q2_K, 256: 16 bytes of a scale and a minimum, four bits each, 64 bytes of four codes, d, dmin (f16).
//                                                         value = code · (d · scale) - dmin · minimum
//   Q3_K, 256: 32 bytes of high bits, 64 bytes of four codes' lower two, 16 scales of six bits in 12 bytes,
//   d.
//                                                         value = (code - 4) · (d · (scale - 32))
//   Q6_K, 256: 128 bytes of low nibbles, 64 of high bits, 16 signed scales, d (f16).
//                                                         value = (code - 32) · (d · scale)
//   IQ4_NL, 32: d (f16), 16 bytes of two codes.           value = kIq4Values[code] · d
//   IQ4_XS, 256: d (f16), 8 scales of six bits in six bytes, 128 bytes of two codes.
//                                                         value = kIq4Values[code] · (d · (scale - 32))
//   MXFP4, 32: e (a byte), 16 bytes of two E2M1 codes.    value = code · 2^(e - 127)
//   INT4, INT8, 32: a word of a scale (the upper 24 bits of a float, whose mantissa has 11 bits at most) and
//   a zero point (the lower 8), 16 bytes of two codes or 32 of one.
//                                                         value = (code - zero point) · scale
// Products of a scale are exact in float; a value is rounded once. Source: ggml's quantization layouts.
#pragma once

#include <span>

#include "ops/ops.h"

namespace llmservice {

struct BlockLayout {
  int64_t columns;
  int64_t bytes;
};

constexpr bool is_block_type(DType t) { return t >= DType::kQ8_0; }

constexpr BlockLayout block_layout(DType t) {
  switch (t) {
    case DType::kQ8_0:
      return {32, 34};
    case DType::kQ4_0:
      return {32, 18};
    case DType::kQ4_K:
      return {256, 144};
    case DType::kQ6_K:
      return {256, 210};
    case DType::kQ4_1:
      return {32, 20};
    case DType::kQ5_0:
      return {32, 22};
    case DType::kQ5_1:
      return {32, 24};
    case DType::kQ5_K:
      return {256, 176};
    case DType::kQ2_K:
      return {256, 84};
    case DType::kQ3_K:
      return {256, 110};
    case DType::kIQ4_NL:
      return {32, 18};
    case DType::kIQ4_XS:
      return {256, 136};
    case DType::kMXFP4:
      return {32, 17};
    case DType::kInt4:
      return {32, 20};
    case DType::kInt8:
      return {32, 36};
    default:
      return {1, 0};
  }
}

// Denser around zero. Source: ggml, kvalues_iq4nl.
constexpr int8_t kIq4Values[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// The codes of one block by column: signed bytes of kQ8_0, else numbers from 0.
void block_codes(DType t, const std::byte* block, uint8_t* codes);

// What the columns of one block share.
struct BlockScales {
  uint16_t d;         // not of kMXFP4, whose e is scale[0], nor of kInt4 and kInt8
  uint16_t dmin;      // kQ2_K, kQ4_K, kQ5_K; m of kQ4_1 and kQ5_1
  uint8_t scale[16];  // kQ4_K, kQ5_K: of 32 columns each; kIQ4_XS likewise, signed; kQ3_K, kQ6_K: of 16 each,
                      // signed; kQ2_K: of 16 each, in the low nibble, with their minimum in the high one
  uint8_t minimum[8];  // kQ4_K, kQ5_K: of 32 columns each
  uint32_t word;       // kInt4, kInt8: scale and zero point
};

// Of kInt4 and kInt8.
constexpr bool is_integer_block(DType t) { return t == DType::kInt4 || t == DType::kInt8; }
constexpr uint32_t kZeroPointMask = 0xff;

BlockScales block_scales(DType t, const std::byte* block);

// Value of a column, given its code and the block's scales.
float block_value(DType t, uint8_t code, const BlockScales& scales, int64_t column);

// Element `index` of rows of whole blocks.
float block_value(DType t, const std::byte* data, int64_t index);

// False when a block of `data` (whole blocks) has a d, dmin or e that is not a finite number.
bool has_finite_scales(DType t, std::span<const std::byte> data);

}  // namespace llmservice
