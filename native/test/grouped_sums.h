// What a product of pairs with a block type must be to the last bit: for each group of columns that share
// scales a chain over its codes, scaled, then what is added to a value times the sum of the group's
// activations.
#pragma once

#include <cmath>
#include <vector>

#include "ops_support.h"

namespace llmservice::testing {

struct ColumnGroup {
  std::vector<float> codes;  // as numbers
  float bias = 0;            // by which a product's codes are larger
  float scale = 0;
  float offset = 0;
  bool has_offset = false;
};

// Of codes that are numbers from 0; 0 for signed ones and those that stand for values of a table.
inline int code_bits(DType t) {
  switch (t) {
    case DType::kQ2_K:
      return 2;
    case DType::kQ3_K:
      return 3;
    case DType::kQ4_0:
    case DType::kQ4_1:
    case DType::kQ4_K:
    case DType::kInt4:
      return 4;
    case DType::kQ5_0:
    case DType::kQ5_1:
    case DType::kQ5_K:
      return 5;
    case DType::kQ6_K:
      return 6;
    case DType::kInt8:
      return 8;
    default:
      return 0;
  }
}

// The number that a code is, without scales and what is added.
inline float number_of(DType t, uint8_t code) {
  if (code_bits(t) > 0) return code;
  if (t == DType::kQ8_0) return static_cast<int8_t>(code);
  return t == DType::kMXFP4 ? widen(DType::kF4E2M1, reinterpret_cast<const std::byte*>(&code), 0)
                            : kIq4Values[code];
}

inline ColumnGroup column_group(DType t, const uint8_t* codes, int64_t columns, BlockScales scales,
                                int64_t column) {
  ColumnGroup group;
  for (int64_t i = 0; i < columns; ++i) group.codes.push_back(number_of(t, codes[i]));
  const int bits = code_bits(t);
  group.has_offset = bits > 0;
  if (bits > 0) group.offset = block_value(t, 0, scales, column);
  if (bits > 0 && bits < 8) group.bias = static_cast<float>(1 << bits);
  // With nothing added, the value of the code that stands for one.
  scales.dmin = 0;
  scales.word &= ~kZeroPointMask;
  const bool around_zero = t == DType::kQ4_0 || t == DType::kQ5_0 || t == DType::kQ3_K || t == DType::kQ6_K;
  const int one = around_zero                      ? (1 << (bits - 1)) + 1
                  : t == DType::kMXFP4             ? 2
                  : bits == 0 && t != DType::kQ8_0 ? 8
                                                   : 1;
  group.scale = block_value(t, static_cast<uint8_t>(one), scales, column);
  return group;
}

inline std::vector<ColumnGroup> column_groups(const StoredMatrix& w, int64_t row) {
  std::vector<ColumnGroup> groups;
  if (w.dtype == DType::kF4E2M1) {
    for (int64_t k = 0; k < w.cols; k += kGroupColumns) {
      ColumnGroup group;
      for (int64_t i = k; i < k + kGroupColumns; ++i) {
        group.codes.push_back(widen(w.dtype, w.data.data(), row * w.cols + i));
      }
      const int64_t at = row * w.cols / kGroupColumns + k / kGroupColumns;
      group.scale = widen(DType::kF8E4M3, w.group_scales.data(), at) * w.scale(row, k);
      groups.push_back(group);
    }
    return groups;
  }
  const BlockLayout layout = block_layout(w.dtype);
  const bool sixteen = w.dtype == DType::kQ2_K || w.dtype == DType::kQ3_K || w.dtype == DType::kQ6_K;
  const int64_t columns = sixteen ? 16 : 32;
  for (int64_t k = 0; k < w.cols; k += layout.columns) {
    const std::byte* const block = &w.data[(row * w.cols + k) / layout.columns * layout.bytes];
    uint8_t codes[256];
    block_codes(w.dtype, block, codes);
    for (int64_t i = 0; i < layout.columns; i += columns) {
      groups.push_back(column_group(w.dtype, codes + i, columns, block_scales(w.dtype, block), i));
    }
  }
  return groups;
}

// Halves of halves added to each other.
inline float sum_of_sixteen(const float* x) {
  float sums[16];
  std::copy_n(x, 16, sums);
  for (int count = 8; count > 0; count /= 2) {
    for (int i = 0; i < count; ++i) sums[i] += sums[i + count];
  }
  return sums[0];
}

// Columns i and i + 4 of each eight are pairs, of which the second product is added first.
inline float grouped_dot(const std::vector<ColumnGroup>& groups, const float* x) {
  float total = 0;
  for (const ColumnGroup& group : groups) {
    const auto columns = static_cast<int64_t>(group.codes.size());
    std::vector<float> rounded(columns);
    for (int64_t i = 0; i < columns; ++i) rounded[i] = bf16_to_float(float_to_bf16(x[i]));
    float sum = 0;
    for (int64_t eight = 0; eight < columns; eight += 8) {
      for (int64_t i = eight; i < eight + 4; ++i) {
        sum = std::fma(rounded[i + 4], group.codes[i + 4] + group.bias, sum);
        sum = std::fma(rounded[i], group.codes[i] + group.bias, sum);
      }
    }
    total = std::fma(sum, group.scale, total);
    if (group.has_offset) {
      float of_x = sum_of_sixteen(rounded.data());
      if (columns == 32) of_x += sum_of_sixteen(rounded.data() + 16);
      total = std::fma(std::fma(-group.bias, group.scale, group.offset), of_x, total);
    }
    x += columns;
  }
  return total;
}

}  // namespace llmservice::testing
