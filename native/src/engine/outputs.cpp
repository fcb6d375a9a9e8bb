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
  const StepOutcome outcome = model_->outcome(device_sampler_.asked());
  samples_.assign(outcome.samples.begin(), outcome.samples.end());
  if (first == 0) find_faulty_rows(outcome.faults, result);
  draw_rows(first, end, logits_first);
  for (int32_t i = first; i < end; ++i) {
    const Drawn& drawn = drawn_[i - first];
    if (!drawn.counts) continue;
    if (outputs_[i].sample) {
      report_sampled(outputs_[i], drawn, result);
    } else {
      report_scored(outputs_[i], drawn, result.prompt);
    }
  }
}

// A sequence's rows wait for each other, since drafts only count after what comes before them; those of
// different sequences, and of prompts that are scored, do not.
void Engine::draw_rows(int32_t first, int32_t end, int32_t logits_first) {
  drawn_.resize(end - first);
  chains_.clear();
  bool for_host = false;
  for (int32_t i = first; i < end; ++i) {
    const Output& output = outputs_[i];
    Drawn& drawn = drawn_[i - first];
    drawn.fault.reset();
    drawn.finish = Finish::kNone;
    // Read before the sequence's other rows may add tokens.
    if (!output.sample) drawn.token = slots_.at(output.slot).tokens[output.position];
    const bool follows_last =
        i > first && output.sample && outputs_[i - 1].sample && outputs_[i - 1].slot == output.slot;
    if (!follows_last) chains_.push_back(i);
    for_host = for_host || !output.result;
  }
  const auto count = std::ssize(chains_);
  chains_.push_back(end);
  const auto vocab = static_cast<size_t>(info_.vocab_size);
  const std::span<const float> logits = for_host ? model_->logits() : std::span<const float>();
  samplers_.run(count, [&](int64_t chain, Sampler& sampler) {
    for (int32_t i = chains_[chain]; i < chains_[chain + 1]; ++i) {
      Output& output = outputs_[i];
      Drawn& drawn = drawn_[i - first];
      drawn.counts = !output.sample || counts(output);
      if (!drawn.counts) continue;
      if (output.result) {
        draw_on_device(output, drawn);
      } else {
        draw_on_host(output, logits.subspan((i - logits_first) * vocab, vocab), sampler, drawn);
      }
      if (output.sample) settle(output, drawn);
    }
  });
}

// Moves the sequence on over a token that it sampled, or ends it.
void Engine::settle(const Output& output, Drawn& drawn) {
  Slot& slot = slots_.at(output.slot);
  const bool sampled = !slot.finished && drawn.status == SampleStatus::kDrawn;
  if (sampled) slot.run.sampled(drawn.token == slot.tokens.back(), drawn.hash);
  if (sampled && !slot.run.is_stuck() && !output.slow) {
    drawn.finish = slots_.append(output.slot, drawn.token);
    return;
  }
  drawn.finish = Finish::kNumericalFault;
  if (slot.finished) return;
  drawn.fault = output.slow           ? FaultKind::kSlowConstraint
                : slot.run.is_stuck() ? FaultKind::kStuck
                                      : kind_of(drawn.status);
  slot.finished = true;
}

void Engine::report_scored(const Output& output, const Drawn& drawn, PromptLogprobs& result) {
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

void Engine::report_sampled(const Output& output, const Drawn& drawn, StepResult& result) {
  const bool sampled = drawn.finish != Finish::kNumericalFault;
  if (drawn.fault) report_fault(output, *drawn.fault, result);
  result.slots.push_back(output.slot);
  if (hashes_logits_) result.logit_hashes.push_back(drawn.hash);
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  result.tokens.push_back(sampled ? drawn.token : 0);
  result.finish.push_back(drawn.finish);
  result.logprobs.push_back(sampled ? drawn.logprob : std::numeric_limits<float>::quiet_NaN());
  if (!sampled) return;
  for (const auto& [token, logprob] : drawn.alternatives) {
    result.top_tokens.push_back(token);
    result.top_logprobs.push_back(logprob);
  }
}

}  // namespace llmservice
