// Sampling: distributions, truncation against a full sort, penalties and logprobs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "engine/sampler.h"
#include "engine/vocab_math.h"

namespace llmservice {
namespace {

constexpr int32_t kVocab = 1000;

std::vector<float> random_logits(uint32_t seed, float spread = 3, int32_t vocab = kVocab) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(vocab);
  for (float& x : logits) x = normal(random);
  return logits;
}

std::vector<double> softmax(const std::vector<float>& logits, double temperature = 1) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p(logits.size());
  for (size_t i = 0; i < p.size(); ++i) p[i] = std::exp((logits[i] - top) / temperature);
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= total;
  return p;
}

int32_t token_of(Sampler& sampler, const std::vector<float>& logits, const SamplingParams& params,
                 int32_t position = 5, const TokenCounts& counts = {}) {
  return sampler.sample(logits, params, counts, position)->token;
}

TEST(VocabMath, ExponentialIsAccurateOverItsRange) {
  std::vector<float> x(200001);
  for (size_t i = 0; i < x.size(); ++i) x[i] = -static_cast<float>(i) * 4.4e-4F;
  std::vector<float> out(x.size());
  softmax_weights(x, 0, 1, out);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] < -87) {
      EXPECT_EQ(out[i], 0);
    } else {
      EXPECT_NEAR(out[i] / std::exp(static_cast<double>(x[i])), 1, 3e-7) << x[i];
    }
  }
  EXPECT_EQ(out[0], 1);
}

TEST(VocabMath, ArgmaxTakesTheLowestOfEqualIds) {
  std::vector<float> logits(100, -1);
  logits[37] = logits[90] = logits[99] = 4;
  EXPECT_EQ(argmax(logits), 37);
  std::vector<float> tail(17, -5);
  tail[16] = -4;
  EXPECT_EQ(argmax(tail), 16);
}

TEST(Sampler, DrawsFromTheTemperedDistribution) {
  const auto logits = random_logits(1, 1.5F, 12);
  Sampler sampler(12);
  const auto expected = softmax(logits, 0.7);
  constexpr int kDraws = 60000;
  std::vector<int> seen(12);
  for (int i = 0; i < kDraws; ++i) ++seen[token_of(sampler, logits, {.temperature = 0.7F, .seed = 99}, i)];
  double chi2 = 0;
  for (int t = 0; t < 12; ++t) {
    const double mean = expected[t] * kDraws;
    chi2 += (seen[t] - mean) * (seen[t] - mean) / mean;
  }
  EXPECT_LT(chi2, 31.3);  // 11 degrees of freedom, p = 0.001; the noise is fixed, so this cannot flake
}

TEST(Sampler, IsAPureFunctionOfSeedAndPosition) {
  const auto logits = random_logits(2);
  Sampler a(kVocab);
  Sampler b(kVocab);
  const SamplingParams params{.temperature = 1, .seed = 5};
  int distinct = 0;
  for (int position = 0; position < 50; ++position) {
    const int32_t token = token_of(a, logits, params, position);
    EXPECT_EQ(token, token_of(b, logits, params, position));
    SamplingParams other = params;
    other.seed = 6;
    distinct += token != token_of(a, logits, other, position) ? 1 : 0;
  }
  EXPECT_GT(distinct, 30);
}

// What truncation keeps, by sorting the whole vocabulary.
std::vector<int32_t> kept_by_sorting(const std::vector<float>& logits, const SamplingParams& s) {
  const auto p = softmax(logits, s.temperature);
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return p[a] > p[b]; });
  const double least = s.min_p * p[order[0]];
  std::erase_if(order, [&](int32_t t) { return p[t] < least; });
  if (s.top_k > 0 && order.size() > static_cast<size_t>(s.top_k)) order.resize(s.top_k);
  double total = 0;
  for (const int32_t t : order) total += p[t];
  double mass = 0;
  size_t keep = 0;
  while (keep < order.size() && (keep == 0 || mass < total * s.top_p)) mass += p[order[keep++]];
  order.resize(keep);
  std::sort(order.begin(), order.end());
  return order;
}

