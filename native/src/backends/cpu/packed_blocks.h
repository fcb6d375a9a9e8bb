// How block types lie in panels. Codes lie apart from what they share: kQ8_0 as (depth, 64) signed bytes, the
// others as words of the low bits of as many columns as fit, of four bits (depth / 8, 64). The shared part
// has, block after block and each for 64 outputs: a word of scale and zero point; d and dmin (f16); for each
// group of columns its scale, then its minimum (bytes); words of the high bits of as many columns as fit.
#pragma once

#include "backends/cpu/kernels.h"
#include "ops/block_types.h"
#include "ops/dtype.h"

namespace llmservice::cpu {

struct PanelForm {
  int code_bits = 0;    // that lie with the columns
  int high_bits = 0;    // of a code that lie in the shared part
  int words = 0;        // of scale and zero point
  int halves = 0;       // d, then dmin
  int groups = 0;       // of columns
  int group_bytes = 0;  // of a group: its scale, then its minimum; of kQ2_K both lie in one
};

constexpr PanelForm panel_form(DType t) {
  switch (t) {
    case DType::kQ8_0:
      return {.code_bits = 8, .halves = 1};
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return {.code_bits = 4, .halves = 1};
    case DType::kQ4_1:
      return {.code_bits = 4, .halves = 2};
    case DType::kQ5_0:
      return {.code_bits = 4, .high_bits = 1, .halves = 1};
    case DType::kQ5_1:
      return {.code_bits = 4, .high_bits = 1, .halves = 2};
    case DType::kQ2_K:
      return {.code_bits = 2, .halves = 2, .groups = 16, .group_bytes = 1};
    case DType::kQ3_K:
      return {.code_bits = 2, .high_bits = 1, .halves = 1, .groups = 16, .group_bytes = 1};
    case DType::kIQ4_XS:
      return {.code_bits = 4, .halves = 1, .groups = 8, .group_bytes = 1};
    case DType::kMXFP4:
      return {.code_bits = 4, .groups = 1, .group_bytes = 1};
    case DType::kQ4_K:
      return {.code_bits = 4, .halves = 2, .groups = 8, .group_bytes = 2};
    case DType::kQ5_K:
      return {.code_bits = 4, .high_bits = 1, .halves = 2, .groups = 8, .group_bytes = 2};
    case DType::kQ6_K:
      return {.code_bits = 4, .high_bits = 2, .halves = 1, .groups = 16, .group_bytes = 1};
    case DType::kInt4:
      return {.code_bits = 4, .words = 1};
    case DType::kInt8:
      return {.code_bits = 8, .words = 1};
    default:
      return {};
  }
}

// Of one column of one output, without what columns share.
constexpr int64_t code_bits(DType t) {
  if (is_block_type(t)) return panel_form(t).code_bits;
  return t == DType::kF4E2M1 ? 4 : 8 * size_of(t);
}

// How a panel's columns meet in products of pairs.
constexpr PairOrder pair_order(DType t) {
  return t == DType::kBF16 || t == DType::kF8E4M3 ? PairOrder::kAdjacent : PairOrder::kFourApart;
}

// Whether products of pairs take panels of `cols` columns: where every weight, or every code whose scale
// applies to sums, is exact in BF16. Bytes are read for eight columns at once.
constexpr bool takes_pairs(DType t, int64_t cols) {
  return t != DType::kF32 && t != DType::kF16 && (t != DType::kI8 || cols % 8 == 0);
}

// Whether products in fixed point take panels of a type: 32 columns' products of its codes fit float32.
constexpr bool takes_fixed(DType t) { return t == DType::kQ4_K || t == DType::kQ6_K; }

// Offsets in one block's shared part of a panel.
constexpr int64_t shared_half(int64_t i) { return 2 * i * kPanelRows; }
constexpr int64_t shared_group(DType t, int64_t group) {
  return 4 * panel_form(t).words * kPanelRows + shared_half(panel_form(t).halves) +
         group * panel_form(t).group_bytes * kPanelRows;
}
constexpr int64_t shared_high(DType t, int64_t word) {
  return shared_group(t, panel_form(t).groups) + 4 * word * kPanelRows;
}

// Where the high bits of column i of those in a word lie. Of pairs, a shift of the word brings those of four
// columns to bits 4 and 5 of its bytes: by 0 those of columns 0, 2, 4, 6, by 2 to the left of 1, 3, 5, 7, by
// 4 to the left of 8, 10, 12, 14, by 2 to the right of 9, 11, 13, 15.
constexpr int high_shift(int high_bits, int64_t i) {
  if (high_bits == 1) return static_cast<int>(i);
  constexpr int kInByte[] = {4, 2, 0, 6};
  return static_cast<int>(8 * (i % 8 / 2) + kInByte[i / 8 * 2 + i % 2]);
}

// Of one panel and block.
constexpr int64_t shared_bytes(DType t) {
  return shared_high(t, block_layout(t).columns * panel_form(t).high_bits / 32);
}

// Of one panel, with the scales of kF4E2M1, on average of a run of columns.
constexpr int64_t shared_bytes(DType t, int64_t columns) {
  if (t == DType::kF4E2M1) return kPanelRows * columns / kGroupColumns;
  return is_block_type(t) ? columns * shared_bytes(t) / block_layout(t).columns : 0;
}

// One panel's memory, and the output in it that is meant.
struct BlockPanel {
  DType dtype;
  std::byte* weights;  // of the panel's first output
  std::byte* shared;
  int64_t output;  // 0..63
};

// Packs one row of `cols` stored columns.
void pack_block_row(const BlockPanel& to, const std::byte* row, int64_t cols);
// The value of each of `cols` columns.
void widen_block_row(const BlockPanel& from, int64_t cols, float* out);

}  // namespace llmservice::cpu
