// Draws one token from one row of logits: rules, penalties, mask, temperature, truncation, then
// Gumbel-argmax.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/logprobs.h"
#include "engine/plan.h"
#include "engine/token_counts.h"
#include "engine/token_rules.h"
#include "engine/truncation.h"

namespace llmservice {

struct Sampled {
  int32_t token;
  float logprob;                               // NaN when not asked for
  std::span<const TokenLogprob> alternatives;  // valid until the next call
};

class Sampler {
 public:
  explicit Sampler(int32_t vocab) : weights_(vocab), truncation_(vocab) { adjusted_.reserve(vocab); }

  // Logprob of `token`, and the alternatives, under unmodified logits. Nothing when these are degenerate.
  std::optional<Sampled> score(std::span<const float> logits, int32_t token, int32_t alternatives);

  // `position` is the index that the token will have in its sequence; `allowed` as in Constraint; `rules`
  // null: none. Nothing when the logits (V) are degenerate (not all finite, or all equal), or no token is
  // left.
  std::optional<Sampled> sample(std::span<const float> logits, const SamplingParams& params,
                                const TokenCounts& counts, int32_t position,
                                std::span<const uint32_t> allowed = {}, const RulesAt* rules = nullptr);

 private:
  // `reported`: in place of the likeliest.
  void report(std::span<const float> logits, int32_t alternatives, std::span<const int32_t> reported,
              Sampled& sampled);
  int32_t draw(std::span<const float> logits, const SamplingParams& params, int32_t position);

  std::vector<float> weights_;   // (V)
  std::vector<float> adjusted_;  // (V)
  Truncation truncation_;
  std::vector<TokenLogprob> alternatives_;
};

}  // namespace llmservice
