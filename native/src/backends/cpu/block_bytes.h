// Columns of block types whose codes are bytes (block_columns.h has the others), and the loads of what
// columns share.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_blocks.h"

namespace llmservice::cpu {

template <class L>
void load_halves(const std::byte* from, L (&out)[4]) {
  for (int j = 0; j < 4; ++j) out[j] = L::load_f16(reinterpret_cast<const uint16_t*>(from) + L::kCount * j);
}

template <class L>
class Q8Columns {
 public:
  static constexpr int kColumnBytes = kPanelRows;
  static constexpr int kStep = 32;
  explicit Q8Columns(const PanelView& panel)
      : weights_(reinterpret_cast<const int8_t*>(panel.weights)), shared_(panel.shared) {}

  template <int, int>
  void fetch(int64_t) {
    load_halves(shared_, scale_);
    shared_ += shared_bytes(DType::kQ8_0);
  }

  template <int kAhead, int kLocality>
  void next(L (&out)[4]) {
    __builtin_prefetch(weights_ + kAhead, 0, kLocality);
    for (int j = 0; j < 4; ++j) out[j] = L::load_i8(weights_ + L::kCount * j) * scale_[j];
    weights_ += kPanelRows;
  }

 private:
  const int8_t* weights_;
  const std::byte* shared_;
  L scale_[4];
};

// The word of scale and zero point that 32 columns share: what multiplies a code, and what is added. Their
// product is exact.
template <class L>
void load_scale_and_zero(const std::byte* from, L (&scale)[4], L (&offset)[4]) {
  for (int j = 0; j < 4; ++j) {
    const auto words = L::load_words(reinterpret_cast<const uint32_t*>(from) + L::kCount * j);
    scale[j] = L::upper_float(words);
    offset[j] = L::zero() - L::widen_low_byte(words) * scale[j];
  }
}

template <class L>
class Int8BlockColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows;
  static constexpr int kStep = 32;
  explicit Int8BlockColumns(const PanelView& panel)
      : weights_(reinterpret_cast<const uint8_t*>(panel.weights)), shared_(panel.shared) {}

  template <int, int>
  void fetch(int64_t) {
    load_scale_and_zero(shared_, scale_, offset_);
    shared_ += shared_bytes(DType::kInt8);
  }

  template <int kAhead, int kLocality>
  void next(L (&out)[4]) {
    __builtin_prefetch(weights_ + kAhead, 0, kLocality);
    for (int j = 0; j < 4; ++j) out[j] = fma(L::load_u8(weights_ + L::kCount * j), scale_[j], offset_[j]);
    weights_ += kPanelRows;
  }

 private:
  const uint8_t* weights_;
  const std::byte* shared_;
  L scale_[4];
  L offset_[4];
};

}  // namespace llmservice::cpu
