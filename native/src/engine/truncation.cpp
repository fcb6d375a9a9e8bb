#include "engine/truncation.h"

#include <algorithm>
#include <array>
#include <bit>
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
  std::sort(kept_.begin(), kept_.end(), [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  });
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
  return kept_;
}

}  // namespace llmservice
