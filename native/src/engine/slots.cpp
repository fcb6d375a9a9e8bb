#include "engine/slots.h"

#include <algorithm>

namespace llmservice {
namespace {

// Rows of the entry, which was planned before that was known, for drafts that the slot does not hold or has
// no block for.
int32_t drafts_lacking(const Slot& slot, const SlotLimits& limits, const StepPlan& plan,
                       const RowEntry& entry) {
  const int32_t planned = entry.count - (slot.known() - slot.position);
  // More than a slot may ever hold is a mistake, and stays to be found.
  if (planned <= 0 || planned > limits.drafts) return 0;
  const auto is_own = [&](const SlotBlock& appended) { return appended.slot == entry.slot; };
  const auto blocks = std::ssize(slot.blocks) + std::ranges::count_if(plan.blocks, is_own);
  const auto places = static_cast<int32_t>(blocks) * limits.block_size - slot.known();
  const int32_t held = std::min(static_cast<int32_t>(slot.drafts.size()), std::max(0, places));
  return std::max(0, planned - held);
}

}  // namespace

SlotTable::SlotTable(const SlotLimits& limits)
    : limits_(limits),
      slots_(limits.slots),
      holders_(limits.num_blocks, 0),
      whole_(limits.num_blocks, false),
      snapshot_position_(limits.snapshots, 0) {}

StepPlan SlotTable::without_ended(StepPlan plan) const {
  const auto ended = [&](int32_t index) {
    if (index < 0 || index >= limits_.slots || !slots_[index] || !slots_[index]->finished) return false;
    return std::ranges::find(plan.release, index) == plan.release.end();
  };
  std::erase_if(plan.rows, [&](const RowEntry& entry) { return ended(entry.slot); });
  std::erase_if(plan.saves, [&](const StateSave& save) { return ended(save.slot); });
  for (RowEntry& entry : plan.rows) {
    const bool begins = std::ranges::any_of(plan.admit, [&](const auto& a) { return a.slot == entry.slot; });
    if (begins || entry.slot < 0 || entry.slot >= limits_.slots || !slots_[entry.slot]) continue;
    entry.count -= drafts_lacking(at(entry.slot), limits_, plan, entry);
  }
  plan.ahead = false;
  return plan;
}

void SlotTable::apply(const StepPlan& plan) {
  for (const int32_t slot : plan.release) release(slot);
  for (const Admission& admission : plan.admit) admit(admission);
  for (const auto& [slot, index, block] : plan.replace) {
    int32_t& entry = slots_[slot]->blocks[index];
    --holders_[entry];
    ++holders_[block];
    entry = block;
  }
  for (const auto& [index, block] : plan.blocks) {
    Slot& slot = at(index);
    slot.blocks.push_back(block);
    ++holders_[block];
    const auto end = static_cast<int32_t>(slot.blocks.size()) * limits_.block_size;
    if (end > slot.position) whole_[block] = false;
  }
  for (const StateSave& save : plan.saves) snapshot_position_[save.snapshot] = save.position;
  if (plan.warmup) warm_up(plan);
}

void SlotTable::release(int32_t index) {
  Slot& slot = at(index);
  for (const int32_t block : slot.blocks) --holders_[block];
  const auto own = slot.warming_up ? slot.cached / limits_.block_size : std::ssize(slot.blocks);
  for (auto i = own; i < std::ssize(slot.blocks); ++i) whole_[slot.blocks[i]] = false;
  slots_[index].reset();
}

void SlotTable::warm_up(const StepPlan& plan) {
  for (const Admission& admission : plan.admit) at(admission.slot).warming_up = true;
  for (const auto& [index, count] : plan.rows) {
    Slot& slot = at(index);
    slot.finished = false;
    slot.drafts.assign(std::max(0, count - (slot.known() - slot.position)), slot.tokens.back());
    slot.replays = limits_.hybrid ? plan.warmup->accepted_drafts : 0;
  }
}

void SlotTable::advance(int32_t index, int32_t count) {
  Slot& slot = at(index);
  const int32_t before = slot.position / limits_.block_size;
  slot.position += count;
  for (int32_t i = before; i < slot.position / limits_.block_size; ++i) whole_[slot.blocks[i]] = true;
}

void SlotTable::admit(const Admission& admission) {
  Slot& slot = slots_[admission.slot].emplace();
  // Reserved whole, so that no step reallocates.
  slot.tokens.reserve(admission.max_length);
  slot.blocks.reserve((admission.max_length + limits_.block_size - 1) / limits_.block_size);
  slot.drafts.reserve(limits_.drafts);
  slot.tokens = admission.tokens;
  slot.position = admission.cached_tokens;
  slot.cached = admission.cached_tokens;
  slot.prompt_length = admission.prompt_length;
  slot.max_length = admission.max_length;
  slot.chunked_until = limits_.hybrid ? admission.prompt_length / 64 * 64 : 0;
  slot.stop_tokens = admission.stop_tokens;
  slot.sampling = admission.sampling;
  slot.rules = admission.rules;
  slot.prompt_logprobs = admission.prompt_logprobs;
  slot.adapter = admission.adapter;
  slot.pooling = admission.pooling;
  const auto generated = slot.tokens.begin() + slot.prompt_length;
  if (admission.constraint) {
    slot.constraint = admission.constraint->begin();
    slot.accept({generated, slot.tokens.end()});
  }
  if (!has_penalties(slot.sampling)) return;
  slot.counts.add_prompt({slot.tokens.begin(), generated});
  std::for_each(generated, slot.tokens.end(), [&](int32_t token) { slot.counts.add_generated(token); });
}

Finish SlotTable::append(int32_t index, int32_t token) {
  Slot& slot = at(index);
  slot.tokens.push_back(token);
  if (has_penalties(slot.sampling)) slot.counts.add_generated(token);
  if (slot.constraint) slot.accept({&token, 1});
  Finish finish = Finish::kNone;
  if (std::ranges::find(slot.stop_tokens, token) != slot.stop_tokens.end()) {
    finish = Finish::kStop;
  } else if (slot.known() >= slot.max_length) {
    finish = Finish::kLength;
  }
  slot.finished = finish != Finish::kNone;
  return finish;
}

}  // namespace llmservice
