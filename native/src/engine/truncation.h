// Which tokens may be drawn: min_p, then top_k, then top_p, then typical_p, each over what the one before
// left. Masses are integers (draw_math.h): a decision does not depend on the order of a sum, so every backend
// comes to the same one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan.h"

namespace llmservice {

struct Candidate {
  int32_t token;
  float weight;
};

class Truncation {
 public:
  explicit Truncation(int32_t vocab) : atypical_(vocab) { kept_.reserve(vocab); }

  static bool applies(const SamplingParams& params) {
    return params.top_k > 0 || params.top_p < 1 || params.min_p > 0 || params.typical_p < 1;
  }
  // `weights` (V) are softmax weights relative to the largest, which is 1. Never empty. Valid until the next
  // call.
  std::span<const Candidate> apply(std::span<const float> weights, const SamplingParams& params);

 private:
  // Best first, of weights that are at least `least`; of equal ones the lower ids.
  void keep_largest(std::span<const float> weights, float least, size_t count);
  uint64_t keep_from(std::span<const float> weights, float least, float share);
  template <class Before>
  void keep_mass(uint64_t wanted, const Before& before);
  void keep_typical(float share);

  std::vector<Candidate> kept_;
  std::vector<int64_t> atypical_;  // (V) of each id in kept_: how far its surprise is from the expected one
};

}  // namespace llmservice
