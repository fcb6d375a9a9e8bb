// K and V of positions in the paged cache, read as lanes.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

// One position's K and V in the cache, at `row` rows of head_dim values; scales of e4m3 codes as load_fp8
// wants them.
struct KvRow {
  int64_t row;
  float k_scale;
  float v_scale;
};

inline KvRow find_kv(const AttentionTile& t, int32_t position) {
  const AttentionShape& s = *t.shape;
  const int64_t block = t.blocks[position / s.block_size];
  const int64_t row = (block * s.kv_heads + t.kv_head) * s.block_size + position % s.block_size;
  if (s.kv_dtype != DType::kF8E4M3) return {row, 1, 1};
  return {row, 256 * t.cache->k_scales[row], 256 * t.cache->v_scales[row]};
}

// Readers of the cache's types: n values of one position's K or V, from feature d on.
template <class L, class Element, L (*kLoad)(const Element*, int)>
struct KvElements {
  static constexpr bool kIsBf16 = sizeof(Element) == sizeof(uint16_t);
  static constexpr int kBytes = sizeof(Element);
  static L load(const void* cache, int64_t index, float, int n) {
    return kLoad(static_cast<const Element*>(cache) + index, n);
  }
};

template <class L>
struct KvCodes {
  static constexpr bool kIsBf16 = false;
  static constexpr int kBytes = 1;
  static L load(const void* cache, int64_t index, float scale, int n) {
    return L::load_fp8(static_cast<const uint8_t*>(cache) + index, n) * L::set(scale);
  }
};

// Calls `use` with the reader of the cache's type.
template <class L, class Use>
auto with_kv_reader(DType dtype, Use&& use) {
  if (dtype == DType::kF32) return use(KvElements<L, float, L::load>{});
  if (dtype == DType::kBF16) return use(KvElements<L, uint16_t, L::load_bf16>{});
  return use(KvCodes<L>{});
}

// Rows of positions [begin, begin + count), the last one repeated up to the next multiple of 16.
inline void find_split(const AttentionTile& t, int32_t begin, int count, KvRow (&rows)[kSplit]) {
  const int32_t block = t.shape->block_size;
  for (int i = 0; i < count;) {
    // One look at the table for a block's positions: a division for each costs as much as its scores.
    const KvRow first = find_kv(t, begin + i);
    const int end = std::min(count, i + block - (begin + i) % block);
    if (t.shape->kv_dtype == DType::kF8E4M3) {
      for (int j = i; j < end; ++j) rows[j] = find_kv(t, begin + j);
    } else {
      for (int j = i; j < end; ++j) rows[j] = {first.row + j - i, 1, 1};
    }
    i = end;
  }
  for (int i = count; i % 16 != 0; ++i) rows[i] = rows[count - 1];
}

}  // namespace llmservice::cpu
