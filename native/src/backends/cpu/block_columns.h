// Columns of block types (weight_columns.h says what columns are; packed_blocks.h where these lie). They come
// out with their scales applied: fma(code, scale, offset) rounds once, as the definition of a value does,
// since scale and offset, products of a few bits each, are exact.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_blocks.h"
#include "backends/cpu/weight_columns.h"

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
    shared_ += kPanelRows * shared_bytes(DType::kQ8_0);
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

// What multiplies a code and what is added, for 32 columns at a time.
template <class L>
class Q4Scales {
 public:
  explicit Q4Scales(const std::byte* shared) : shared_(shared) {}
  void next(L (&scale)[4], L (&offset)[4]) {
    load_halves(shared_, scale);
    for (int j = 0; j < 4; ++j) offset[j] = scale[j] * L::set(-8);
    shared_ += kPanelRows * shared_bytes(DType::kQ4_0);
  }

 private:
  const std::byte* shared_;
};

template <class L>
class Q4KScales {
 public:
  explicit Q4KScales(const std::byte* shared) : shared_(shared) {}
  void next(L (&scale)[4], L (&offset)[4]) {
    if (group_ == 0) {
      load_halves(shared_ + kSharedD, d_);
      load_halves(shared_ + kQ4KSharedDmin, dmin_);
    }
    const auto* small = reinterpret_cast<const uint8_t*>(shared_ + q4k_shared_group(group_));
    for (int j = 0; j < 4; ++j) {
      scale[j] = d_[j] * L::load_u8(small + L::kCount * j);
      offset[j] = L::zero() - dmin_[j] * L::load_u8(small + kPanelRows + L::kCount * j);
    }
    group_ = (group_ + 1) % 8;
    if (group_ == 0) shared_ += kPanelRows * shared_bytes(DType::kQ4_K);
  }

 private:
  const std::byte* shared_;
  int group_ = 0;
  L d_[4];
  L dmin_[4];
};

template <class L, class Scales>
class NibbleColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  static constexpr int kStep = 8;
  explicit NibbleColumns(const PanelView& panel)
      : weights_(reinterpret_cast<const uint32_t*>(panel.weights)), scales_(panel.shared) {}

  // `columns` is kStep: blocks make up a row.
  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_nibbles<L, kAhead, kLocality>(weights_, codes_);
    if (step_ == 0) scales_.next(scale_, offset_);
    step_ = (step_ + 1) % 4;
  }

  template <int, int>
  void next(L (&out)[4]) {
    for (int j = 0; j < 4; ++j) {
      out[j] = fma(L::widen_nibble(codes_[j]), scale_[j], offset_[j]);
      codes_[j] = L::next_nibble(codes_[j]);
    }
  }

 private:
  const uint32_t* weights_;
  Scales scales_;
  int step_ = 0;  // of the four that share scales
  L scale_[4];
  L offset_[4];
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
    fetch_nibbles<L, kAhead, kLocality>(weights_, low_);
    if (step_ % 2 == 0) next_group();
    step_ = (step_ + 1) % 32;
    if (step_ == 0) shared_ += kPanelRows * shared_bytes(DType::kQ6_K);
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
    if (step_ == 0) load_halves(shared_ + kSharedD, d_);
    const auto* scales = reinterpret_cast<const int8_t*>(shared_ + q6k_shared_scale(step_ / 2));
    const auto* high = reinterpret_cast<const uint32_t*>(shared_ + q6k_shared_high(step_ / 2));
    for (int j = 0; j < 4; ++j) {
      scale_[j] = d_[j] * L::load_i8(scales + L::kCount * j);
      offset_[j] = scale_[j] * L::set(-32);
      high_[j] = L::load_words(high + L::kCount * j);
    }
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

}  // namespace llmservice::cpu
