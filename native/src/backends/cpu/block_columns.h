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
template <class L>
struct SharedBy32 {
  L scale[4];
  L offset[4];
  typename L::Words high[4];
};

template <class L>
void load_high(const std::byte* from, typename L::Words (&high)[4]) {
  for (int j = 0; j < 4; ++j)
    high[j] = L::load_words(reinterpret_cast<const uint32_t*>(from) + L::kCount * j);
}

// Of types whose blocks have 32 columns. Codes lie around zero, unless a second number is added.
template <class L, DType kType>
class BlockScalesOf32 {
 public:
  explicit BlockScalesOf32(const std::byte* shared) : shared_(shared) {}
  void next(SharedBy32<L>& out) {
    constexpr PanelForm kForm = panel_form(kType);
    if constexpr (kForm.words > 0) {
      load_scale_and_zero(shared_, out.scale, out.offset);
    } else if constexpr (kForm.halves > 0) {
      load_halves(shared_, out.scale);
    } else {
      const auto* exponents = reinterpret_cast<const uint8_t*>(shared_);
      for (int j = 0; j < 4; ++j) out.scale[j] = L::load_e8m0(exponents + L::kCount * j);
    }
    if constexpr (kForm.halves == 2) {
      load_halves(shared_ + shared_half(1), out.offset);
    } else if constexpr (!has_table(kType) && kForm.words == 0) {
      const L zero_code = L::set(-static_cast<float>(1 << (kForm.code_bits + kForm.high_bits - 1)));
      for (int j = 0; j < 4; ++j) out.offset[j] = out.scale[j] * zero_code;
    }
    if constexpr (kForm.high_bits > 0) load_high<L>(shared_ + shared_high(kType, 0), out.high);
    shared_ += shared_bytes(kType);
  }

 private:
  const std::byte* shared_;
};

// Of types whose blocks have eight groups of 32 columns, each with a scale and, but for tables, a minimum.
template <class L, DType kType>
class GroupScalesOf32 {
 public:
  explicit GroupScalesOf32(const std::byte* shared) : shared_(shared) {}
  void next(SharedBy32<L>& out) {
    if (group_ == 0) load_halves(shared_, d_);
    const std::byte* const group = shared_ + shared_group(kType, group_);
    if constexpr (has_table(kType)) {
      for (int j = 0; j < 4; ++j) {
        out.scale[j] = d_[j] * L::load_i8(reinterpret_cast<const int8_t*>(group) + L::kCount * j);
      }
    } else {
      if (group_ == 0) load_halves(shared_ + shared_half(1), dmin_);
      const auto* small = reinterpret_cast<const uint8_t*>(group);
      for (int j = 0; j < 4; ++j) {
        out.scale[j] = d_[j] * L::load_u8(small + L::kCount * j);
        out.offset[j] = L::zero() - dmin_[j] * L::load_u8(small + kPanelRows + L::kCount * j);
      }
    }
    if constexpr (panel_form(kType).high_bits > 0)
      load_high<L>(shared_ + shared_high(kType, group_), out.high);
    group_ = (group_ + 1) % 8;
    if (group_ == 0) shared_ += shared_bytes(kType);
  }

 private:
  const std::byte* shared_;
  int group_ = 0;
  L d_[4];
  L dmin_[4];
};

