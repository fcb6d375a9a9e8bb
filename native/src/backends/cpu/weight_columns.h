// Walks a weight panel column by column (one k, 64 outputs), widening each held type to float exactly but for
// the scales of K blocks and rows, which apply to sums. FP8 and FP4 come out divided by 256: see load_fp8.
#pragma once

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

// Columns of whole elements, one after the other.
template <int kElementBytes>
class ColumnWalk {
 public:
  static constexpr int kColumnBytes = kPanelRows * kElementBytes;
  explicit ColumnWalk(const PanelView& panel) : at_(panel.weights) {}

  // Asks for the column that lies kAhead bytes further.
  template <int kAhead, int kLocality>
  void prefetch() const {
    for (int line = 0; line < kElementBytes; ++line) {
      __builtin_prefetch(at_ + kAhead + 64 * line, 0, kLocality);
    }
  }

 protected:
  template <class Element>
  const Element* take() {
    const std::byte* column = at_;
    at_ += kColumnBytes;
    return reinterpret_cast<const Element*>(column);
  }

 private:
  const std::byte* at_;
};

template <class L>
struct Fp8Columns : ColumnWalk<1> {
  using ColumnWalk::ColumnWalk;
  void next(L (&out)[4]) { L::load_fp8(take<uint8_t>(), out); }
};

template <class L>
struct Int8Columns : ColumnWalk<1> {
  using ColumnWalk::ColumnWalk;
  void next(L (&out)[4]) {
    const auto* p = take<int8_t>();
    for (int j = 0; j < 4; ++j) out[j] = L::load_i8(p + L::kCount * j);
  }
};

template <class L>
struct Bf16Columns : ColumnWalk<2> {
  using ColumnWalk::ColumnWalk;
  void next(L (&out)[4]) {
    const auto* p = take<uint16_t>();
    for (int j = 0; j < 4; ++j) out[j] = L::load_bf16(p + L::kCount * j);
  }
};

template <class L>
struct F16Columns : ColumnWalk<2> {
  using ColumnWalk::ColumnWalk;
  void next(L (&out)[4]) {
    const auto* p = take<uint16_t>();
    for (int j = 0; j < 4; ++j) out[j] = L::load_f16(p + L::kCount * j);
  }
};

template <class L>
struct F32Columns : ColumnWalk<4> {
  using ColumnWalk::ColumnWalk;
  void next(L (&out)[4]) {
    const auto* p = take<float>();
    for (int j = 0; j < 4; ++j) out[j] = L::load(p + L::kCount * j);
  }
};

// Eight columns lie in one word per output, the first in its low nibble; two such words share an e4m3 scale.
// code · scale has at most six significant bits, so that a column is exact.
template <class L>
class Fp4Columns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  explicit Fp4Columns(const PanelView& panel)
      : weights_(reinterpret_cast<const uint32_t*>(panel.weights)), scales_(panel.group_scales) {}

  template <int kAhead, int kLocality>
  void prefetch() const {
    const int line = k_ % 8 / 2;
    if (k_ % 2 == 0) __builtin_prefetch(weights_ + kAhead / 4 + 16 * line, 0, kLocality);
  }

  void next(L (&out)[4]) {
    if (k_ % 16 == 0) {
      L::load_fp8(scales_, scale_);
      scales_ += kPanelRows;
    }
    if (k_ % 8 == 0) {
      for (int j = 0; j < 4; ++j) codes_[j] = L::load_words(weights_ + L::kCount * j);
      weights_ += kPanelRows;
    }
    for (int j = 0; j < 4; ++j) {
      out[j] = L::widen_fp4(codes_[j]) * scale_[j];
      codes_[j] = L::next_fp4(codes_[j]);
    }
    ++k_;
  }

 private:
  const uint32_t* weights_;
  const uint8_t* scales_;
  int k_ = 0;
  L scale_[4];
  typename L::Words codes_[4];
};

}  // namespace llmservice::cpu
