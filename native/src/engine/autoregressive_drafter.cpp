#include "engine/autoregressive_drafter.h"

#include <algorithm>

namespace llmservice {
namespace {

// In place of a draft: its logits were not numbers.
constexpr int32_t kNoDraft = -1;

}  // namespace

void AutoregressiveDrafter::draft(const DraftStep& step, SlotTable& slots) {
  going_.clear();
  follow(step, slots);
  while (!going_.empty()) {
    take_drafts(slots);
    continue_drafts(slots);
  }
}

void AutoregressiveDrafter::begin_drafts(int32_t slot, int32_t most) {
  going_.push_back({.slot = slot, .most = most});
  outputs_.push_back(static_cast<int32_t>(ids_.size()) - 1);
}

void AutoregressiveDrafter::take_drafts(SlotTable& slots) {
  const auto total = static_cast<int32_t>(going_.size());
  drawn_.assign(total, kNoDraft);
  const bool samples = group_ == nullptr || group_->rank() == 0;
  device_sampler_.begin();
  for (int32_t first = 0; first < total; first += Model::kLogitRows) {
    const int32_t count = std::min(Model::kLogitRows, total - first);
    model_.make_logits(first, count);
    if (samples) draw_rows(first, count, slots);
  }
  const std::span<const SampleResult> results = model_.outcome(device_sampler_.asked()).samples;
  for (int32_t i = 0; i < total; ++i) {
    const std::optional<int32_t> result = going_[i].result;
    if (result && results[*result].status == SampleStatus::kDrawn) drawn_[i] = results[*result].token;
  }
  if (group_ == nullptr) return;
  if (samples) {
    group_->send(std::as_bytes(std::span(drawn_)));
  } else {
    const std::vector<std::byte> message = group_->receive();
    std::ranges::copy(message, std::as_writable_bytes(std::span(drawn_)).begin());
  }
}

void AutoregressiveDrafter::draw_rows(int32_t first, int32_t count, SlotTable& slots) {
  // Of a row: calls `draw` with what Sampler::sample() takes.
  const auto with_request = [&](int32_t i, const auto& draw) {
    const Slot& slot = slots.at(going_[first + i].slot);
    SamplingParams sampling = slot.sampling;
    sampling.top_logprobs.reset();
    const auto index = static_cast<int32_t>(slot.tokens.size() + slot.drafts.size());
    draw(sampling, slot.counts, index, slot.rules_now());
  };
  on_host_.clear();
  for (int32_t i = 0; i < count; ++i) {
    with_request(i, [&](const SamplingParams& sampling, const TokenCounts& counts, int32_t index,
                        const RulesAt& rules) {
      std::optional<int32_t>& result = going_[first + i].result;
      result.reset();
      if (!device_sampler_.takes(sampling, counts, &rules, {})) return on_host_.push_back(i);
      result = device_sampler_.draw(i, sampling, counts, index, {}, &rules, {});
    });
  }
  if (!on_host_.empty()) {
    const std::span<const float> logits = model_.logits();
    const size_t vocab = logits.size() / count;
    samplers_.run(std::ssize(on_host_), [&](int64_t job, Sampler& sampler) {
      const int32_t i = on_host_[job];
      with_request(i, [&](const SamplingParams& sampling, const TokenCounts& counts, int32_t index,
                          const RulesAt& rules) {
        const auto drawn =
            sampler.sample(logits.subspan(i * vocab, vocab), sampling, counts, index, {}, &rules);
        if (drawn) drawn_[first + i] = drawn->token;
      });
    });
  }
  device_sampler_.run();
}

void AutoregressiveDrafter::continue_drafts(SlotTable& slots) {
  clear_rows();
  std::vector<Going> going;
  for (size_t i = 0; i < going_.size(); ++i) {
    if (drawn_[i] == kNoDraft) continue;
    Slot& slot = slots.at(going_[i].slot);
    const int32_t position = slot.known() + static_cast<int32_t>(slot.drafts.size());
    slot.drafts.push_back(drawn_[i]);
    if (static_cast<int32_t>(slot.drafts.size()) == going_[i].most) continue;
    begin_segment(slot, going_[i].slot, position);
    add_row(drawn_[i], position, static_cast<int32_t>(i));
    outputs_.push_back(static_cast<int32_t>(ids_.size()) - 1);
    going.push_back(going_[i]);
  }
  going_.swap(going);
  run(true);
}

void AutoregressiveDrafter::clear_rows() {
  ids_.clear();
  positions_.clear();
  hidden_.clear();
  outputs_.clear();
  segments_.clear();
}

void AutoregressiveDrafter::begin_segment(const Slot& slot, int32_t index, int32_t position) {
  segments_.push_back({.first = static_cast<int32_t>(ids_.size()),
                       .count = 0,
                       .position = position,
                       .slot = index,
                       .blocks = slot.blocks.data(),
                       .chunked_until = 0});
}

void AutoregressiveDrafter::add_row(int32_t token, int32_t position, int32_t hidden) {
  ids_.push_back(token);
  positions_.push_back(position);
  hidden_.push_back(hidden);
  ++segments_.back().count;
}

}  // namespace llmservice
