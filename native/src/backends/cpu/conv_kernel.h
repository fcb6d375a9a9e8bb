// Causal depthwise convolution + SiLU over up to 16 channels of one segment, in place, carrying the tail.
// y[t] = silu(Σ_j w[j] · x[t - taps + 1 + j]), j ascending, by fused multiply-adds.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/lanes_math.h"

namespace llmservice::cpu {

// lanes[i][j] = data[j · columns + i]: one vector per column of a (channels, columns) array.
template <class L>
void load_columns(const float* data, int channels, int columns, L* lanes) {
  for (int i = 0; i < columns; ++i) {
    float column[L::kCount] = {};
    for (int c = 0; c < channels; ++c) column[c] = data[c * columns + i];
    lanes[i] = L::load(column);
  }
}

template <class L>
void convolve(const ConvTile& t) {
  L weight[kMaxConvKernel];
  L window[kMaxConvKernel];  // inputs of the last taps - 1 positions, oldest first, then the present one
  load_columns(t.weight, t.channels, t.taps, weight);
  load_columns(t.tail, t.channels, t.taps - 1, window);
  for (int r = 0; r < t.rows; ++r) {
    float* x = t.x + r * t.stride;
    window[t.taps - 1] = L::load(x, t.channels);
    L y = L::zero();
    for (int j = 0; j < t.taps; ++j) y = fma(weight[j], window[j], y);
    silu(y).store(x, t.channels);
    for (int j = 0; j + 1 < t.taps; ++j) window[j] = window[j + 1];
  }
  for (int i = 0; i + 1 < t.taps; ++i) {
    float column[L::kCount];
    window[i].store(column);
    for (int c = 0; c < t.channels; ++c) t.tail[c * (t.taps - 1) + i] = column[c];
  }
}

}  // namespace llmservice::cpu
