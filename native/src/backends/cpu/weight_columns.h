// Walks one K block of a weight panel column by column (one k, V vectors of outputs), widening each held type
// to float exactly but for the scales of K blocks and rows, which apply to sums. FP8 and FP4 come out divided
// by 256: see stage_fp8. fetch(n) readies the next n columns, at most kStep; next() hands out one. Either
// asks memory for what lies kAhead bytes further.
#pragma once

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

// A K block of a panel, from an output on.
struct PanelPlace {
  const PanelView& panel;
  int64_t block;
  int first;

  // Where what lies in as many bytes per column of 64 outputs begins.
  const std::byte* weights(int column_bytes) const {
    return panel.weights + block * kDepthBlock * column_bytes;
  }
};

// Columns of whole elements, one after the other, which `kLoad` widens a vector at a time.
template <class L, int V, class Element, L (*kLoad)(const Element*)>
class ElementColumns {
 public:
  static constexpr int kColumnBytes = kPanelRows * sizeof(Element);
  static constexpr int kStep = kDepthBlock;
  explicit ElementColumns(const PanelPlace& place)
      : at_(reinterpret_cast<const Element*>(place.weights(kColumnBytes)) + place.first) {}

  template <int, int>
  void fetch(int64_t) const {}

  template <int kAhead, int kLocality>
  void next(L (&out)[V]) {
    for (int line = 0; line < V * L::kCount * int{sizeof(Element)}; line += 64) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(at_) + kAhead + line, 0, kLocality);
    }
    for (int j = 0; j < V; ++j) out[j] = kLoad(at_ + L::kCount * j);
    at_ += kPanelRows;
  }

 private:
  const Element* at_;
};

template <class L, int V>
using Int8Columns = ElementColumns<L, V, int8_t, L::load_i8>;
template <class L, int V>
using F16Columns = ElementColumns<L, V, uint16_t, L::load_f16>;
template <class L, int V>
using F32Columns = ElementColumns<L, V, float, L::load>;

// BF16 lies in pairs of columns, a word per output with the first one in its low half.
template <class L, int V>
class Bf16Columns {
 public:
  static constexpr int kColumnBytes = kPanelRows * sizeof(uint16_t);
  static constexpr int kStep = 2;
  explicit Bf16Columns(const PanelPlace& place)
      : at_(reinterpret_cast<const uint32_t*>(place.weights(kColumnBytes)) + place.first) {}

  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    for (int j = 0; j < V; ++j) {
      __builtin_prefetch(at_ + kAhead / 4 + 16 * j, 0, kLocality);
      pairs_[j] = L::load_words(at_ + L::kCount * j);
    }
    at_ += kPanelRows;
  }

  template <int, int>
  void next(L (&out)[V]) {
    for (int j = 0; j < V; ++j) {
      out[j] = L::widen_low_bf16(pairs_[j]);
      pairs_[j] = L::high_halves(pairs_[j]);
    }
  }

 private:
  const uint32_t* at_;
  typename L::Words pairs_[V];
};

// FP8 goes by way of a buffer of eight columns in an instruction family's own half-way type. AVX-512 without
// BF16 widens half precision from memory with one instruction per 16 weights, from registers with two and a
// half: per cache line of 64 weights 10 instead of 16 for the two arithmetic ports, with 4 per row of x.
template <class L, int V>
class Fp8Columns {
 public:
  static constexpr int kColumnBytes = kPanelRows;
  static constexpr int kStep = 8;
  explicit Fp8Columns(const PanelPlace& place)
      : weights_(reinterpret_cast<const uint8_t*>(place.weights(kColumnBytes)) + 2 * place.first) {}

  template <int kAhead, int kLocality>
  void fetch(int64_t columns) {
    for (int64_t c = 0; c < columns; c += 2, weights_ += 2 * kPanelRows) {
      for (int line = 0; line < 2 * kOutputs; line += 64) {
        __builtin_prefetch(weights_ + kAhead + line, 0, kLocality);
      }
      L::template stage_fp8_pairs<V>(weights_, staged_ + c * kOutputs, staged_ + (c + 1) * kOutputs);
    }
    next_ = staged_;
  }

  template <int, int>
  void next(L (&out)[V]) {
    for (int j = 0; j < V; ++j) out[j] = L::load_staged(next_ + L::kCount * j);
    next_ += kOutputs;
  }

 private:
  static constexpr int kOutputs = V * L::kCount;
  const uint8_t* weights_;
  const typename L::Staged* next_ = nullptr;
  alignas(64) typename L::Staged staged_[kStep * kOutputs];
};

// Codes of less than a byte: as many columns as fit lie in one word per output, the first in its low bits.
// Takes the next words of a panel, whose `weights` continue behind them.
template <class L, int V, int kAhead, int kLocality>
void fetch_words(const uint32_t*& weights, typename L::Words (&codes)[V]) {
  for (int j = 0; j < V; ++j) {
    __builtin_prefetch(weights + kAhead / 4 + 16 * j, 0, kLocality);
    codes[j] = L::load_words(weights + L::kCount * j);
  }
  weights += kPanelRows;
}

// Two words of eight columns share an e4m3 scale. code · scale has at most six significant bits, so that a
// column is exact.
template <class L, int V>
class Fp4Columns {
 public:
  static constexpr int kColumnBytes = kPanelRows / 2;
  static constexpr int kStep = 8;
  explicit Fp4Columns(const PanelPlace& place)
      : weights_(reinterpret_cast<const uint32_t*>(place.weights(kColumnBytes)) + place.first),
        scales_(reinterpret_cast<const uint8_t*>(place.panel.shared) +
                place.block * kDepthBlock / 16 * kPanelRows + place.first) {}

  // `columns` is kStep: groups of 16 make up a row.
  template <int kAhead, int kLocality>
  void fetch(int64_t) {
    fetch_words<L, V, kAhead, kLocality>(weights_, codes_);
    second_half_ = !second_half_;
    if (second_half_) return;
    alignas(64) typename L::Staged staged[V * L::kCount];
    L::template stage_fp8<V>(scales_, staged);
    for (int j = 0; j < V; ++j) scale_[j] = L::load_staged(staged + L::kCount * j);
    scales_ += kPanelRows;
  }

  template <int, int>
  void next(L (&out)[V]) {
    for (int j = 0; j < V; ++j) {
      out[j] = L::widen_fp4(codes_[j]) * scale_[j];
      codes_[j] = L::next_nibble(codes_[j]);
    }
  }

 private:
  const uint32_t* weights_;
  const uint8_t* scales_;
  bool second_half_ = true;  // of the group whose scales are loaded
  L scale_[V];
  typename L::Words codes_[V];
};

}  // namespace llmservice::cpu
