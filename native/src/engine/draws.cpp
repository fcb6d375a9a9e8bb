// How the token of an output row is drawn: on the device, asked for before the step's outcome is known, or
// from logits that were brought to the host.
#include <limits>

#include "engine/engine.h"
#include "engine/logit_hash.h"
#include "engine/vocab_math.h"

namespace llmservice {
namespace {

constexpr float kNoLogprob = std::numeric_limits<float>::quiet_NaN();

// Seconds of processor time to compute what one sequence may say next. Most grammars take microseconds, those
// that can be read in many ways much more, and every other sequence waits meanwhile: beyond a second in all,
// so many for each token.
constexpr double kConstraintSeconds = 1;
constexpr double kConstraintSecondsPerToken = 0.02;

SampleStatus why_nothing(std::span<const float> logits) {
  return !all_finite(logits)   ? SampleStatus::kNotFinite
         : !are_usable(logits) ? SampleStatus::kCollapsed
                               : SampleStatus::kDeadEnd;
}

}  // namespace

std::span<const uint32_t> Engine::ask_constraint(Output& output, Slot& slot) {
  if (!slot.constraint) return {};
  const double asked = thread_seconds();
  const std::span<const uint32_t> allowed = slot.constraint->allowed();
  slot.constraint_seconds += thread_seconds() - asked;
  output.slow =
      slot.constraint_seconds > kConstraintSeconds + kConstraintSecondsPerToken * slot.constrained_tokens++;
  return allowed;
}

// Of a row of the logits begun last. A draft's row counts only when it and the drafts before it are right, so
// it is asked for as if they were.
void Engine::ask_device(Output& output, int32_t row) {
  Slot& slot = slots_.at(output.slot);
  const SamplingParams& params = slot.sampling;
  if (!output.sample) {
    if (!model_->samples()) return;
    output.result = device_sampler_.score(row, slot.tokens[output.position], *params.top_logprobs);
    return;
  }
  // A constraint knows what may follow a draft once it has accepted the draft, and does not go back.
  if (slot.constraint && output.draft) return;
  // On a device each takes a result of its own, and a step has a bounded number of them.
  const auto reported = static_cast<int32_t>(slot.rules.reported.size());
  if (reported > 0 && reported > spare_samples_) return;
  // slot.position is what was known when the step began: of its drafts, some may be known by now.
  const auto ahead = std::span<const int32_t>(slot.drafts)
                         .subspan(slot.known() - slot.position, output.position - slot.known());
  RulesAt rules = slot.rules_now();
  if (!ahead.empty() && (rules.apply() || slot.rules.reasoning)) {
    generated_.assign(rules.generated.begin(), rules.generated.end());
    generated_.insert(generated_.end(), ahead.begin(), ahead.end());
    rules.generated = generated_;
  }
  if (!device_sampler_.takes(params, slot.counts, &rules, ahead)) return;
  const auto draw = [&](std::span<const uint32_t> among) {
    return device_sampler_.draw(row, params, slot.counts, output.position, among, &rules, ahead);
  };
  const std::span<const uint32_t> allowed = ask_constraint(output, slot);
  if (slot.constraint && slot.constraint->opening()) output.free = draw({});
  output.result = draw(allowed);
  output.reported = device_sampler_.asked();
  for (const int32_t token : slot.rules.reported) device_sampler_.score(row, token, 0);
  spare_samples_ -= reported;
}

// Of a row that was drawn on the device.
void Engine::list_alternatives(const Output& output, const SampleResult& result,
                               std::vector<TokenLogprob>& alternatives) const {
  const std::vector<int32_t>& reported = slots_.at(output.slot).rules.reported;
  for (size_t i = 0; output.sample && i < reported.size(); ++i) {
    alternatives.push_back({reported[i], samples_[output.reported + i].logprob});
  }
  if (!alternatives.empty()) return;
  for (int32_t i = 0; i < result.alternatives; ++i) {
    alternatives.push_back({result.top_tokens[i], result.top_logprobs[i]});
  }
}

void Engine::draw_on_device(const Output& output, Drawn& drawn) const {
  const Slot& slot = slots_.at(output.slot);
  const SampleResult* result = &samples_[*output.result];
  if (output.free) {
    const SampleResult& free = samples_[*output.free];
    if (free.status != SampleStatus::kDrawn || free.token == slot.constraint->opening()) result = &free;
  }
  drawn.status = result->status;
  drawn.token = result->token;
  drawn.logprob = slot.sampling.top_logprobs ? result->logprob : kNoLogprob;
  drawn.rank = result->rank;
  drawn.hash = result->hash;
  drawn.alternatives.clear();
  if (result->status == SampleStatus::kDrawn) list_alternatives(output, *result, drawn.alternatives);
}

void Engine::draw_on_host(Output& output, std::span<const float> logits, Sampler& sampler, Drawn& drawn) {
  Slot& slot = slots_.at(output.slot);
  std::optional<Sampled> sampled;
  drawn.rank = 0;
  drawn.hash = 0;
  if (!output.sample) {
    sampled = sampler.score(logits, drawn.token, *slot.sampling.top_logprobs);
    if (sampled) drawn.rank = rank_of(logits, drawn.token);
  } else if (!slot.finished) {
    const std::span<const uint32_t> allowed = ask_constraint(output, slot);
    const RulesAt rules = slot.rules_now();
    const auto sample = [&](std::span<const uint32_t> among) {
      return sampler.sample(logits, slot.sampling, slot.counts, output.position, among, &rules);
    };
    const auto opening = slot.constraint ? slot.constraint->opening() : std::nullopt;
    if (opening) sampled = sample({});
    if (!opening || (sampled && sampled->token != *opening)) sampled = sample(allowed);
  }
  const bool again = output.sample && sampled && sampled->token == slot.tokens.back();
  if (hashes_logits_ || again) drawn.hash = logit_hash(logits);
  drawn.status = sampled ? SampleStatus::kDrawn : why_nothing(logits);
  drawn.token = sampled ? sampled->token : 0;
  drawn.logprob = sampled ? sampled->logprob : kNoLogprob;
  drawn.alternatives.clear();
  if (sampled) drawn.alternatives.assign(sampled->alternatives.begin(), sampled->alternatives.end());
}

}  // namespace llmservice
