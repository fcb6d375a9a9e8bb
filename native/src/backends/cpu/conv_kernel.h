// Causal depthwise convolution + SiLU over up to 16 channels of one segment, in place, carrying the tail.
// y[t] = silu(Σ_j w[j] · x[t - taps + 1 + j]), j ascending, by fused multiply-adds.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/lanes_math.h"

namespace llmservice::cpu {

// lane c of lanes[j] = data[c · kColumns + j] for c < rows <= L::kCount; zeros behind.
template <int kColumns, class L>
void load_columns(const float* data, int rows, L* lanes) {
  if constexpr (requires { L::template load_columns<kColumns>(data, rows, lanes); }) {
    L::template load_columns<kColumns>(data, rows, lanes);
  } else {
    for (int j = 0; j < kColumns; ++j) {
      float column[L::kCount] = {};
      for (int c = 0; c < rows; ++c) column[c] = data[c * kColumns + j];
      lanes[j] = L::load(column);
    }
  }
}

// The inverse.
template <int kColumns, class L>
void store_columns(const L* lanes, int rows, float* data) {
  if constexpr (requires { L::template store_columns<kColumns>(lanes, rows, data); }) {
    L::template store_columns<kColumns>(lanes, rows, data);
  } else {
    for (int j = 0; j < kColumns; ++j) {
      float column[L::kCount];
      lanes[j].store(column);
      for (int c = 0; c < rows; ++c) data[c * kColumns + j] = column[c];
    }
  }
}

template <class L, int kTaps>
void convolve_taps(const ConvTile& t) {
  L weight[kTaps];
  L window[kTaps];  // inputs of the last kTaps - 1 positions, oldest first, then the present one
  load_columns<kTaps>(t.weight, t.channels, weight);
  load_columns<kTaps - 1>(t.tail, t.channels, window);
  for (int r = 0; r < t.rows; ++r) {
    float* x = t.x + r * t.stride;
    window[kTaps - 1] = L::load(x, t.channels);
    L y = L::zero();
    for (int j = 0; j < kTaps; ++j) y = fma(weight[j], window[j], y);
    silu(y).store(x, t.channels);
    for (int j = 0; j + 1 < kTaps; ++j) window[j] = window[j + 1];
  }
  store_columns<kTaps - 1>(window, t.channels, t.tail);
}

template <class L, int kTaps = 2>
void convolve(const ConvTile& t) {
  if constexpr (kTaps < kMaxConvKernel) {
    if (t.taps != kTaps) return convolve<L, kTaps + 1>(t);
  }
  convolve_taps<L, kTaps>(t);
}

}  // namespace llmservice::cpu
