// What groups of columns of a K block share, as products of pairs apply it to sums. Include only from
// *avx512bf16*.cpp, which alone are compiled for that family.
#pragma once

#include "backends/cpu/block_columns.h"
#include "backends/cpu/packed_blocks.h"
#include "backends/cpu/simd_avx512.h"
#include "ops/dtype.h"

namespace llmservice::cpu {
namespace {

constexpr int kMaxGroups = kDepthBlock / kSumColumns;

// Scales of groups of columns: value = code · scale + offset, offsets null where nothing is added.
struct GroupScales {
  int columns = kDepthBlock;       // of a group
  const float* scales = nullptr;   // (groups, 64) or, where there are none, null
  const float* offsets = nullptr;  // (groups, 64)
};

// Whether groups of less than a K block share scales.
template <DType kType>
constexpr bool has_groups() {
  return is_block_type(kType) || kType == DType::kF4E2M1;
}

template <DType kType>
constexpr int group_columns() {
  if constexpr (kType == DType::kF4E2M1) return kGroupColumns;
  return panel_form(kType).groups == 16 ? 16 : 32;
}

// Whether a value is more than its code times a scale.
template <DType kType>
constexpr bool has_offset() {
  return is_block_type(kType) && !has_table(kType) && kType != DType::kQ8_0;
}

constexpr int kVectors = kPanelRows / Avx512Lanes::kCount;
using PanelLanes = Avx512Lanes[kVectors];

inline void store_panel(const PanelLanes& lanes, float* out) {
  for (int j = 0; j < kVectors; ++j) lanes[j].store(out + Avx512Lanes::kCount * j);
}

// Those of a K block of `columns`, whose codes come out larger by `bias`. memory: (2, kMaxGroups, 64).
template <DType kType>
GroupScales load_scales(const PanelView& panel, int64_t block, int columns, float bias, float* memory) {
  constexpr int kColumns = group_columns<kType>();
  float* const offsets = memory + kMaxGroups * kPanelRows;
  const PanelPlace place{panel, block, 0};
  const Avx512Lanes less = Avx512Lanes::set(-bias);
  const auto store = [&](int group, const PanelLanes& scale, PanelLanes& offset) {
    store_panel(scale, memory + group * kPanelRows);
    if constexpr (has_offset<kType>()) {
      for (int j = 0; j < kVectors; ++j) offset[j] = fma(less, scale[j], offset[j]);
      store_panel(offset, offsets + group * kPanelRows);
    }
  };
  if constexpr (kType == DType::kF4E2M1) {
    const auto* codes = reinterpret_cast<const uint8_t*>(panel.shared) + block * kMaxGroups * kPanelRows;
    const float* const by_row = panel.scales + block * panel.scale_step;
    for (int group = 0; group * kColumns < columns; ++group) {
      alignas(64) Avx512Lanes::Staged staged[kPanelRows];
      Avx512Lanes::stage_fp8<kVectors>(codes + group * kPanelRows, staged);
      for (int j = 0; j < kVectors; ++j) {
        const int at = Avx512Lanes::kCount * j;
        const Avx512Lanes scale = Avx512Lanes::load_staged(staged + at) * Avx512Lanes::load(by_row + at);
        scale.store(memory + group * kPanelRows + at);
      }
    }
  } else if constexpr (kColumns == 16) {
    GroupScalesOf16<Avx512Lanes, kVectors, kType> groups(place);
    for (int group = 0; group * kColumns < columns; ++group) {
      PanelLanes scale;
      PanelLanes offset;
      groups.next(scale, offset);
      store(group, scale, offset);
    }
  } else {
    std::conditional_t<block_layout(kType).columns == 32, BlockScalesOf32<Avx512Lanes, kVectors, kType>,
                       GroupScalesOf32<Avx512Lanes, kVectors, kType>>
        groups(place);
    for (int group = 0; group * kColumns < columns; ++group) {
      SharedBy32<Avx512Lanes, kVectors> shared;
      groups.next(shared);
      store(group, shared.scale, shared.offset);
    }
  }
  return {kColumns, memory, has_offset<kType>() ? offsets : nullptr};
}

}  // namespace
}  // namespace llmservice::cpu
