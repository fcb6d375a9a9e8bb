// Columns of block types whose codes are bytes (block_columns.h has the others), and what columns share.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_blocks.h"
#include "backends/cpu/weight_columns.h"

namespace llmservice::cpu {

// What the columns of a K block share, from that of its first columns on, as it lies for the panel's first
// output. Blocks of 256 columns are two K blocks.
template <DType kType>
const std::byte* shared_of(const PanelPlace& place) {
  constexpr int64_t kColumns = block_layout(kType).columns;
  return place.panel.shared + shared_bytes(kType, place.block * kDepthBlock / kColumns * kColumns);
}

template <class L, int V>
void load_halves(const std::byte* from, int first, L (&out)[V]) {
  const auto* const halves = reinterpret_cast<const uint16_t*>(from) + first;
  for (int j = 0; j < V; ++j) out[j] = L::load_f16(halves + L::kCount * j);
}

template <class L, int V>
class Q8Columns {
 public:
  static constexpr int kColumnBytes = kPanelRows;
  static constexpr int kStep = 32;
  explicit Q8Columns(const PanelPlace& place)
      : weights_(reinterpret_cast<const int8_t*>(place.weights(kColumnBytes)) + place.first),
        shared_(shared_of<DType::kQ8_0>(place)),
        first_(place.first) {}

  template <int, int>
  void fetch(int64_t) {
    load_halves(shared_, first_, scale_);
    shared_ += shared_bytes(DType::kQ8_0);
  }

  template <int kAhead, int kLocality>
  void next(L (&out)[V]) {
    __builtin_prefetch(weights_ + kAhead, 0, kLocality);
    for (int j = 0; j < V; ++j) out[j] = L::load_i8(weights_ + L::kCount * j) * scale_[j];
    weights_ += kPanelRows;
  }

 private:
  const int8_t* weights_;
  const std::byte* shared_;
  int first_;
  L scale_[V];
};

// The word of scale and zero point that 32 columns share: what multiplies a code, and what is added. Their
// product is exact.
template <class L, int V>
void load_scale_and_zero(const std::byte* from, int first, L (&scale)[V], L (&offset)[V]) {
  for (int j = 0; j < V; ++j) {
    const auto words = L::load_words(reinterpret_cast<const uint32_t*>(from) + first + L::kCount * j);
    scale[j] = L::upper_float(words);
    offset[j] = L::zero() - L::widen_low_byte(words) * scale[j];
  }
}

template <class L, int V>
class Int8BlockColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows;
  static constexpr int kStep = 32;
  explicit Int8BlockColumns(const PanelPlace& place)
      : weights_(reinterpret_cast<const uint8_t*>(place.weights(kColumnBytes)) + place.first),
        shared_(shared_of<DType::kInt8>(place)),
        first_(place.first) {}

  template <int, int>
  void fetch(int64_t) {
    load_scale_and_zero(shared_, first_, scale_, offset_);
    shared_ += shared_bytes(DType::kInt8);
  }

  template <int kAhead, int kLocality>
  void next(L (&out)[V]) {
    __builtin_prefetch(weights_ + kAhead, 0, kLocality);
    for (int j = 0; j < V; ++j) out[j] = fma(L::load_u8(weights_ + L::kCount * j), scale_[j], offset_[j]);
    weights_ += kPanelRows;
  }

 private:
  const uint8_t* weights_;
  const std::byte* shared_;
  int first_;
  L scale_[V];
  L offset_[V];
};

}  // namespace llmservice::cpu
