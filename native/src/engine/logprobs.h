// Log-probabilities of the unmodified distribution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace llmservice {

struct TokenLogprob {
  int32_t token;
  float logprob;
};

// log of the sum of exp(logits), given weights[i] = exp(logits[i] - top).
double log_normalizer(std::span<const float> weights, float top);

// The `count` most likely tokens, best first; of equal ones the lower id first.
void top_logprobs(std::span<const float> logits, double normalizer, int32_t count,
                  std::vector<TokenLogprob>& out);

// Of these tokens, in their order.
void logprobs_of(std::span<const int32_t> tokens, std::span<const float> logits, double normalizer,
                 std::vector<TokenLogprob>& out);

}  // namespace llmservice
