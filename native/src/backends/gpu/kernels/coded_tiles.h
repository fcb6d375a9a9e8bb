// Weights of four and eight bits that products widen to f16 in registers: where their codes and scales lie. A
// block is a strip of 16 outputs by 128 columns: codes as lanes take them, then the scales of its groups of
// columns, then what those have in common. Codes are as stored, but those of kI8 and kQ8_0 128 more than the
// number, and those of kF4E2M1 with the sign turned where the group's scale is negative:
//   kI8, kInt8, kQ8_0                    eight bits
//   kQ6_K                                four bits, behind all of them the two above
//   kQ5_0, kQ5_1, kQ5_K                  four bits, behind all of them the fifth
//   kIQ4_NL, kIQ4_XS                     four bits, which a table turns into values
//   kF4E2M1, kMXFP4                      four bits of E2M1
//   kInt4, kQ4_0, kQ4_1, kQ4_K, kQ2_K, kQ3_K   four bits
// Scales of 32 columns: kQ8_0, kQ5_0, kQ4_0 and kIQ4_NL d (f16); kIQ4_XS scale (i8), and d; kQ4_1 and kQ5_1 d
// and m (f16); kMXFP4 the power of two (bf16); kQ4_K and kQ5_K scale and minimum (u8), and d and dmin; kInt4
// and kInt8 their word. Of 16: kQ6_K and kQ3_K scale (i8), and d; kQ2_K scale and minimum (u8), and d and
// dmin; kF4E2M1 the magnitude of the scale, times 2^7, as the upper eight bits of an f16 without its sign,
// which hold every e4m3 number. The scales of rows (kI8, kF4E2M1) lie apart.
#pragma once

#include "backends/gpu/vendor/fragments.h"
#include "ops/block_types.h"

namespace llmservice::gpu {

constexpr int32_t kCodedColumns = 128;
constexpr int kCodedSteps = 8;  // instructions of 16 columns

__host__ __device__ constexpr bool is_coded(DType t) { return t >= DType::kI8; }
__host__ __device__ constexpr bool has_row_scales(DType t) { return t == DType::kI8 || t == DType::kF4E2M1; }
__host__ __device__ constexpr bool is_e2m1(DType t) { return t == DType::kF4E2M1 || t == DType::kMXFP4; }
// Of a code: those that lie together, and those behind them.
__host__ __device__ constexpr int32_t low_bits(DType t) {
  return t == DType::kI8 || t == DType::kInt8 || t == DType::kQ8_0 ? 8 : 4;
}
__host__ __device__ constexpr int32_t high_bits(DType t) {
  const bool five = t == DType::kQ5_0 || t == DType::kQ5_1 || t == DType::kQ5_K;
  return t == DType::kQ6_K ? 2 : five ? 1 : 0;
}
// Whether codes are places in the table of values (ops/block_types.h).
__host__ __device__ constexpr bool is_looked_up(DType t) {
  return t == DType::kIQ4_NL || t == DType::kIQ4_XS;
}
constexpr uint32_t looked_up_word(int first) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= static_cast<uint32_t>(kIq4Values[first + i] + 128) << 8 * i;
  return word;
}
// Four values each, 128 more than they are.
constexpr uint32_t kLookedUp0 = looked_up_word(0);
constexpr uint32_t kLookedUp4 = looked_up_word(4);
constexpr uint32_t kLookedUp8 = looked_up_word(8);
constexpr uint32_t kLookedUp12 = looked_up_word(12);