TEST(Truncation, KeepsWhatAFullSortWouldKeep) {
  const SamplingParams cases[] = {
      {.temperature = 1, .top_p = 0.9F},
      {.temperature = 1, .top_p = 0.05F},
      {.temperature = 1, .top_p = 1e-6F},
      {.temperature = 0.3F, .top_p = 0.99F},
      {.temperature = 1, .top_k = 1},
      {.temperature = 1, .top_k = 40},
      {.temperature = 1, .top_k = 5000},
      {.temperature = 1, .min_p = 0.02F},
      {.temperature = 1.5F, .top_p = 0.8F, .top_k = 50, .min_p = 0.01F},
  };
  Truncation truncation(kVocab);
  for (const SamplingParams& s : cases) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const auto logits = random_logits(seed);
      std::vector<float> weights(kVocab);
      softmax_weights(logits, logits[argmax(logits)], 1 / s.temperature, weights);
      std::vector<int32_t> kept;
      for (const Candidate& c : truncation.apply(weights, s)) kept.push_back(c.token);
      std::sort(kept.begin(), kept.end());
      EXPECT_EQ(kept, kept_by_sorting(logits, s))
          << "seed " << seed << " top_p " << s.top_p << " top_k " << s.top_k;
    }
  }
}

TEST(Truncation, OfEqualWeightsKeepsTheLowerIds) {
  const std::vector<float> weights(kVocab, 1);
  Truncation truncation(kVocab);
  const auto kept = truncation.apply(weights, {.temperature = 1, .top_k = 3});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].token, 0);
  EXPECT_EQ(kept[2].token, 2);
}

std::vector<int32_t> kept_of(Truncation& truncation, const std::vector<float>& logits,
                             const SamplingParams& s) {
  std::vector<float> weights(logits.size());
  softmax_weights(logits, logits[argmax(logits)], 1 / s.temperature, weights);
  std::vector<int32_t> kept;
  for (const Candidate& c : truncation.apply(weights, s)) kept.push_back(c.token);
  std::sort(kept.begin(), kept.end());
  return kept;
}

TEST(Truncation, TypicalKeepsWhatTransformersKeeps) {
  using V = std::vector<int32_t>;
  const std::vector<float> logits{4, 3.5F, 2.25F, 1, 0.5F, -0.75F, -1.5F, 3, 2, -3};
  // TypicalLogitsWarper(mass) of transformers 5: alone, after TopKLogitsWarper(5), after a temperature of 2.
  const struct {
    float mass;
    V alone, of_five, tempered;
  } cases[] = {
      {0.1F, {1}, {1}, {7}},
      {0.3F, {1, 7}, {1, 7}, {2, 7, 8}},
      {0.5F, {0, 1, 7}, {0, 1, 7}, {1, 2, 7, 8}},
      {0.7F, {0, 1, 7}, {0, 1, 7}, {0, 1, 2, 7, 8}},
      {0.9F, {0, 1, 2, 7}, {0, 1, 2, 7}, {0, 1, 2, 3, 7, 8}},
      {0.99F, {0, 1, 2, 3, 4, 7, 8}, {0, 1, 2, 7, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
  };
  Truncation truncation(10);
  for (const auto& [mass, alone, of_five, tempered] : cases) {
    EXPECT_EQ(kept_of(truncation, logits, {.temperature = 1, .typical_p = mass}), alone) << mass;
    EXPECT_EQ(kept_of(truncation, logits, {.temperature = 1, .top_k = 5, .typical_p = mass}), of_five)
        << mass;
    EXPECT_EQ(kept_of(truncation, logits, {.temperature = 2, .typical_p = mass}), tempered) << mass;
  }
}

TEST(Truncation, TypicalKeepsWhatAFullSortWouldKeep) {
  Truncation truncation(kVocab);
  for (const float mass : {0.02F, 0.2F, 0.5F, 0.9F, 0.999F}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const auto logits = random_logits(seed, 0.5F + static_cast<float>(seed % 5));
      const auto p = softmax(logits);
      double entropy = 0;
      for (const double x : p) entropy -= x * std::log(x);
      std::vector<int32_t> order(kVocab);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return std::abs(-std::log(p[a]) - entropy) < std::abs(-std::log(p[b]) - entropy);
      });
      double reached = 0;
      size_t keep = 0;
      while (keep < order.size() && reached < mass) reached += p[order[keep++]];
      order.resize(keep);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(kept_of(truncation, logits, {.temperature = 1, .typical_p = mass}), order)
          << "seed " << seed << " mass " << mass;
    }
  }
}

