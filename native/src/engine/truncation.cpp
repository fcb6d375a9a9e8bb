#include "engine/truncation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/draw_math.h"

namespace llmservice {
namespace {

// Bins of a histogram over weights in (0, 1]: the exponent and three mantissa bits, larger weights first. A
// cut found in the histogram leaves few tokens to sort, whatever the size of the vocabulary.
constexpr int kMantissaBits = 3;
constexpr int kBins = (127 + 1) << kMantissaBits;
constexpr int kTopBin = std::bit_cast<int32_t>(1.0f) >> (23 - kMantissaBits);

int bin_of(float weight) {
  return std::clamp(kTopBin - (std::bit_cast<int32_t>(weight) >> (23 - kMantissaBits)), 0, kBins - 1);
}

// The smallest weight of a bin, but of the last, which takes all below it.
float least_of(int bin) {
  return bin < kBins - 1 ? std::bit_cast<float>((kTopBin - bin) << (23 - kMantissaBits)) : 0;
}

// What a prefix has to reach to hold `share` of `total`.
uint64_t wanted_of(uint64_t total, float share) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(total) * static_cast<double>(share)));
}

// take(token, weight) of every weight of at least `least`, which `take` may raise. Blocks without one take a
// few instructions.
template <class Take>
void for_each_from(const float& least, std::span<const float> weights, const Take& take) {
  constexpr size_t kBlock = 32;
  for (size_t first = 0; first < weights.size(); first += kBlock) {
    const std::span<const float> block = weights.subspan(first, std::min(kBlock, weights.size() - first));
    if (block.size() == kBlock) {
      uint32_t any = 0;
      for (size_t i = 0; i < kBlock; ++i) any |= block[i] >= least ? 1u : 0u;
      if (any == 0) continue;
    }
    for (size_t i = 0; i < block.size(); ++i) {
      if (block[i] >= least) take(static_cast<int32_t>(first + i), block[i]);
    }
  }
}

bool is_likelier(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

}  // namespace

std::span<const Candidate> Truncation::apply(std::span<const float> weights, const SamplingParams& params) {
  // Weight 0 stands for what underflowed; it can never be drawn.
  const float least = std::max(params.min_p, std::numeric_limits<float>::min());
  uint64_t total = 0;
  if (params.top_k > 0) {
    keep_largest(weights, least, static_cast<size_t>(params.top_k));
    for (const Candidate& c : kept_) total += mass_of(c.weight);
  } else {
    total = keep_from(weights, least, params.top_p);
  }
  if (params.top_p < 1) keep_mass(wanted_of(total, params.top_p), is_likelier);
  if (params.typical_p < 1) keep_typical(params.typical_p);
  return kept_;
}

// As ids ascend, a later token of the same weight as the last of `count` never takes its place.
void Truncation::keep_largest(std::span<const float> weights, float least, size_t count) {
  kept_.clear();
  const auto drop_smaller = [&] {
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(count - 1), kept_.end(),
                     is_likelier);
    kept_.resize(count);
  };
  for_each_from(least, weights, [&](int32_t token, float weight) {
    kept_.push_back({token, weight});
    if (kept_.size() < 2 * count) return;
    drop_smaller();
    least = std::nextafter(kept_.back().weight, 2.0f);
  });
  if (kept_.size() > count) drop_smaller();
  std::sort(kept_.begin(), kept_.end(), is_likelier);
}

// All that can be of the fewest whose mass is `share` of what all of at least `least` have, which it returns.
uint64_t Truncation::keep_from(std::span<const float> weights, float least, float share) {
  uint64_t total = 0;
  if (share < 1) {
    std::array<uint64_t, kBins> masses{};
    for (const float w : weights) {
      if (w >= least) masses[bin_of(w)] += mass_of(w);
    }
    for (const uint64_t mass : masses) total += mass;
    const uint64_t wanted = wanted_of(total, share);
    int bin = 0;
    for (uint64_t mass = masses[0]; mass < wanted && bin < kBins - 1; mass += masses[bin]) ++bin;
    least = std::max(least, least_of(bin));
  }
  kept_.clear();
  for_each_from(least, weights, [&](int32_t token, float weight) { kept_.push_back({token, weight}); });
  return total;
}

// The fewest of kept_ in the order of `before` whose mass is `wanted`: the token that crosses it stays.
// Halves the stretch that the cut lies in, so that few tokens are sorted whatever the size of the vocabulary.
template <class Before>
void Truncation::keep_mass(uint64_t wanted, const Before& before) {
  constexpr ptrdiff_t kFew = 64;
  uint64_t reached = 0;  // before `first`
  auto first = kept_.begin();
  auto last = kept_.end();
  while (last - first > kFew) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, before);
    uint64_t half = 0;
    for (auto c = first; c != middle; ++c) half += mass_of(c->weight);
    if (reached + half >= wanted) {
      last = middle;
    } else {
      reached += half;
      first = middle;
    }
  }
  std::sort(first, last, before);
  while (first != last && (first == kept_.begin() || reached < wanted)) reached += mass_of((first++)->weight);
  kept_.erase(first, kept_.end());
}

// Locally typical sampling (Meister, Pimentel, Wiher, Cotterell: "Locally Typical Sampling", TACL 2023): of
// the tokens ordered by |-log p - H|, H the entropy, the fewest whose mass reaches `share`. As p = w / Σw,
// that is |-log w - E[-log w]|: the normalizer cancels.
void Truncation::keep_typical(float share) {
  uint64_t total = 0;
  uint64_t moment = 0;
  for (const Candidate& c : kept_) {
    total += mass_of(c.weight);
    moment += (mass_of(c.weight) * surprise_of(c.weight)) >> kSurpriseBits;
  }
  const auto expected = static_cast<int64_t>(static_cast<double>(moment) / static_cast<double>(total) *
                                             static_cast<double>(1 << kSurpriseBits));
  for (const Candidate& c : kept_) {
    atypical_[c.token] = std::abs(static_cast<int64_t>(surprise_of(c.weight)) - expected);
  }
  const auto before = [&](const Candidate& a, const Candidate& b) {
    const int64_t left = atypical_[a.token];
    const int64_t right = atypical_[b.token];
    return left != right ? left < right : a.token < b.token;
  };
  keep_mass(wanted_of(total, share), before);
}

}  // namespace llmservice
