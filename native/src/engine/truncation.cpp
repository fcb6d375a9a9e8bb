#include "engine/truncation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

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
  std::array<double, kBins> mass{};
  double total = 0;
};

Histogram histogram(std::span<const float> weights, float least) {
  Histogram h;
  for (const float w : weights) {
    if (w < least) continue;
    const int bin = bin_of(w);
    ++h.count[bin];
    h.mass[bin] += w;
  }
  for (const double mass : h.mass) h.total += mass;
  return h;
}

// The last bin that can hold a kept token.
int last_bin(const Histogram& h, const SamplingParams& params) {
  const double wanted = h.total * params.top_p * (1 + 1e-9);  // the margin covers the order of summation
  int64_t count = 0;
  double mass = 0;
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
  double total = h.total;
  if (params.top_k > 0) {
    if (kept_.size() > static_cast<size_t>(params.top_k)) kept_.resize(params.top_k);
    total = 0;
    for (const Candidate& c : kept_) total += c.weight;
  }
  if (params.top_p < 1) {
    // The smallest prefix that reaches the mass: the token that crosses it stays.
    double mass = 0;
    size_t keep = 0;
    while (keep < kept_.size() && (keep == 0 || mass < total * params.top_p)) mass += kept_[keep++].weight;
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
// the tokens ordered by |-log p - H|, H the entropy, the fewest whose mass reaches `mass`.
void Truncation::keep_typical(float mass) {
  double total = 0;
  for (const Candidate& c : kept_) total += c.weight;
  double entropy = 0;
  for (const Candidate& c : kept_) {
    const double p = c.weight / total;
    surprise_[c.token] = -std::log(p);
    entropy += p * surprise_[c.token];
  }
  for (const Candidate& c : kept_) surprise_[c.token] = std::abs(surprise_[c.token] - entropy);
  const auto before = [&](const Candidate& a, const Candidate& b) {
    const double left = surprise_[a.token];
    const double right = surprise_[b.token];
    return left != right ? left < right : a.token < b.token;
  };
  // Halves the stretch that the cut lies in, so that few tokens are sorted whatever the size of the
  // vocabulary.
  constexpr ptrdiff_t kFew = 64;
  const double wanted = total * mass;
  double reached = 0;  // before `first`
  auto first = kept_.begin();
  auto last = kept_.end();
  while (last - first > kFew) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, before);
    double half = 0;
    for (auto c = first; c != middle; ++c) half += c->weight;
    if (reached + half >= wanted) {
      last = middle;
    } else {
      reached += half;
      first = middle;
    }
  }
  std::sort(first, last, before);
  while (first != last && (first == kept_.begin() || reached < wanted)) reached += (first++)->weight;
  kept_.erase(first, kept_.end());
}

}  // namespace llmservice
