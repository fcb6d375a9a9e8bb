// The noise of sampling, and who wins by it: the same in blocks, token by token and in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "engine/draw_math.h"
#include "engine/noise.h"
#include "engine/race.h"
#include "engine/vocab_math.h"

namespace llmservice {
namespace {

TEST(Noise, IsUniformAndUncorrelatedBetweenNeighbours) {
  constexpr int kDraws = 200000;
  double mean = 0;
  double square = 0;
  double neighbours = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double a = uniform(noise_key(7, 3), i) - 0.5;
    const double b = uniform(noise_key(7, 4), i) - 0.5;
    mean += a;
    square += a * a;
    neighbours += a * b;
  }
  EXPECT_NEAR(mean / kDraws, 0, 0.003);
  EXPECT_NEAR(square / kDraws, 1.0 / 12, 0.001);
  EXPECT_NEAR(neighbours / kDraws, 0, 0.001);
}

TEST(Race, OfAllTokensHasTheWinnerOfEachByItself) {
  for (const float spread : {0.1F, 1.0F, 4.0F, 30.0F}) {
    for (int32_t seed = 0; seed < 200; ++seed) {
      std::mt19937 random(static_cast<uint32_t>(seed));
      std::normal_distribution<float> normal(0, spread);
      std::vector<float> logits(997);
      for (float& x : logits) x = normal(random);
      std::vector<float> weights(logits.size());
      softmax_weights(logits, logits[argmax(logits)], 1, weights);
      const uint64_t key = noise_key(static_cast<uint64_t>(seed), seed);
      Race together(key);
      together.enter_all(weights);
      Race backwards(key);
      int32_t winner = 0;
      double best = std::numeric_limits<double>::max();
      for (auto token = static_cast<int32_t>(weights.size()); token-- > 0;) {
        backwards.enter(token, weights[token]);
        if (weights[token] == 0) continue;
        const double time = -natural_log(uniform(key, token)) / weights[token];
        if (time <= best) winner = token;
        best = std::min(best, time);
      }
      EXPECT_EQ(together.winner(), winner) << seed;
      EXPECT_EQ(backwards.winner(), winner) << seed;
    }
  }
}

}  // namespace
}  // namespace llmservice
