// What a step's logits give: sampled tokens, scores of prompt tokens, and the sequences that end with either.
// Logits are made a few rows at a time, in the order of the outputs, so that their memory is bounded; they
// leave the device only where a row is not for it. Without such rows a step waits for its device once, and
// brings back what was drawn with the faults of its rows.
#include <algorithm>
#include <limits>

#include "engine/engine.h"

namespace llmservice {
namespace {

FaultKind kind_of(SampleStatus status) {
  switch (status) {
    case SampleStatus::kNotFinite:
      return FaultKind::kNotFinite;
    case SampleStatus::kCollapsed:
      return FaultKind::kCollapsed;
    default:
      return FaultKind::kDeadEnd;
  }
}

}  // namespace

void Engine::process_outputs(StepResult& result) {
  const auto total = static_cast<int32_t>(outputs_.size());
  int32_t processed = 0;
  device_sampler_.begin();
  spare_samples_ = model_->spare_samples(total);
  for (int32_t first = 0; first < total; first += Model::kLogitRows) {
    const int32_t end = std::min(first + Model::kLogitRows, total);
    model_->make_logits(first, end - first);
    bool for_host = false;
    for (int32_t i = first; i < end; ++i) {
      ask_device(outputs_[i], i - first);
      for_host = for_host || !outputs_[i].result;
    }
    device_sampler_.run();
    if (!for_host) continue;
    process(processed, end, first, result);
    processed = end;
  }
  if (processed < total || total == 0) process(processed, total, total, result);
  share_samples(result);
}

// Rows [first, end). The logits begun last are those from row `logits_first` on: rows before it are not for
// the host.
void Engine::process(int32_t first, int32_t end, int32_t logits_first, StepResult& result) {
  const auto vocab = static_cast<size_t>(info_.vocab_size);
  const StepOutcome outcome = model_->outcome(device_sampler_.asked());
  samples_.assign(outcome.samples.begin(), outcome.samples.end());
  if (first == 0) find_faulty_rows(outcome.faults, result);
  std::span<const float> logits;
  for (int32_t i = first; i < end; ++i) {
    Output& output = outputs_[i];
    if (output.sample && !counts(output)) continue;
    if (!output.result && logits.empty()) logits = model_->logits();
    const Drawn drawn = output.result
                            ? drawn_on_device(output)
                            : drawn_on_host(output, logits.subspan((i - logits_first) * vocab, vocab));
    if (output.sample) {
      sample_row(output, drawn, result);
    } else {
      score_row(output, drawn, result.prompt);
    }
  }
}

void Engine::score_row(const Output& output, const Drawn& drawn, PromptLogprobs& result) {
  const bool scored = drawn.status == SampleStatus::kDrawn;
  result.slots.push_back(output.slot);
  result.positions.push_back(output.position);
  result.logprobs.push_back(scored ? drawn.logprob : std::numeric_limits<float>::quiet_NaN());
  result.ranks.push_back(scored ? drawn.rank : 0);
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  if (!scored) return;  // the row that samples reports the fault
  for (const auto& [token, logprob] : drawn.alternatives) {
    result.top_tokens.push_back(token);
    result.top_logprobs.push_back(logprob);
  }
}

void Engine::sample_row(const Output& output, const Drawn& drawn, StepResult& result) {
  Slot& slot = slots_.at(output.slot);
  const bool sampled = !slot.finished && drawn.status == SampleStatus::kDrawn;
  if (sampled) slot.run.sampled(drawn.token == slot.tokens.back(), drawn.hash);
  result.slots.push_back(output.slot);
  if (hashes_logits_) result.logit_hashes.push_back(drawn.hash);
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  if (!sampled || slot.run.is_stuck() || output.slow) {
    fail(output,
         output.slow           ? FaultKind::kSlowConstraint
         : slot.run.is_stuck() ? FaultKind::kStuck
                               : kind_of(drawn.status),
         result);
    result.tokens.push_back(0);
    result.finish.push_back(Finish::kNumericalFault);
    result.logprobs.push_back(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  result.tokens.push_back(drawn.token);
  result.finish.push_back(slots_.append(output.slot, drawn.token));
  result.logprobs.push_back(drawn.logprob);
  for (const auto& [token, logprob] : drawn.alternatives) {
    result.top_tokens.push_back(token);
    result.top_logprobs.push_back(logprob);
  }
}

}  // namespace llmservice