// What a code, or what the table has for it, is more than the number that products take.
__host__ __device__ constexpr int32_t code_excess(DType t) {
  if (low_bits(t) == 8 || is_looked_up(t)) return 128;
  if (t == DType::kQ6_K) return 32;
  if (t == DType::kQ5_0) return 16;
  return t == DType::kQ4_0 || t == DType::kInt4 ? 8 : t == DType::kQ3_K ? 4 : 0;
}
// Whether something is added to the products of codes and scales.
__host__ __device__ constexpr bool has_minima(DType t) {
  return t == DType::kQ4_1 || t == DType::kQ5_1 || t == DType::kQ4_K || t == DType::kQ5_K ||
         t == DType::kQ2_K || t == DType::kInt4 || t == DType::kInt8;
}
// Whether the scales and minima of groups are small integers, times d and dmin.
__host__ __device__ constexpr bool has_stepped_minima(DType t) {
  return t == DType::kQ4_K || t == DType::kQ5_K || t == DType::kQ2_K;
}
// Whether the scales of groups are small integers of either sign, times d.
__host__ __device__ constexpr bool has_signed_steps(DType t) {
  return t == DType::kQ6_K || t == DType::kQ3_K || t == DType::kIQ4_XS;
}
__host__ __device__ constexpr bool is_word_scaled(DType t) { return t == DType::kInt4 || t == DType::kInt8; }
// Columns that share a scale.
__host__ __device__ constexpr int32_t group_columns(DType t) {
  const bool sixteen = t == DType::kF4E2M1 || t == DType::kQ6_K || t == DType::kQ3_K || t == DType::kQ2_K;
  return t == DType::kI8 ? kCodedColumns : sixteen ? 16 : 32;
}
// Bytes of a group's scale, and of all that an output's group has: a minimum beside it, or the word of both.
__host__ __device__ constexpr int32_t scale_number_bytes(DType t) {
  const bool byte = t == DType::kF4E2M1 || has_signed_steps(t) || has_stepped_minima(t);
  return byte ? 1 : is_word_scaled(t) ? 4 : 2;
}
__host__ __device__ constexpr int32_t group_bytes(DType t) {
  return scale_number_bytes(t) * (has_minima(t) && !is_word_scaled(t) ? 2 : 1);
}

// Of one block.
__host__ __device__ constexpr int32_t low_bytes(DType t) {
  return kFragmentOutputs * kCodedColumns * low_bits(t) / 8;
}
__host__ __device__ constexpr int32_t code_bytes(DType t) {
  return low_bytes(t) + kFragmentOutputs * kCodedColumns * high_bits(t) / 8;
}
__host__ __device__ constexpr int32_t group_scale_bytes(DType t) {
  return t == DType::kI8 ? 0 : kCodedColumns / group_columns(t) * group_bytes(t) * kFragmentOutputs;
}
__host__ __device__ constexpr int32_t common_bytes(DType t) {
  return has_stepped_minima(t) ? 4 * kFragmentOutputs : has_signed_steps(t) ? 2 * kFragmentOutputs : 0;
}
__host__ __device__ constexpr int32_t coded_bytes(DType t) {
  return code_bytes(t) + group_scale_bytes(t) + common_bytes(t);
}

// A code's word, in bytes from the block's beginning, and its place there: of which pair, and its lower or
// upper half. Then the word of its high bits, and how far these are shifted in their half.
struct CodePlace {
  int32_t word;
  int32_t pair;
  int32_t half;
  int32_t high_word;
  int32_t high_shift;
};

// An instruction's operand has, in either vendor's order, runs of four columns of an output.
__host__ __device__ constexpr CodePlace code_place(DType t, int32_t output, int32_t col) {
  const int32_t quarter = col % 16 / 4;
  const int32_t second = col % 4 / 2;
  const int32_t lane = kWarpSize == 64 ? quarter * 16 + output : output % 8 * 4 + quarter;
  const int32_t own = kWarpSize == 64 ? second : second * 2 + output / 8;
  const int32_t operand = col / 16 * kWeightWords + own;
  const int32_t pairs = 16 / low_bits(t);  // of a word
  const int32_t word = operand / pairs;
  const int32_t lane_high_bytes = (code_bytes(t) - low_bytes(t)) / kWarpSize;
  const int32_t high_bit = operand * high_bits(t);  // of each half of the lane's words
  return {((word / 4 * kWarpSize) + lane) * 16 + word % 4 * 4, operand % pairs, col % 2,
          low_bytes(t) + lane * lane_high_bytes + high_bit / 16 * 4, high_bit % 16};
}

