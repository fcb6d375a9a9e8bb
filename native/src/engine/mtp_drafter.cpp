#include "engine/mtp_drafter.h"

#include <algorithm>

namespace llmservice {

void MtpDrafter::follow(const DraftStep& step, SlotTable& slots) {
  bridge_cached(step, slots);
  clear_rows();
  for (const Segment& segment : step.segments) {
    const Slot& slot = slots.at(segment.slot);
    // Of each computed row the entry of the token after it, where there is a block for it.
    const int32_t end = std::min({slot.position, held(slot) - 1, slot.known() - 1});
    if (segment.position >= end) continue;
    begin_segment(slot, segment.slot, segment.position + 1);
    for (int32_t p = segment.position; p < end; ++p) {
      add_row(slot.tokens[p + 1], p + 1, segment.first + p - segment.position);
    }
    const int32_t most = std::min(slot.room_for_drafts(step.drafts), held(slot) - slot.position);
    if (most > 0) begin_drafts(segment.slot, most);
  }
  run(false);
}

// The hidden before the first position that a sequence computes itself is gone with the sequence that
// computed it: this one entry is made from its token alone.
void MtpDrafter::bridge_cached(const DraftStep& step, SlotTable& slots) {
  clear_rows();
  for (const Segment& segment : step.segments) {
    const Slot& slot = slots.at(segment.slot);
    if (segment.position == 0 || segment.position != slot.cached) continue;
    begin_segment(slot, segment.slot, segment.position);
    add_row(slot.tokens[segment.position], segment.position, kNoRow);
  }
  run(false);
}

void MtpDrafter::run(bool continues) {
  if (ids_.empty()) return;
  model_.draft({.ids = ids_,
                .positions = positions_,
                .segments = segments_,
                .hidden = hidden_,
                .continues = continues,
                .outputs = outputs_});
}

}  // namespace llmservice