// Codes of four bits, or of four and one above them; or of four that stand for a table's values.
template <class L, DType kType>
class NibbleColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  static constexpr int kStep = 8;
  explicit NibbleColumns(const PanelView& panel)
      : weights_(reinterpret_cast<const uint32_t*>(panel.weights)), scales_(panel.shared) {}

  // `columns` is kStep: blocks make up a row.
  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_words<L, kAhead, kLocality>(weights_, codes_);
    if (step_ == 0) scales_.next(shared_);
    step_ = (step_ + 1) % 4;
  }

  template <int, int>
  void next(L (&out)[4]) {
    for (int j = 0; j < 4; ++j) {
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
  using Scales = std::conditional_t<block_layout(kType).columns == 32, BlockScalesOf32<L, kType>,
                                    GroupScalesOf32<L, kType>>;

  const uint32_t* weights_;
  Scales scales_;
  int step_ = 0;  // of the four that share scales
  SharedBy32<L> shared_;
  typename L::Words codes_[4];
};

// The two high bits of sixteen columns lie in a word of their own, and these columns share a scale.
template <class L>
class Q6KColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  static constexpr int kStep = 8;
  explicit Q6KColumns(const PanelView& panel)
      : weights_(reinterpret_cast<const uint32_t*>(panel.weights)), shared_(panel.shared) {}

  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_words<L, kAhead, kLocality>(weights_, low_);
    if (step_ % 2 == 0) next_group();
    step_ = (step_ + 1) % 32;
    if (step_ == 0) shared_ += shared_bytes(DType::kQ6_K);
  }

  template <int, int>
  void next(L (&out)[4]) {
    for (int j = 0; j < 4; ++j) {
      out[j] = fma(L::widen_six(low_[j], high_[j]), scale_[j], offset_[j]);
      low_[j] = L::next_nibble(low_[j]);
      high_[j] = L::next_pair(high_[j]);
    }
  }

 private:
  void next_group() {
    if (step_ == 0) load_halves(shared_, d_);
    const auto* scales = reinterpret_cast<const int8_t*>(shared_ + shared_group(DType::kQ6_K, step_ / 2));
    for (int j = 0; j < 4; ++j) {
      scale_[j] = d_[j] * L::load_i8(scales + L::kCount * j);
      offset_[j] = scale_[j] * L::set(-32);
    }
    load_high<L>(shared_ + shared_high(DType::kQ6_K, step_ / 2), high_);
  }

  const uint32_t* weights_;
  const std::byte* shared_;
  int step_ = 0;  // of the block's 32
  L d_[4];
  L scale_[4];
  L offset_[4];
  typename L::Words low_[4];
  typename L::Words high_[4];
};

// Codes of two bits, or of two and one above them. Sixteen columns share a scale.
template <class L, DType kType>
class PairColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 4;
  static constexpr int kStep = 16;
  explicit PairColumns(const PanelView& panel)
      : weights_(reinterpret_cast<const uint32_t*>(panel.weights)), shared_(panel.shared) {}

  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_words<L, kAhead, kLocality>(weights_, low_);
    if (group_ == 0) load_halves(shared_, d_);
    next_group(shared_ + shared_group(kType, group_));
    group_ = (group_ + 1) % 16;
    if (group_ == 0) shared_ += shared_bytes(kType);
  }

  template <int, int>
  void next(L (&out)[4]) {
    for (int j = 0; j < 4; ++j) {
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

  void next_group(const std::byte* scales) {
    if constexpr (kHigh) {  // scales around zero, and codes too
      for (int j = 0; j < 4; ++j) {
        scale_[j] = d_[j] * L::load_i8(reinterpret_cast<const int8_t*>(scales) + L::kCount * j);
        offset_[j] = scale_[j] * L::set(-4);
      }
      if (group_ % 2 == 0) load_high<L>(shared_ + shared_high(kType, group_ / 2), high_);
    } else {
      if (group_ == 0) load_halves(shared_ + shared_half(1), dmin_);
      for (int j = 0; j < 4; ++j) {
        const auto both = L::load_bytes(reinterpret_cast<const uint8_t*>(scales) + L::kCount * j);
        scale_[j] = d_[j] * L::widen_nibble(both);
        offset_[j] = L::zero() - dmin_[j] * L::widen_nibble(L::next_nibble(both));
      }
    }
  }

  const uint32_t* weights_;
  const std::byte* shared_;
  int group_ = 0;  // of the block's 16
  L d_[4];
  L dmin_[4];  // kQ2_K
  L scale_[4];
  L offset_[4];
  typename L::Words low_[4];
  typename L::Words high_[4];  // kQ3_K
};

}  // namespace llmservice::cpu
