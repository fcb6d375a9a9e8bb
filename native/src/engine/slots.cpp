#include "engine/slots.h"

#include <algorithm>

namespace llmservice {

SlotTable::SlotTable(const SlotLimits& limits)
    : limits_(limits), slots_(limits.slots), block_taken_(limits.num_blocks, false) {}

void SlotTable::apply(const StepPlan& plan) {
  for (const int32_t slot : plan.release) {
    for (const int32_t block : slots_[slot]->blocks) block_taken_[block] = false;
    slots_[slot].reset();
  }
  for (const Admission& admission : plan.admit) admit(admission);
  for (const auto& [slot, block] : plan.blocks) {
    slots_[slot]->blocks.push_back(block);
    block_taken_[block] = true;
  }
}

void SlotTable::admit(const Admission& admission) {
  Slot& slot = slots_[admission.slot].emplace();
  // Reserved whole, so that no step reallocates.
  slot.tokens.reserve(admission.max_length);
  slot.blocks.reserve((admission.max_length + limits_.block_size - 1) / limits_.block_size);
  slot.tokens = admission.tokens;
  slot.prompt_length = admission.prompt_length;
  slot.max_length = admission.max_length;
  slot.chunked_until = limits_.hybrid ? admission.prompt_length / 64 * 64 : 0;
  slot.stop_tokens = admission.stop_tokens;
  slot.sampling = admission.sampling;
  slot.prompt_logprobs = admission.prompt_logprobs;
  if (!slot.sampling.has_penalties()) return;
  const auto generated = slot.tokens.begin() + slot.prompt_length;
  slot.counts.add_prompt({slot.tokens.begin(), generated});
  std::for_each(generated, slot.tokens.end(), [&](int32_t token) { slot.counts.add_generated(token); });
}

Finish SlotTable::append(int32_t index, int32_t token) {
  Slot& slot = at(index);
  slot.tokens.push_back(token);
  if (slot.sampling.has_penalties()) slot.counts.add_generated(token);
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
