// The forward pass of a pipeline, in ticks: in each, every stage computes another part of the step's rows,
// and then all meet, and each passes on what it made of its part. The last stage gives the rows whose logits
// are wanted back to the first. Between stages go float rows of the residual stream, with nothing left to add
// to it, and for each row where its numbers first were not finite: no bit depends on the number of stages.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "model/model.h"

namespace llmservice {

void Model::forward_in_stages(const ModelStep& step) {
  const std::vector<StepPart> parts = step_parts(step, stage_.count);
  const auto ticks = static_cast<int32_t>(parts.size()) + stage_.count - 1;
  for (int32_t tick = 0; tick < ticks; ++tick) {
    const int32_t own = tick - stage_.index;
    if (own >= 0 && own < std::ssize(parts)) run_part(parts[own], step);
    if (tick + 1 < ticks) pass_on(parts, tick);
  }
  bring_back(std::ssize(step.outputs));
  backend_.submit();
}

void Model::run_part(const StepPart& part, const ModelStep& whole) {
  const ModelStep step = part.of(whole);
  first_row_ = part.first_row;
  plan_states(step);
  if (stage_.first()) enter(step);
  float* const update = run_layers(step);
  if (stage_.last()) {
    leave(update, step, part.first_output);
  } else {
    add_update(update, part.rows);
  }
}

// As the norm before the next layer adds it.
void Model::add_update(float* update, int64_t rows) {
  if (update == nullptr) return;
  // Its norm has summed it already.
  if (!config_.post_norms) ranks_.all_reduce(update, rows * config_.hidden);
  backend_.add_gated(work_.residual, update, nullptr, rows, config_.hidden);
}

// Each stage's part of the tick becomes the next stage's of the next tick.
void Model::pass_on(std::span<const StepPart> parts, int32_t tick) {
  const auto part_of = [&](int32_t stage) -> const StepPart* {
    const int32_t part = tick - stage;
    const bool passes = stage >= 0 && stage + 1 < stage_.count && part >= 0 && part < std::ssize(parts);
    return passes ? &parts[part] : nullptr;
  };
  const auto rows_of = [](const StepPart& part) {
    return PassedRows{.rows = part.rows, .first_fault = part.first_row, .faults = part.rows};
  };
  passed_.assign(stage_.count, 0);
  for (int32_t stage = 0; stage < stage_.count; ++stage) {
    if (const StepPart* const part = part_of(stage)) passed_[stage] = floats_of(rows_of(*part));
  }
  const StepPart* const mine = part_of(stage_.index);
  const StepPart* const theirs = part_of(stage_.index - 1);
  if (mine != nullptr) send_rows(work_.residual, rows_of(*mine));
  stages_->pass(sent_, passed_, stage_.index - 1, theirs == nullptr ? nullptr : receive(rows_of(*theirs)));
  if (theirs != nullptr) take_rows(work_.residual, rows_of(*theirs));
}

void Model::bring_back(int64_t outputs) {
  const PassedRows rows{.rows = outputs, .first_fault = 0, .faults = step_rows_};
  passed_.assign(stage_.count, 0);
  passed_.back() = floats_of(rows);
  if (stage_.last()) send_rows(work_.final, rows);
  stages_->pass(sent_, passed_, stage_.count - 1, stage_.first() ? receive(rows) : nullptr);
  if (stage_.first()) take_rows(work_.final, rows);
}

int64_t Model::floats_of(const PassedRows& passed) const {
  return passed.rows * config_.hidden + passed.faults;
}

float* Model::receive(const PassedRows& passed) {
  received_.resize(floats_of(passed));
  return received_.data();
}

// The stage's first rank sends for all, and is the one that looks for faults.
void Model::send_rows(float* rows, const PassedRows& passed) {
  if (shard_.rank != 0) return;
  sent_.clear();
  auto* const faults = reinterpret_cast<float*>(work_.faults + passed.first_fault);
  std::ranges::copy(backend_.to_host(rows, passed.rows * config_.hidden), std::back_inserter(sent_));
  const std::span<const float> marks = backend_.to_host(faults, passed.faults);
  sent_.resize(floats_of(passed));
  std::memcpy(sent_.data() + passed.rows * config_.hidden, marks.data(), marks.size_bytes());
}

void Model::take_rows(float* rows, const PassedRows& passed) {
  const std::span<const float> all = received_;
  backend_.upload(std::as_bytes(all.first(passed.rows * config_.hidden)), rows);
  if (shard_.rank != 0) return;
  backend_.upload(std::as_bytes(all.subspan(passed.rows * config_.hidden)),
                  work_.faults + passed.first_fault);
}

}  // namespace llmservice
