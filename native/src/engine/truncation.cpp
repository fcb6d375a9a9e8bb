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

int bin_of(float weight) {
  const int top = std::bit_cast<int32_t>(1.0f) >> (23 - kMantissaBits);
  return std::clamp(top - (std::bit_cast<int32_t>(weight) >> (23 - kMantissaBits)), 0, kBins - 1);
}

struct Histogram {
  std::array<int64_t, kBins> count{};
  std::array<uint64_t, kBins> mass{};
  uint64_t total = 0;
};

// What a prefix has to reach to hold `share` of `total`.
uint64_t wanted_of(uint64_t total, float share) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(total) * static_cast<double>(share)));
}

Histogram histogram(std::span<const float> weights, float least) {
  Histogram h;
  for (const float w : weights) {
    if (w < least) continue;
    const int bin = bin_of(w);
    ++h.count[bin];
    h.mass[bin] += mass_of(w);
  }
  for (const uint64_t mass : h.mass) h.total += mass;
  return h;
}

// The last bin that can hold a kept token.
int last_bin(const Histogram& h, const SamplingParams& params) {
  const uint64_t wanted = wanted_of(h.total, params.top_p);
  int64_t count = 0;
  uint64_t mass = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    count += h.count[bin];
    mass += h.mass[bin];
    if (params.top_k > 0 && count >= params.top_k) return bin;
    if (params.top_k == 0 && params.top_p < 1 && mass >= wanted) return bin;
  }
  return kBins - 1;
}

}  // namespace

std::span<const Candidate> Truncation::apply(std::span<const float> weights, const SamplingParams& params) {
  // Weight 0 stands for what underflowed; it can never be drawn.
  const float least = std::max(params.min_p, std::numeric_limits<float>::min());
  const Histogram h = histogram(weights, least);
  const int last = last_bin(h, params);
  kept_.clear();
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] >= least && bin_of(weights[i]) <= last)
      kept_.push_back({static_cast<int32_t>(i), weights[i]});
  }
  if (params.top_k > 0 || params.top_p < 1) sort_by_weight();
  uint64_t total = h.total;
  if (params.top_k > 0) {
    if (kept_.size() > static_cast<size_t>(params.top_k)) kept_.resize(params.top_k);
    total = 0;
    for (const Candidate& c : kept_) total += mass_of(c.weight);
  }
  if (params.top_p < 1) {
    // The smallest prefix that reaches the mass: the token that crosses it stays.
    const uint64_t wanted = wanted_of(total, params.top_p);
    uint64_t mass = 0;
    size_t keep = 0;
    while (keep < kept_.size() && (keep == 0 || mass < wanted)) mass += mass_of(kept_[keep++].weight);
    kept_.resize(keep);
  }
  if (params.typical_p < 1) keep_typical(params.typical_p);
  return kept_;
}

void Truncation::sort_by_weight() {
  std::sort(kept_.begin(), kept_.end(), [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  });
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
  // Halves the stretch that the cut lies in, so that few tokens are sorted whatever the size of the
  // vocabulary.
  constexpr ptrdiff_t kFew = 64;
  const uint64_t wanted = wanted_of(total, share);
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

}  // namespace llmservice
