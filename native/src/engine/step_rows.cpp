// Which rows a step computes: the token and position of each, the segment of each sequence, and the rows
// whose logits or hidden states are wanted. A segment's rows of known tokens come first, those of drafts
// behind.
#include <algorithm>

#include "engine/engine.h"

namespace llmservice {

void Engine::gather_rows(const StepPlan& plan) {
  ids_.clear();
  positions_.clear();
  segments_.clear();
  output_rows_.clear();
  outputs_.clear();
  pooled_.clear();
  replays_.clear();
  adapted_.clear();
  const auto adapter_of = [&](const RowEntry& entry) { return slots_.at(entry.slot).adapter; };
  rows_ = plan.rows;
  // Rows of one adapter stand together, so that its weights are read once.
  if (std::ranges::any_of(rows_, adapter_of)) std::ranges::stable_sort(rows_, {}, adapter_of);
  for (const auto& [index, most] : rows_) {
    Slot& slot = slots_.at(index);
    const int32_t uncomputed = slot.known() - slot.position;
    const int32_t drafts = std::clamp(most - uncomputed, 0, static_cast<int32_t>(slot.drafts.size()));
    const int32_t count = std::min(most, uncomputed + drafts);
    segments_.push_back({.first = static_cast<int32_t>(ids_.size()),
                         .count = count,
                         .position = slot.position,
                         .slot = index,
                         .blocks = slot.blocks.data(),
                         .chunked_until = slot.chunked_until,
                         .drafts = drafts});
    for (int32_t i = 0; i < count; ++i) {
      ids_.push_back(i < uncomputed ? slot.tokens[slot.position + i] : slot.drafts[i - uncomputed]);
      positions_.push_back(slot.position + i);
    }
    if (slot.adapter != 0) adapt_rows(slot.adapter, segments_.back());
    gather_outputs(segments_.back(), slot);
    if (slot.replays > 0) replays_.push_back({index, slot.replays});
    slot.replays = 0;
    slots_.advance(index, count - drafts);
  }
  // Behind those whose logits are wanted.
  for (const Segment& segment : segments_) gather_pooled(segment, slots_.at(segment.slot));
  saves_.clear();
  for (const auto& [slot, position, snapshot] : plan.saves) {
    saves_.push_back({.slot = slot, .position = position, .to = first_snapshot_ + snapshot});
  }
}

void Engine::adapt_rows(int32_t number, const Segment& segment) {
  if (!adapted_.empty() && adapted_.back().number == number) {
    adapted_.back().count += segment.count;
  } else {
    adapted_.push_back({number, segment.first, segment.count});
  }
}

void Engine::gather_outputs(const Segment& segment, const Slot& slot) {
  const auto want = [&](int32_t position, bool sample) {
    const int32_t row = segment.first + position - 1 - segment.position;
    const bool draft = row >= segment.first + segment.count - segment.drafts;
    output_rows_.push_back(row);
    outputs_.push_back(
        {.slot = segment.slot, .position = position, .sample = sample, .draft = draft, .row = row});
  };
  if (slot.pooling != Pooling::kNone) return;
  const int32_t end = segment.position + segment.count - segment.drafts;
  if (slot.prompt_logprobs) {
    for (int32_t p = segment.position + 1; p <= end && p < slot.prompt_length; ++p) want(p, false);
  }
  if (end < slot.known()) return;
  for (int32_t p = end; p <= end + segment.drafts; ++p) want(p, true);
}

void Engine::gather_pooled(const Segment& segment, const Slot& slot) {
  if (slot.pooling == Pooling::kNone) return;
  const int32_t end = segment.position + segment.count;
  if (slot.pooling == Pooling::kLast && end < slot.known()) return;
  const int32_t skipped = slot.pooling == Pooling::kLast ? segment.count - 1 : 0;
  const int32_t first_alone = segment.position == 0 ? 1 : 0;
  const int32_t count = slot.pooling == Pooling::kCls ? first_alone : segment.count - skipped;
  pooled_.push_back(
      {.slot = segment.slot, .first = static_cast<int32_t>(output_rows_.size()), .count = count, .end = end});
  for (int32_t i = 0; i < count; ++i) output_rows_.push_back(segment.first + skipped + i);
}

}  // namespace llmservice
