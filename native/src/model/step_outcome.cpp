// What a step leaves behind: logits of a few rows at a time, what is drawn from them, and row faults. What
// was drawn lies right behind the faults of the step's rows, so that one download brings both.
#include "model/step_outcome.h"

#include "model/model.h"

namespace llmservice {

void Model::make_logits(int32_t first, int32_t count) {
  logit_rows_ = count;
  if (!stage_.first()) return;
  const float* const hidden = work_.final + static_cast<int64_t>(first) * config_.hidden;
  if (drafted_last_ && eagle3_) return eagle3_->make_logits(hidden, count, work_.logits);
  const Matrix& exact = head_ ? *head_ : *embedding_;
  const Matrix& head = drafted_last_ && draft_head_ ? *draft_head_ : exact;
  backend_.matmul(head, hidden, count, work_.slice);
  if (config_.logit_cap > 0) backend_.cap(work_.slice, count * vocab_.count, config_.logit_cap);
  ranks_.gather_logits(work_.slice, count, config_.vocab, work_.logits);
}

std::span<const float> Model::logits() {
  const int64_t floats = shard_.rank == 0 ? logit_rows_ * config_.vocab : 0;
  return backend_.to_host(work_.logits, floats);
}

void Model::sample(const SampleBatch& batch, int32_t first) {
  // Elements of float and int32_t are as wide as each other.
  auto* const results = reinterpret_cast<SampleResult*>(work_.faults + faults_floats(step_rows_));
  backend_.sample(batch, work_.logits, config_.vocab, results + first);
}

StepOutcome Model::outcome(int32_t samples) {
  if (shard_.rank != 0) {
    backend_.to_host(nullptr, 0);
    return {};
  }
  const int64_t floats = samples == 0 ? step_rows_ : outcome_floats(step_rows_, samples);
  const std::span<float> host = backend_.to_host(reinterpret_cast<float*>(work_.faults), floats);
  StepOutcome outcome{
      .faults = {reinterpret_cast<const int32_t*>(host.data()), static_cast<size_t>(step_rows_)},
      .samples = {}};
  if (samples == 0) return outcome;
  const float* const results = host.data() + faults_floats(step_rows_);
  outcome.samples = {reinterpret_cast<const SampleResult*>(results), static_cast<size_t>(samples)};
  return outcome;
}

}  // namespace llmservice
