#include "engine/race.h"

#include <algorithm>

#include "engine/draw_math.h"
#include "engine/noise.h"

namespace llmservice {
namespace {

constexpr int32_t kTokens = 64;

// Whether one of the tokens from `first` on may have 1 - u <= lost · w: false for most blocks once a few
// tokens have run. Of u it takes 24 bits, of which 1 - u is more than the distance to all ones: in integers
// and floats that vectorize, whatever the instructions.
[[gnu::always_inline]] inline bool any_may_win(uint64_t key, int32_t first, const float* weights,
                                               float lost) {
  uint32_t any = 0;
  for (int32_t i = 0; i < kTokens; ++i) {
    const uint64_t bits = mix64(key + (static_cast<uint64_t>(first + i) + 1) * kGolden);
    const auto missing = static_cast<float>(static_cast<int32_t>(0xffffff - (bits >> 40)));
    any |= missing <= lost * weights[i] ? 1u : 0u;
  }
  return any != 0;
}

using MayWin = bool (*)(uint64_t key, int32_t first, const float* weights, float lost);

bool any_may_win_anywhere(uint64_t key, int32_t first, const float* weights, float lost) {
  return any_may_win(key, first, weights, lost);
}

#if defined(__x86_64__)
// Products of 64 bits, of which most of a hash consists, are one instruction for eight tokens here.
[[gnu::target("avx512f,avx512dq,avx512vl")]] bool any_may_win_avx512(uint64_t key, int32_t first,
                                                                     const float* weights, float lost) {
  return any_may_win(key, first, weights, lost);
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
MayWin for_this_machine() { return has_avx512() ? any_may_win_avx512 : any_may_win_anywhere; }
#else
MayWin for_this_machine() { return any_may_win_anywhere; }
#endif

}  // namespace

void Race::enter(int32_t token, float weight) {
  const double u = uniform(key_, token);
  if (weight == 0 || 1 - u > lost_ * weight) return;
  const double time = -natural_log(u) / weight;
  if (time < best_ || (time == best_ && token < winner_)) {
    best_ = time;
    lost_ = time * (1 + 0x1p-40);
    winner_ = token;
  }
}

void Race::enter_all(std::span<const float> weights) {
  static const MayWin may_win = for_this_machine();
  const auto count = static_cast<int32_t>(weights.size());
  for (int32_t first = 0; first < count; first += kTokens) {
    const int32_t end = std::min(first + kTokens, count);
    // In units of 2^-24, and more than rounding to float takes away; infinite where a float might not hold
    // it.
    const float lost =
        lost_ < 0x1p100 ? static_cast<float>(lost_ * 0x1.001p24) : std::numeric_limits<float>::infinity();
    if (end - first == kTokens && !may_win(key_, first, &weights[first], lost)) continue;
    for (int32_t token = first; token < end; ++token) enter(token, weights[token]);
  }
}

}  // namespace llmservice