TEST(VocabMath, RankCountsWhatIsAtLeastAsLikely) {
  const std::vector<float> logits{1, 3, 2, 3, -1};
  EXPECT_EQ(rank_of(logits, 1), 2);
  EXPECT_EQ(rank_of(logits, 2), 3);
  EXPECT_EQ(rank_of(logits, 4), 5);
}

TEST(Sampler, PenaltiesActAsDefined) {
  std::vector<float> logits(4, 0);
  logits = {2.0F, 1.9F, -1.0F, 1.5F};
  Sampler sampler(4);
  TokenCounts counts;
  const std::vector<int32_t> prompt{0};
  counts.add_prompt(prompt);
  // A prompt token is divided by the repetition penalty, and untouched by the other two.
  EXPECT_EQ(token_of(sampler, logits, {.repetition_penalty = 1.1F}, 5, counts), 1);
  EXPECT_EQ(token_of(sampler, logits, {.presence_penalty = 1.5F}, 5, counts), 0);
  counts.add_generated(0);
  EXPECT_EQ(token_of(sampler, logits, {.presence_penalty = 0.2F}, 5, counts), 1);
  EXPECT_EQ(token_of(sampler, logits, {.frequency_penalty = 0.05F}, 5, counts), 0);
  counts.add_generated(0);
  counts.add_generated(0);
  EXPECT_EQ(token_of(sampler, logits, {.frequency_penalty = 0.05F}, 5, counts), 1);  // 2 - 3 * 0.05
  // Negative logits are multiplied, so that a penalty never helps.
  TokenCounts negative;
  const std::vector<int32_t> third{2};
  negative.add_prompt(third);
  const std::vector<float> low{-1.5F, -1.6F, -1.0F, -1.7F};
  EXPECT_EQ(token_of(sampler, low, {.repetition_penalty = 1.6F}, 5, negative), 0);
}

TEST(Sampler, ReportsLogprobsOfTheUnmodifiedDistribution) {
  const auto logits = random_logits(4);
  const auto p = softmax(logits);
  Sampler sampler(kVocab);
  TokenCounts counts;
  const std::vector<int32_t> top{argmax(logits)};
  counts.add_prompt(top);
  const auto sampled = sampler.sample(
      logits, {.temperature = 0.5F, .seed = 3, .repetition_penalty = 5, .top_logprobs = 20}, counts, 9);
  ASSERT_TRUE(sampled);
  EXPECT_NEAR(sampled->logprob, std::log(p[sampled->token]), 1e-5);
  ASSERT_EQ(sampled->alternatives.size(), 20U);
  std::vector<double> sorted = p;
  std::sort(sorted.rbegin(), sorted.rend());
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(sampled->alternatives[i].logprob, std::log(sorted[i]), 1e-5);
    EXPECT_NEAR(std::log(p[sampled->alternatives[i].token]), std::log(sorted[i]), 1e-9);
  }
  const auto bare = sampler.sample(logits, {}, {}, 9);
  EXPECT_TRUE(std::isnan(bare->logprob));
  EXPECT_TRUE(bare->alternatives.empty());
}

TEST(Sampler, RefusesLogitsThatAreNotFinite) {
  Sampler sampler(kVocab);
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    auto logits = random_logits(5);
    logits[kVocab - 1] = bad;
    EXPECT_FALSE(sampler.sample(logits, {}, {}, 0));
  }
}

}  // namespace
}  // namespace llmservice