// Where the bits of a pair's e2m1 code lie in 16: two of the four pairs need but one shift to be f16.
__host__ __device__ constexpr int32_t e2m1_magnitude(int32_t pair) { return 9 - 3 * pair; }
__host__ __device__ constexpr int32_t e2m1_sign(int32_t pair) {
  return pair == 0 ? 15 : pair == 1 ? 12 : pair == 2 ? 14 : 13;
}

__host__ __device__ constexpr uint32_t code_in_word(DType t, uint32_t code, const CodePlace& place) {
  if (low_bits(t) == 8) return code << 8 * (place.pair + 2 * place.half);
  if (!is_e2m1(t)) return (code & 15) << 4 * (place.pair + 4 * place.half);
  return ((code & 7) << e2m1_magnitude(place.pair) | (code >> 3) << e2m1_sign(place.pair)) << 16 * place.half;
}
__host__ __device__ constexpr uint32_t code_of_word(DType t, uint32_t word, const CodePlace& place) {
  if (low_bits(t) == 8) return word >> 8 * (place.pair + 2 * place.half) & 0xff;
  if (!is_e2m1(t)) return word >> 4 * (place.pair + 4 * place.half) & 15;
  const uint32_t half = word >> 16 * place.half;
  return (half >> e2m1_magnitude(place.pair) & 7) | (half >> e2m1_sign(place.pair) & 1) << 3;
}

__host__ __device__ constexpr uint32_t code_in_high_word(uint32_t code, const CodePlace& place) {
  return code >> 4 << (place.high_shift + 16 * place.half);
}
__host__ __device__ constexpr uint32_t code_of_high_word(DType t, uint32_t word, const CodePlace& place) {
  return (word >> (place.high_shift + 16 * place.half) & ((1 << high_bits(t)) - 1)) << 4;
}

// Scales lie as the lanes that have an output's sums take them, those of kF4E2M1 as the lanes that have its
// codes. The lanes' number among those with other outputs, and the output's among theirs.
__host__ __device__ constexpr int32_t sum_lanes(int32_t output) {
  return kWarpSize == 64 ? output / 4 : output % 8;
}
__host__ __device__ constexpr int32_t sum_place(int32_t output) {
  return kWarpSize == 64 ? output % 4 : output / 8;
}
// Of the groups.
__host__ __device__ constexpr int32_t lanes_scale_bytes(DType t) {
  return group_scale_bytes(t) / kFragmentOutputs * kSumOutputs;
}

__host__ __device__ constexpr int32_t group_scale_at(DType t, int32_t output, int32_t group) {
  if (kWarpSize == 64 && t == DType::kF4E2M1) return code_bytes(t) + output * 8 + group;
  return code_bytes(t) + sum_lanes(output) * lanes_scale_bytes(t) + group * kSumOutputs * group_bytes(t) +
         sum_place(output) * scale_number_bytes(t);
}
// From a group's scale to its minimum, and from d to dmin.
__host__ __device__ constexpr int32_t to_minimum(DType t) { return kSumOutputs * scale_number_bytes(t); }
constexpr int32_t kToDmin = 2 * kSumOutputs;

__host__ __device__ constexpr int32_t d_at(DType t, int32_t output) {
  const int32_t each = common_bytes(t) / kFragmentOutputs;
  return code_bytes(t) + group_scale_bytes(t) + sum_lanes(output) * kSumOutputs * each +
         sum_place(output) * 2;
}

// Of the activations that go with them, of 128 columns in f16: where byte 2 · `col` would lie if an
// instruction took the columns as matrix fragments otherwise do (fragment_tiles.h). Four columns stay
// together.
__host__ __device__ constexpr int32_t coded_token_byte(int32_t col) {
  return col / 32 * 64 + col % 16 / 4 * 16 + col % 32 / 16 * 8 + col % 4 * 2;
}

}  // namespace llmservice::gpu
