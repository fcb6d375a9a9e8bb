// Gated delta rule in chunks of 64 positions, on some columns of S. With G the running sum of g in the chunk:
//   (I + A) V' = β (V - e^G ⊙ (K S)),   A_ij = β_i (K Kᵀ)_ij e^{Gi - Gj} for j < i
//   O = e^G ⊙ (Q S) + P V',             P_ij = (Q Kᵀ)_ij e^{Gi - Gj} for j <= i
//   S <- e^{G_last} S + Σ_i e^{G_last - Gi} k_i V'_iᵀ
// This is the WY form of DeltaNet (U = T(βV), W = T(βK ⊙ e^G), V' = U - W S) with V' solved for at once: T
// applies to one right-hand side instead of two, and columns of S stay independent.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/lanes_math.h"
#include "backends/cpu/product.h"

namespace llmservice::cpu {

// gram = K·Kᵀ (64, 64), Q·Kᵀ (64, 64); shared by the V heads of a K head. scratch: Kᵀ (k_dim, 64).
template <class L>
void delta_gram(const float* q, const float* k, int64_t stride, int32_t k_dim, float* gram, float* scratch) {
  for (int row = 0; row < kChunk; row += L::kCount) {
    for (int d = 0; d < k_dim; d += L::kCount) {
      const int n = k_dim - d < L::kCount ? k_dim - d : L::kCount;
      L tile[L::kCount];
      for (int i = 0; i < L::kCount; ++i) tile[i] = L::load(k + (row + i) * stride + d, n);
      transpose(tile);
      for (int i = 0; i < n; ++i) tile[i].store(scratch + (d + i) * kChunk + row);
    }
  }
  product<L, false>({k, stride, 1}, {scratch, kChunk}, k_dim, {gram, kChunk}, kChunk, kChunk);
  product<L, false>({q, stride, 1}, {scratch, kChunk}, k_dim, {gram + kChunk * kChunk, kChunk}, kChunk,
                    kChunk);
}

struct ChunkScratch {
  float* s;       // (k_dim, 64): the tile's columns of S, padded with zeros
  float* keys;    // (64, k_dim): k_i e^{G_last - Gi}
  float* values;  // (64, 64): right-hand side, then V'
  float* out;     // (64, 64)
  float* a;       // (64, 64): -A below the diagonal
  float* p;       // (64, 64): P, zero above the diagonal

