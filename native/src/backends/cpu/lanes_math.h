// Elementary functions on lanes, from fused multiply-adds alone: the same bits in every instruction family.
#pragma once

namespace llmservice::cpu {

// e^x within 2 ulp on [-87.3, 88.3]; saturates outside (no zero, no infinity); NaN stays NaN.
// Cody-Waite reduction to |r| <= ln2/2, then the degree-7 polynomial of Cephes' expf.
template <class L>
L exp(L x) {
  const L magic = L::set(12582912.0f);  // 1.5·2^23: adding it rounds to an integer
  x = min(L::set(88.37f), max(L::set(-87.33f), x));
  const L biased = fma(x, L::set(1.44269504088896341f), magic);
  const L n = biased - magic;
  L r = fma(n, L::set(-0.693359375f), x);
  r = fma(n, L::set(2.12194440e-4f), r);
  L p = L::set(1.9875691500e-4f);
  p = fma(p, r, L::set(1.3981999507e-3f));
  p = fma(p, r, L::set(8.3334519073e-3f));
  p = fma(p, r, L::set(4.1665795894e-2f));
  p = fma(p, r, L::set(1.6666665459e-1f));
  p = fma(p, r, L::set(5.0000001201e-1f));
  p = fma(p, r * r, r + L::set(1.0f));
  return p * pow2_biased(biased);
}

template <class L>
L sigmoid(L x) {
  const L one = L::set(1.0f);
  return one / (one + exp(L::zero() - x));
}

template <class L>
L silu(L x) {
  return x * sigmoid(x);
}

// 0.5x(1 + tanh(u)) is x * sigmoid(2u), with u = sqrt(2/pi)(x + 0.044715x^3).
template <class L>
L gelu(L x) {
  const L cubic = fma(x * x * x, L::set(0.044715f), x);
  return x * sigmoid(cubic * L::set(1.59576912160573081f));
}

// x Φ(x), Φ the normal distribution: max(x, 0) - |x| erfc(z) / 2, z = |x| / sqrt(2). erfc(z) is t exp(-z² +
// p(t)), t = 1 / (1 + z / 2), within a fraction of 1.2e-7: Numerical Recipes in C, 2nd edition, chapter 6.2.
template <class L>
L erf_gelu(L x) {
  const L zero = L::zero();
  const L one = L::set(1.0f);
  const L size = max(x, zero - x);
  const L z = size * L::set(0.70710678118654752f);
  const L t = one / fma(z, L::set(0.5f), one);
  L p = L::set(0.17087277f);
  p = fma(p, t, L::set(-0.82215223f));
  p = fma(p, t, L::set(1.48851587f));
  p = fma(p, t, L::set(-1.13520398f));
  p = fma(p, t, L::set(0.27886807f));
  p = fma(p, t, L::set(-0.18628806f));
  p = fma(p, t, L::set(0.09678418f));
  p = fma(p, t, L::set(0.37409196f));
  p = fma(p, t, L::set(1.00002368f));
  p = fma(p, t, L::set(-1.26551223f));
  const L beyond = t * exp(p - z * z) * L::set(0.5f);
  return max(zero, x) - size * beyond;
}

// limit * tanh(x / limit), tanh(y) = 1 - 2 / (e^2y + 1).
template <class L>
L capped(L x, float limit) {
  const L one = L::set(1.0f);
  const L two = L::set(2.0f);
  const L bounded = one - two / (exp(x * L::set(2.0f / limit)) + one);
  return bounded * L::set(limit);
}

}  // namespace llmservice::cpu
