#include "engine/draft_model_drafter.h"

#include <algorithm>

namespace llmservice {

void DraftModelDrafter::follow(const DraftStep& step, SlotTable& slots) {
  clear_rows();
  for (const Segment& segment : step.segments) {
    const Slot& slot = slots.at(segment.slot);
    Progress& progress = progress_[segment.slot];
    settle(progress, segment, slot);
    const int32_t most = std::min(slot.room_for_drafts(step.drafts), held(slot) - slot.position);
    const int32_t end = slot.position + (most > 0 ? 1 : 0);
    if (progress.computed >= end) continue;
    begin_segment(slot, segment.slot, progress.computed);
    for (int32_t p = progress.computed; p < end; ++p) add_row(slot.tokens[p], p);
    progress.computed = end;
    if (most > 0) begin_drafts(segment.slot, most);
  }
  run(false);
}

void DraftModelDrafter::settle(Progress& progress, const Segment& segment, const Slot& slot) {
  if (segment.position == slot.cached) progress = {.computed = slot.cached};  // its first step
  for (const int32_t guess : progress.guessed) {
    if (progress.computed == slot.position || guess != slot.tokens[progress.computed]) break;
    ++progress.computed;
  }
  progress.guessed.clear();
  // What comes next is drawn from the last known token, which has to run where it has run before.
  progress.computed = std::min(progress.computed, slot.position);
}

void DraftModelDrafter::run(bool continues) {
  if (ids_.empty()) return;
  if (continues) {
    for (const Segment& segment : segments_) progress_[segment.slot].guessed.push_back(ids_[segment.first]);
  }
  model_.forward(
      {.ids = ids_, .positions = positions_, .segments = segments_, .outputs = outputs_, .saves = {}});
}

}  // namespace llmservice
