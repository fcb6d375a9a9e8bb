#include "engine/sampler.h"

#include <limits>

#include "engine/noise.h"
#include "engine/race.h"
#include "engine/vocab_math.h"

namespace llmservice {
namespace {

// Repetition as in CTRL (divide positive logits, multiply negative ones), over prompt and output; presence
// and frequency as OpenAI defines them, over the output.
void penalize(std::span<float> logits, const SamplingParams& params, const TokenCounts& counts) {
  for (const auto& [token, generated] : counts.generated()) {
    float& logit = logits[token];
    logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    if (generated > 0) {
      logit -= params.presence_penalty + params.frequency_penalty * static_cast<float>(generated);
    }
  }
}

void forbid_all_but(std::span<const uint32_t> allowed, std::span<float> logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    const bool may = (allowed[i / 32] >> (i % 32) & 1) != 0;
    logits[i] = may ? logits[i] : -std::numeric_limits<float>::infinity();
  }
}

}  // namespace

std::optional<Sampled> Sampler::sample(std::span<const float> logits, const SamplingParams& params,
                                       const TokenCounts& counts, int32_t position,
                                       std::span<const uint32_t> allowed, const RulesAt* rules) {
  if (!are_usable(logits)) return std::nullopt;
  std::span<const float> adjusted = logits;
  const bool ruled = rules != nullptr && rules->apply();
  if (ruled || has_penalties(params) || !allowed.empty()) {
    adjusted_.assign(logits.begin(), logits.end());
    // A bias comes before the penalties, as in vLLM.
    if (ruled) apply_rules(*rules, adjusted_);
    if (has_penalties(params)) penalize(adjusted_, params, counts);
    if (!allowed.empty()) forbid_all_but(allowed, adjusted_);
    if (adjusted_[argmax(adjusted_)] == -std::numeric_limits<float>::infinity()) return std::nullopt;
    adjusted = adjusted_;
  }
  Sampled sampled{.token = params.temperature == 0 ? argmax(adjusted) : draw(adjusted, params, position),
                  .logprob = std::numeric_limits<float>::quiet_NaN(),
                  .alternatives = {}};
  if (params.top_logprobs) {
    const std::span<const int32_t> reported =
        rules != nullptr ? std::span<const int32_t>(rules->rules.reported) : std::span<const int32_t>();
    report(logits, *params.top_logprobs, reported, sampled);
  }
  return sampled;
}

std::optional<Sampled> Sampler::score(std::span<const float> logits, int32_t token, int32_t alternatives) {
  if (!are_usable(logits)) return std::nullopt;
  Sampled scored{.token = token, .logprob = 0, .alternatives = {}};
  report(logits, alternatives, {}, scored);
  return scored;
}

void Sampler::report(std::span<const float> logits, int32_t alternatives, std::span<const int32_t> reported,
                     Sampled& sampled) {
  const float top = logits[argmax(logits)];
  softmax_weights(logits, top, 1, weights_);
  const double normalizer = log_normalizer(weights_, top);
  sampled.logprob = static_cast<float>(logits[sampled.token] - normalizer);
  if (reported.empty()) {
    top_logprobs(logits, normalizer, alternatives, alternatives_);
  } else {
    logprobs_of(reported, logits, normalizer, alternatives_);
  }
  sampled.alternatives = alternatives_;
}

int32_t Sampler::draw(std::span<const float> logits, const SamplingParams& params, int32_t position) {
  softmax_weights(logits, logits[argmax(logits)], 1 / params.temperature, weights_);
  Race race(noise_key(params.seed, position));
  if (Truncation::applies(params)) {
    for (const Candidate& c : truncation_.apply(weights_, params)) race.enter(c.token, c.weight);
  } else {
    race.enter_all(weights_);
  }
  return race.winner();
}

}  // namespace llmservice
