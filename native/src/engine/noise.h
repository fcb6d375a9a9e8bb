// Counter-based noise for sampling: a pure function of (seed, position, token), so that the same request
// draws the same token in any batch, after preemption, and under speculation.
#pragma once

#include <cstdint>

namespace llmservice {

// The finalizer of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// The stream of one position of one request.
constexpr uint64_t noise_key(uint64_t seed, int32_t position) {
  return mix64(mix64(seed + kGolden) + (static_cast<uint64_t>(position) + 1) * kGolden);
}

// Uniform in (0, 1), 53 bits.
constexpr double uniform(uint64_t key, int32_t token) {
  const uint64_t bits = mix64(key + (static_cast<uint64_t>(token) + 1) * kGolden);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

}  // namespace llmservice
