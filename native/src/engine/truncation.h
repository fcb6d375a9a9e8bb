// Which tokens may be drawn: min_p, then top_k, then top_p, then typical_p, each over what the one before
// left.
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
  explicit Truncation(int32_t vocab) : surprise_(vocab) { kept_.reserve(vocab); }

  static bool applies(const SamplingParams& params) {
    return params.top_k > 0 || params.top_p < 1 || params.min_p > 0 || params.typical_p < 1;
  }
  // `weights` (V) are softmax weights relative to the largest, which is 1. Never empty. Valid until the next
  // call.
  std::span<const Candidate> apply(std::span<const float> weights, const SamplingParams& params);

 private:
  void sort_by_weight();
  void keep_typical(float mass);

  std::vector<Candidate> kept_;
  std::vector<double> surprise_;  // (V) of each id in kept_, how far from the expected one
};

}  // namespace llmservice
