// Where K in BF16 lies for products of pairs, (groups of 16 positions, pairs of features, 16 positions) of
// each block and KV head: a vector of scores takes its keys as they come, without a transposition.
#pragma once

#include <array>

#include "ops/attention.h"
#include "ops/dtype.h"

namespace llmservice::cpu {

constexpr int32_t kKeyGroup = 16;  // positions
constexpr int32_t kMaxKeyPairs = 256;

// Whether a family that multiplies pairs keeps K so: other shapes stay (positions, features).
inline bool keeps_key_pairs(const AttentionShape& shape) {
  return shape.kv_dtype == DType::kBF16 && shape.block_size % kKeyGroup == 0 && shape.head_dim % 32 == 0 &&
         shape.head_dim / 2 <= kMaxKeyPairs;
}

// The first pair of the position at `row` rows of `dim` features; the next ones are kKeyGroup apart.
inline int64_t first_key_pair(int64_t row, int32_t dim) {
  const int64_t within = row % kKeyGroup;
  return (row - within) * (dim / 2) + within;
}

// Row `row` of K of `dim` values, rounded.
inline void store_key_pairs(const float* from, int32_t dim, void* cache, int64_t row) {
  std::array<uint32_t, kMaxKeyPairs> pairs;
  const int32_t count = dim / 2;
  for (int32_t f = 0; f < count; ++f) {
    pairs[f] = float_to_bf16(from[2 * f]) | uint32_t{float_to_bf16(from[2 * f + 1])} << 16;
  }
  uint32_t* const to = static_cast<uint32_t*>(cache) + first_key_pair(row, dim);
  for (int32_t f = 0; f < count; ++f) to[f * kKeyGroup] = pairs[f];
}

}  // namespace llmservice::cpu
