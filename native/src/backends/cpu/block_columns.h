// Columns of block types (weight_columns.h says what columns are; packed_blocks.h where these lie). They come
// out with their scales applied: fma(code, scale, offset) rounds once, as the definition of a value does,
// since scale and offset, products of a few bits each, are exact.
#pragma once

#include <type_traits>

#include "backends/cpu/block_bytes.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_blocks.h"
#include "backends/cpu/weight_columns.h"

namespace llmservice::cpu {

// Types whose codes stand for values of a table around zero: nothing is added.
constexpr bool has_table(DType t) { return t == DType::kIQ4_NL || t == DType::kIQ4_XS || t == DType::kMXFP4; }

template <class L, DType kType>
L widen_by_table(typename L::Words codes) {
  if constexpr (kType == DType::kMXFP4) return L::widen_fp4(codes);
  return L::widen_iq4(codes);
}

// What 32 columns share: what multiplies a code and what is added, and the upper bits of their codes.
template <class L, int V>
struct SharedBy32 {
  L scale[V];
  L offset[V];
  typename L::Words high[V];
};

template <class L, int V>
void load_high(const std::byte* from, int first, typename L::Words (&high)[V]) {
  const auto* const words = reinterpret_cast<const uint32_t*>(from) + first;
  for (int j = 0; j < V; ++j) high[j] = L::load_words(words + L::kCount * j);
}

// Of types whose blocks have 32 columns. Codes lie around zero, unless a second number is added.
template <class L, int V, DType kType>
class BlockScalesOf32 {
 public:
  explicit BlockScalesOf32(const PanelPlace& place) : shared_(shared_of<kType>(place)), first_(place.first) {}
  void next(SharedBy32<L, V>& out) {
    constexpr PanelForm kForm = panel_form(kType);
    if constexpr (kForm.words > 0) {
      load_scale_and_zero(shared_, first_, out.scale, out.offset);
    } else if constexpr (kForm.halves > 0) {
      load_halves(shared_, first_, out.scale);
    } else {
      const auto* exponents = reinterpret_cast<const uint8_t*>(shared_) + first_;
      for (int j = 0; j < V; ++j) out.scale[j] = L::load_e8m0(exponents + L::kCount * j);
    }
    if constexpr (kForm.halves == 2) {
      load_halves(shared_ + shared_half(1), first_, out.offset);
    } else if constexpr (!has_table(kType) && kForm.words == 0) {
      const L zero_code = L::set(-static_cast<float>(1 << (kForm.code_bits + kForm.high_bits - 1)));
      for (int j = 0; j < V; ++j) out.offset[j] = out.scale[j] * zero_code;
    }
    if constexpr (kForm.high_bits > 0) load_high<L>(shared_ + shared_high(kType, 0), first_, out.high);
    shared_ += shared_bytes(kType);
  }

 private:
  const std::byte* shared_;
  int first_;
};

// Of types whose blocks have eight groups of 32 columns, each with a scale and, but for tables, a minimum.
template <class L, int V, DType kType>
class GroupScalesOf32 {
 public:
  explicit GroupScalesOf32(const PanelPlace& place)
      : shared_(shared_of<kType>(place)), first_(place.first), group_(place.block % 2 * 4) {
    load_halves(shared_, first_, d_);
    if constexpr (!has_table(kType)) load_halves(shared_ + shared_half(1), first_, dmin_);
  }
  void next(SharedBy32<L, V>& out) {
    const std::byte* const group = shared_ + shared_group(kType, group_) + first_;
    if constexpr (has_table(kType)) {
      for (int j = 0; j < V; ++j) {
        out.scale[j] = d_[j] * L::load_i8(reinterpret_cast<const int8_t*>(group) + L::kCount * j);
      }
    } else {
      const auto* small = reinterpret_cast<const uint8_t*>(group);
      for (int j = 0; j < V; ++j) {
        out.scale[j] = d_[j] * L::load_u8(small + L::kCount * j);
        out.offset[j] = L::zero() - dmin_[j] * L::load_u8(small + kPanelRows + L::kCount * j);
      }
    }
    if constexpr (panel_form(kType).high_bits > 0)
      load_high<L>(shared_ + shared_high(kType, group_), first_, out.high);
    ++group_;
  }

 private:
  const std::byte* shared_;
  int first_;
  int64_t group_;
  L d_[V];
  L dmin_[V];
};

// Codes of four bits, or of four and one above them; or of four that stand for a table's values.
template <class L, int V, DType kType>
class NibbleColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  static constexpr int kStep = 8;
  explicit NibbleColumns(const PanelPlace& place)
      : weights_(reinterpret_cast<const uint32_t*>(place.weights(kColumnBytes)) + place.first),
        scales_(place) {}

  // `columns` is kStep: blocks make up a row.
  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_words<L, V, kAhead, kLocality>(weights_, codes_);
    if (step_ == 0) scales_.next(shared_);
    step_ = (step_ + 1) % 4;
  }

  template <int, int>
  void next(L (&out)[V]) {
    for (int j = 0; j < V; ++j) {
      if constexpr (has_table(kType)) {
        out[j] = widen_by_table<L, kType>(codes_[j]) * shared_.scale[j];
      } else if constexpr (panel_form(kType).high_bits == 1) {
        out[j] = fma(L::widen_five(codes_[j], shared_.high[j]), shared_.scale[j], shared_.offset[j]);
        shared_.high[j] = L::next_bit(shared_.high[j]);
      } else {
        out[j] = fma(L::widen_nibble(codes_[j]), shared_.scale[j], shared_.offset[j]);
      }
      codes_[j] = L::next_nibble(codes_[j]);
    }
  }

 private:
  using Scales = std::conditional_t<block_layout(kType).columns == 32, BlockScalesOf32<L, V, kType>,
                                    GroupScalesOf32<L, V, kType>>;

  const uint32_t* weights_;
  Scales scales_;
  int step_ = 0;  // of the four that share scales
  SharedBy32<L, V> shared_;
  typename L::Words codes_[V];
};

