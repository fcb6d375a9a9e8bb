// Weights of four and eight bits that products widen to f16 in registers: where their codes and scales lie. A
// block is a strip of 16 outputs by 128 columns: codes as lanes take them, then the scales of its groups of
// columns, then what those have in common. Codes as the device holds them:
//   kI8, kQ8_0, kQ6_K     eight bits, 128 more than the number
//   kQ4_0, kQ4_K          four bits, as stored
//   kF4E2M1, kMXFP4       four bits of E2M1; kF4E2M1: the sign turned where the group's scale is negative
// Scales: kQ8_0 and kQ4_0 d (f16) of 32 columns; kMXFP4 the power of two (bf16) of 32; kQ4_K scale and
// minimum (u8) of 32, and d and dmin; kQ6_K scale (i8) of 16, and d; kF4E2M1 the magnitude of 16 columns'
// scale, times 2^7, as the upper eight bits of an f16 without its sign, which hold every e4m3 number. The
// scales of rows (kI8, kF4E2M1) lie apart.
#pragma once

#include "backends/gpu/vendor/fragments.h"

namespace llmservice::gpu {

constexpr int32_t kCodedColumns = 128;
constexpr int kCodedSteps = 8;  // instructions of 16 columns

__host__ __device__ constexpr bool is_coded(DType t) { return t >= DType::kI8; }
__host__ __device__ constexpr bool has_row_scales(DType t) { return t == DType::kI8 || t == DType::kF4E2M1; }
__host__ __device__ constexpr bool is_e2m1(DType t) { return t == DType::kF4E2M1 || t == DType::kMXFP4; }
__host__ __device__ constexpr int32_t code_bits(DType t) {
  return t == DType::kI8 || t == DType::kQ8_0 || t == DType::kQ6_K ? 8 : 4;
}
// Columns that share a scale.
__host__ __device__ constexpr int32_t group_columns(DType t) {
  return t == DType::kI8 ? kCodedColumns : t == DType::kF4E2M1 || t == DType::kQ6_K ? 16 : 32;
}

// Of one block.
__host__ __device__ constexpr int32_t code_bytes(DType t) {
  return kFragmentOutputs * kCodedColumns * code_bits(t) / 8;
}
__host__ __device__ constexpr int32_t group_scale_bytes(DType t) {
  return t == DType::kI8 ? 0 : 8 * kFragmentOutputs;
}
__host__ __device__ constexpr int32_t common_bytes(DType t) {
  return t == DType::kQ4_K ? 4 * kFragmentOutputs : t == DType::kQ6_K ? 2 * kFragmentOutputs : 0;
}
__host__ __device__ constexpr int32_t coded_bytes(DType t) {
  return code_bytes(t) + group_scale_bytes(t) + common_bytes(t);
}

// A code's word, in bytes from the block's beginning, and its place there: of which pair, and its lower or
// upper half.
struct CodePlace {
  int32_t word;
  int32_t pair;
  int32_t half;
};

// An instruction's operand has, in either vendor's order, runs of four columns of an output.
__host__ __device__ constexpr CodePlace code_place(DType t, int32_t output, int32_t col) {
  const int32_t quarter = col % 16 / 4;
  const int32_t second = col % 4 / 2;
  const int32_t lane = kWarpSize == 64 ? quarter * 16 + output : output % 8 * 4 + quarter;
  const int32_t own = kWarpSize == 64 ? second : second * 2 + output / 8;
  const int32_t operand = col / 16 * kWeightWords + own;
  const int32_t pairs = 16 / code_bits(t);  // of a word
  const int32_t word = operand / pairs;
  return {((word / 4 * kWarpSize) + lane) * 16 + word % 4 * 4, operand % pairs, col % 2};
}

// Where the bits of a pair's e2m1 code lie in 16: two of the four pairs need but one shift to be f16.
__host__ __device__ constexpr int32_t e2m1_magnitude(int32_t pair) { return 9 - 3 * pair; }
__host__ __device__ constexpr int32_t e2m1_sign(int32_t pair) {
  return pair == 0 ? 15 : pair == 1 ? 12 : pair == 2 ? 14 : 13;
}

__host__ __device__ constexpr uint32_t code_in_word(DType t, uint32_t code, const CodePlace& place) {
  if (code_bits(t) == 8) return code << 8 * (place.pair + 2 * place.half);
  if (!is_e2m1(t)) return code << 4 * (place.pair + 4 * place.half);
  return ((code & 7) << e2m1_magnitude(place.pair) | (code >> 3) << e2m1_sign(place.pair)) << 16 * place.half;
}
__host__ __device__ constexpr uint32_t code_of_word(DType t, uint32_t word, const CodePlace& place) {
  if (code_bits(t) == 8) return word >> 8 * (place.pair + 2 * place.half) & 0xff;
  if (!is_e2m1(t)) return word >> 4 * (place.pair + 4 * place.half) & 15;
  const uint32_t half = word >> 16 * place.half;
  return (half >> e2m1_magnitude(place.pair) & 7) | (half >> e2m1_sign(place.pair) & 1) << 3;
}

// Scales lie as the lanes that have an output's sums take them, those of kF4E2M1 as the lanes that have its
// codes. The lanes' number among those with other outputs, and the output's among theirs.
__host__ __device__ constexpr int32_t sum_lanes(int32_t output) {
  return kWarpSize == 64 ? output / 4 : output % 8;
}
__host__ __device__ constexpr int32_t sum_place(int32_t output) {
  return kWarpSize == 64 ? output % 4 : output / 8;
}
constexpr int32_t kLanesScaleBytes = 8 * kSumOutputs;  // of the groups

__host__ __device__ constexpr int32_t group_scale_at(DType t, int32_t output, int32_t group) {
  if (kWarpSize == 64 && t == DType::kF4E2M1) return code_bytes(t) + output * 8 + group;
  const int32_t bytes = t == DType::kF4E2M1 || t == DType::kQ6_K ? 1 : 2;
  const int32_t own = t == DType::kQ4_K ? sum_place(output) : sum_place(output) * bytes;
  return code_bytes(t) + sum_lanes(output) * kLanesScaleBytes + group * kSumOutputs * bytes + own;
}
// kQ4_K: from a scale to the minimum, and from d to dmin.
constexpr int32_t kToMinimum = kSumOutputs;
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
