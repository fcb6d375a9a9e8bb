// How block types lie in panels. Codes lie apart from what they share: kQ8_0 as (depth, 64) signed bytes, the
// others as (depth / 8, 64) words of eight low nibbles. The shared part has, block after block and each for
// 64 outputs: d (f16); kQ4_K then dmin (f16) and for each of 8 groups of columns its scales and its minima
// (u8); kQ6_K then 16 groups' scales (i8) and 16 groups' words of two high bits per column.
#pragma once

#include "backends/cpu/kernels.h"
#include "ops/block_types.h"

namespace llmservice::cpu {

// Per block and output.
constexpr int64_t shared_bytes(DType t) {
  switch (t) {
    case DType::kQ8_0:
    case DType::kQ4_0:
      return 2;
    case DType::kQ4_K:
      return 2 + 2 + 8 * 2;
    case DType::kQ6_K:
      return 2 + 16 + 16 * 4;
    default:
      return 0;
  }
}

// Offsets in one block's shared part of a panel.
constexpr int64_t kSharedD = 0;
constexpr int64_t kQ4KSharedDmin = 2 * kPanelRows;
constexpr int64_t q4k_shared_group(int64_t group) { return (4 + 2 * group) * kPanelRows; }
constexpr int64_t q6k_shared_scale(int64_t group) { return (2 + group) * kPanelRows; }
constexpr int64_t q6k_shared_high(int64_t group) { return (18 + 4 * group) * kPanelRows; }

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
