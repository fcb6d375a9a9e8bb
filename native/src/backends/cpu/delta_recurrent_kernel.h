// Gated delta rule, one position at a time, on some columns of S (columns are independent):
//   S <- e^g S;  Δ = β (v - Sᵀk);  S <- S + k Δᵀ;  o = Sᵀq
// S is read twice and written once per position; the decayed S is recomputed rather than stored.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/lanes_math.h"

namespace llmservice::cpu {

// C vectors of columns at `column`; the last vector has n valid lanes.
template <class L, int C>
void delta_step(const DeltaTile& t, int row, int column, int n, float decay) {
  const auto lanes = [n](int j) { return j == C - 1 ? n : L::kCount; };
  const float* k = t.k + row * t.qk_stride;
  const float* q = t.q + row * t.qk_stride;
  float* s = t.s + column;
  const L factor = L::set(decay);
  L read[C];
  for (int j = 0; j < C; ++j) read[j] = L::zero();
  for (int i = 0; i < t.k_dim; ++i) {
    const L key = L::set(k[i]);
    for (int j = 0; j < C; ++j) {
      const L state = L::load(s + i * t.s_stride + j * L::kCount, lanes(j)) * factor;
      read[j] = fma(key, state, read[j]);
    }
  }
  const L beta = L::set(t.beta[row * t.gate_stride]);
  L delta[C];
  L out[C];
  for (int j = 0; j < C; ++j) {
    const L value = L::load(t.v + row * t.v_stride + column + j * L::kCount, lanes(j));
    delta[j] = beta * (value - read[j]);
    out[j] = L::zero();
  }
  for (int i = 0; i < t.k_dim; ++i) {
    const L key = L::set(k[i]);
    const L query = L::set(q[i]);
    for (int j = 0; j < C; ++j) {
      float* at = s + i * t.s_stride + j * L::kCount;
      const L state = fma(key, delta[j], L::load(at, lanes(j)) * factor);
      state.store(at, lanes(j));
      out[j] = fma(query, state, out[j]);
    }
  }
  for (int j = 0; j < C; ++j) {
    out[j].store(t.out + row * t.out_stride + column + j * L::kCount, lanes(j));
  }
}

template <class L>
void delta_recurrent(const DeltaTile& t) {
  constexpr int kWide = 4 * L::kCount;
  for (int row = 0; row < t.rows; ++row) {
    float decay[L::kCount];
    exp(L::set(t.log_decay[row * t.gate_stride])).store(decay);
    int column = 0;
    for (; column + kWide <= t.columns; column += kWide)
      delta_step<L, 4>(t, row, column, L::kCount, decay[0]);
    for (; column < t.columns; column += L::kCount) {
      const int n = t.columns - column < L::kCount ? t.columns - column : L::kCount;
      delta_step<L, 1>(t, row, column, n, decay[0]);
    }
  }
}

}  // namespace llmservice::cpu