// Of types whose blocks have sixteen groups of 16 columns: what multiplies a code and what is added.
template <class L, int V, DType kType>
class GroupScalesOf16 {
 public:
  explicit GroupScalesOf16(const PanelPlace& place)
      : shared_(shared_of<kType>(place)), first_(place.first), group_(place.block % 2 * 8) {
    load_halves(shared_, first_, d_);
    if constexpr (kMinima) load_halves(shared_ + shared_half(1), first_, dmin_);
  }

  // The group that next() hands out.
  int64_t group() const { return group_; }
  const std::byte* shared() const { return shared_; }

  void next(L (&scale)[V], L (&offset)[V]) {
    const std::byte* const group = shared_ + shared_group(kType, group_) + first_;
    ++group_;
    for (int j = 0; j < V; ++j) {
      if constexpr (kMinima) {
        const auto both = L::load_bytes(reinterpret_cast<const uint8_t*>(group) + L::kCount * j);
        scale[j] = d_[j] * L::widen_nibble(both);
        offset[j] = L::zero() - dmin_[j] * L::widen_nibble(L::next_nibble(both));
      } else {  // scales around zero, and codes too
        scale[j] = d_[j] * L::load_i8(reinterpret_cast<const int8_t*>(group) + L::kCount * j);
        offset[j] = scale[j] * L::set(kZeroCode);
      }
    }
  }

 private:
  static constexpr PanelForm kForm = panel_form(kType);
  static constexpr bool kMinima = kForm.halves == 2;
  static constexpr float kZeroCode = -(1 << (kForm.code_bits + kForm.high_bits - 1));

  const std::byte* shared_;
  int first_;
  int64_t group_;  // of the block's 16
  L d_[V];
  L dmin_[V];
};

// The two high bits of sixteen columns lie in a word of their own, and these columns share a scale. Codes
// become bytes for four columns at a time.
template <class L, int V>
class Q6KColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  static constexpr int kStep = 8;
  explicit Q6KColumns(const PanelPlace& place)
      : weights_(reinterpret_cast<const uint32_t*>(place.weights(kColumnBytes)) + place.first),
        first_(place.first),
        scales_(place) {}

  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    typename L::Words low[V];
    fetch_words<L, V, kAhead, kLocality>(weights_, low);
    second_half_ = !second_half_;
    if (!second_half_) {
      load_high<L>(scales_.shared() + shared_high(DType::kQ6_K, scales_.group()), first_, high_);
      scales_.next(scale_, offset_);
    }
    for (int j = 0; j < V; ++j) {
      const auto high = high_[j];
      const auto odd = L::next_nibble(low[j]);
      codes_[j] = second_half_ ? L::join_bytes(low[j], L::template up<4>(high)) : L::join_bytes(low[j], high);
      codes_after_[j] = L::join_bytes(odd, second_half_ ? L::next_pair(high) : L::template up<2>(high));
    }
  }

  template <int, int>
  void next(L (&out)[V]) {
    for (int j = 0; j < V; ++j) {
      out[j] = fma(L::widen_low_byte(codes_[j]), scale_[j], offset_[j]);
      const auto taken = codes_[j];
      codes_[j] = codes_after_[j];
      codes_after_[j] = L::next_byte(taken);
    }
  }

 private:
  const uint32_t* weights_;
  int first_;
  GroupScalesOf16<L, V, DType::kQ6_K> scales_;
  bool second_half_ = true;  // of the group whose scales are loaded
  L scale_[V];
  L offset_[V];
  typename L::Words high_[V];
  typename L::Words codes_[V];        // of every second column, from the next one on
  typename L::Words codes_after_[V];  // of the others
};

// Codes of two bits, or of two and one above them. Sixteen columns share a scale.
template <class L, int V, DType kType>
class PairColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 4;
  static constexpr int kStep = 16;
  explicit PairColumns(const PanelPlace& place)
      : weights_(reinterpret_cast<const uint32_t*>(place.weights(kColumnBytes)) + place.first),
        first_(place.first),
        scales_(place) {}

  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_words<L, V, kAhead, kLocality>(weights_, low_);
    if (const int64_t group = scales_.group(); kHigh && group % 2 == 0) {
      load_high<L>(scales_.shared() + shared_high(kType, group / 2), first_, high_);
    }
    scales_.next(scale_, offset_);
  }

  template <int, int>
  void next(L (&out)[V]) {
    for (int j = 0; j < V; ++j) {
      L code;
      if constexpr (kHigh) {
        code = L::widen_three(low_[j], high_[j]);
        high_[j] = L::next_bit(high_[j]);
      } else {
        code = L::widen_pair(low_[j]);
      }
      out[j] = fma(code, scale_[j], offset_[j]);
      low_[j] = L::next_pair(low_[j]);
    }
  }

 private:
  static constexpr bool kHigh = panel_form(kType).high_bits > 0;

  const uint32_t* weights_;
  int first_;
  GroupScalesOf16<L, V, kType> scales_;
  L scale_[V];
  L offset_[V];
  typename L::Words low_[V];
  typename L::Words high_[V];  // kQ3_K
};

}  // namespace llmservice::cpu