  ChunkScratch(float* base, int32_t k_dim)
      : s(base),
        keys(s + kChunk * k_dim),
        values(keys + kChunk * k_dim),
        out(values + kChunk * kChunk),
        a(out + kChunk * kChunk),
        p(a + kChunk * kChunk) {}
};

// Fills -A and P from the gram matrices; g (64) holds G.
template <class L>
void decayed_triangles(const float* gram, const float* beta, int64_t beta_stride, const float* g,
                       const ChunkScratch& c) {
  for (int i = 0; i < kChunk; ++i) {
    const L here = L::set(g[i]);
    const L minus_beta = L::set(-beta[i * beta_stride]);
    for (int j = 0; j < kChunk; j += L::kCount) {
      // Above the diagonal the exponent is positive and may be huge: those lanes are cut away.
      const int below = i - j < 0 ? 0 : (i - j < L::kCount ? i - j : L::kCount);
      const int through = i + 1 - j < 0 ? 0 : (i + 1 - j < L::kCount ? i + 1 - j : L::kCount);
      const L decay = exp(here - L::load(g + j));
      const int at = i * kChunk + j;
      (minus_beta * L::load(gram + at) * decay).first(below).store(c.a + at);
      (L::load(gram + kChunk * kChunk + at) * decay).first(through).store(c.p + at);
    }
  }
}

// values <- (I + A)⁻¹ values by forward substitution, all columns of the tile side by side.
template <class L>
void solve_unit_lower(const ChunkScratch& c, int vectors) {
  for (int i = 1; i < kChunk; ++i) {
    float* row = c.values + i * kChunk;
    L acc[4];
    for (int j = 0; j < vectors; ++j) acc[j] = L::load(row + j * L::kCount);
    for (int m = 0; m < i; ++m) {
      const L factor = L::set(c.a[i * kChunk + m]);
      for (int j = 0; j < vectors; ++j) {
        acc[j] = fma(factor, L::load(c.values + m * kChunk + j * L::kCount), acc[j]);
      }
    }
    for (int j = 0; j < vectors; ++j) acc[j].store(row + j * L::kCount);
  }
}

template <class L>
void delta_chunk(const DeltaTile& t, int first, const float* gram, const ChunkScratch& c) {
  const float* q = t.q + first * t.qk_stride;
  const float* k = t.k + first * t.qk_stride;
  const float* beta = t.beta + first * t.gate_stride;
  const int width = (t.columns + L::kCount - 1) / L::kCount * L::kCount;
  float g[kChunk];
  float decay[kChunk];  // e^G
  float rest[kChunk];   // e^{G_last - G}
  float running = 0;
  for (int i = 0; i < kChunk; ++i) g[i] = running += t.log_decay[(first + i) * t.gate_stride];
  for (int i = 0; i < kChunk; i += L::kCount) {
    exp(L::load(g + i)).store(decay + i);
    exp(L::set(g[kChunk - 1]) - L::load(g + i)).store(rest + i);
  }
  decayed_triangles<L>(gram, beta, t.gate_stride, g, c);

  product<L, false>({k, t.qk_stride, 1}, {c.s, kChunk}, t.k_dim, {c.values, kChunk}, kChunk, width);
  product<L, false>({q, t.qk_stride, 1}, {c.s, kChunk}, t.k_dim, {c.out, kChunk}, kChunk, width);
  for (int i = 0; i < kChunk; ++i) {
    const L factor = L::set(decay[i]);
    const L scale = L::set(beta[i * t.gate_stride]);
    for (int j = 0; j < width; j += L::kCount) {
      const int n = t.columns - j < L::kCount ? t.columns - j : L::kCount;
      const L value = L::load(t.v + (first + i) * t.v_stride + j, n);
      float* right = c.values + i * kChunk + j;
      (scale * (value - factor * L::load(right))).store(right);
      float* out = c.out + i * kChunk + j;
      (factor * L::load(out)).store(out);
    }
  }
  solve_unit_lower<L>(c, width / L::kCount);
  product<L, true>({c.p, kChunk, 1}, {c.values, kChunk}, kChunk, {c.out, kChunk}, kChunk, width);
  for (int i = 0; i < kChunk; ++i) {
    for (int j = 0; j < width; j += L::kCount) {
      const int n = t.columns - j < L::kCount ? t.columns - j : L::kCount;
      L::load(c.out + i * kChunk + j).store(t.out + (first + i) * t.out_stride + j, n);
    }
    for (int d = 0; d < t.k_dim; ++d) c.keys[i * t.k_dim + d] = k[i * t.qk_stride + d] * rest[i];
  }
  const L last = L::set(decay[kChunk - 1]);
  for (int d = 0; d < t.k_dim; ++d) {
    for (int j = 0; j < width; j += L::kCount) {
      float* s = c.s + d * kChunk + j;
      (L::load(s) * last).store(s);
    }
  }
  product<L, true>({c.keys, 1, t.k_dim}, {c.values, kChunk}, kChunk, {c.s, kChunk}, t.k_dim, width);
}

template <class L>
void delta_chunks(const DeltaTile& t) {
  const ChunkScratch c(t.scratch, t.k_dim);
  for (int d = 0; d < t.k_dim; ++d) {
    for (int j = 0; j < t.columns; j += L::kCount) {
      const int n = t.columns - j < L::kCount ? t.columns - j : L::kCount;
      L::load(t.s + d * t.s_stride + j, n).store(c.s + d * kChunk + j);
    }
  }
  for (int first = 0; first < t.rows; first += kChunk) {
    delta_chunk<L>(t, first, t.gram + first / kChunk * t.gram_stride, c);
  }
  for (int d = 0; d < t.k_dim; ++d) {
    for (int j = 0; j < t.columns; j += L::kCount) {
      const int n = t.columns - j < L::kCount ? t.columns - j : L::kCount;
      L::load(c.s + d * kChunk + j).store(t.s + d * t.s_stride + j, n);
    }
  }
}

}  // namespace llmservice::cpu
