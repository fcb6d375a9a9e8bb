// What a step's logits give: sampled tokens, scores of prompt tokens, and the sequences that end with either.
// Logits are made a few rows at a time, in the order of the outputs, so that their memory is bounded.
#include <algorithm>
#include <ctime>
#include <limits>

#include "engine/engine.h"
#include "engine/logit_hash.h"
#include "engine/vocab_math.h"

namespace llmservice {
namespace {

// Seconds of processor time to tell what one sequence may say next. Most forms take microseconds, forms that
// can be read in many ways much more, and every other sequence waits meanwhile: beyond a second in all, so
// many for each token.
constexpr double kFormSeconds = 1;
constexpr double kFormSecondsPerToken = 0.02;

double thread_seconds() {
  timespec spent;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

}  // namespace

void Engine::look_at_outputs(StepResult& result) {
  const auto vocab = static_cast<size_t>(info_.vocab_size);
  const auto total = static_cast<int32_t>(outputs_.size());
  for (int32_t first = 0; first < total; first += Model::kLogitRows) {
    const int32_t count = std::min(Model::kLogitRows, total - first);
    const std::span<const float> all = model_->logits(first, count);
    for (int32_t i = 0; i < count; ++i) {
      const auto logits = all.subspan(i * vocab, vocab);
      if (outputs_[first + i].sample) {
        if (!counts(outputs_[first + i])) continue;
        sample_row(outputs_[first + i], logits, result);
      } else {
        score_row(outputs_[first + i], logits, result.prompt);
      }
    }
  }
  share_samples(result);
}

void Engine::score_row(const Output& output, std::span<const float> logits, PromptLogprobs& result) {
  const Slot& slot = slots_.at(output.slot);
  const auto scored = sampler_.score(logits, slot.tokens[output.position], *slot.sampling.top_logprobs);
  result.slots.push_back(output.slot);
  result.positions.push_back(output.position);
  result.logprobs.push_back(scored ? scored->logprob : std::numeric_limits<float>::quiet_NaN());
  result.ranks.push_back(scored ? rank_of(logits, slot.tokens[output.position]) : 0);
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  if (!scored) return;  // the row that samples reports the fault
  for (const auto& [token, logprob] : scored->alternatives) {
    result.top_tokens.push_back(token);
    result.top_logprobs.push_back(logprob);
  }
}

void Engine::sample_row(const Output& output, std::span<const float> logits, StepResult& result) {
  Slot& slot = slots_.at(output.slot);
  std::optional<Sampled> sampled;
  bool slow = false;
  if (!slot.finished) {
    std::span<const uint32_t> allowed;
    if (slot.constraint) {
      const double asked = thread_seconds();
      allowed = slot.constraint->allowed();
      slot.form_seconds += thread_seconds() - asked;
      slow = slot.form_seconds > kFormSeconds + kFormSecondsPerToken * slot.constrained_tokens++;
    }
    const RulesAt rules = slot.rules_now();
    const auto sample = [&](std::span<const uint32_t> among) {
      return sampler_.sample(logits, slot.sampling, slot.counts, output.position, among, &rules);
    };
    const auto opening = slot.constraint ? slot.constraint->opening() : std::nullopt;
    if (opening) sampled = sample({});
    if (!opening || (sampled && sampled->token != *opening)) sampled = sample(allowed);
  }
  if (sampled) slot.run.sampled(sampled->token == slot.tokens.back(), logits);
  result.slots.push_back(output.slot);
  if (hashes_logits_) result.logit_hashes.push_back(logit_hash(logits));
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  if (!sampled || slot.run.is_stuck() || slow) {
    fail(output,
         slow                     ? FaultKind::kSlowForm
         : slot.run.is_stuck()    ? FaultKind::kStuck
         : !all_finite(logits)    ? FaultKind::kNotFinite
         : tell_something(logits) ? FaultKind::kDeadEnd
                                  : FaultKind::kCollapsed,
         result);
    result.tokens.push_back(0);
    result.finish.push_back(Finish::kNumericalFault);
    result.logprobs.push_back(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  result.tokens.push_back(sampled->token);
  result.finish.push_back(slots_.append(output.slot, sampled->token));
  result.logprobs.push_back(sampled->logprob);
  for (const auto& [token, logprob] : sampled->alternatives) {
    result.top_tokens.push_back(token);
    result.top_logprobs.push_back(logprob);
  }
}

}  // namespace llmservice
