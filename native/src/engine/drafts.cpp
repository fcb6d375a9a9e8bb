// The engine's part of speculation: which draft rows of a step count, and new drafts for the next one.
#include <algorithm>

#include "engine/draft_model_drafter.h"
#include "engine/engine.h"
#include "engine/mtp_drafter.h"
#include "engine/ngram_drafter.h"

namespace llmservice {

std::unique_ptr<Drafter> Engine::make_drafter(const EngineOptions& options) {
  switch (options.speculation.method) {
    case DraftMethod::kNgram:
      return std::make_unique<NgramDrafter>();
    case DraftMethod::kMtp:
    case DraftMethod::kEagle3:
      return std::make_unique<MtpDrafter>(*model_, samplers_, group_.get(), options.block_size);
    case DraftMethod::kDraftModel:
      return std::make_unique<DraftModelDrafter>(*models_.draft_model, samplers_, group_.get(),
                                                 options.block_size, options.max_num_seqs);
    default:
      return nullptr;
  }
}

// Its input is the token that the rows before it gave, so that it is what a step without drafts would
// compute.
bool Engine::counts(const Output& output) const {
  if (!output.draft) return true;
  const Slot& slot = slots_.at(output.slot);
  return !slot.finished && slot.known() == output.position &&
         slot.tokens[output.position - 1] == ids_[output.row];
}

void Engine::settle_drafts() {
  for (const Segment& segment : segments_) {
    Slot& slot = slots_.at(segment.slot);
    slot.drafts.clear();
    if (segment.drafts == 0) continue;
    // A sequence that failed at its first row has no new token.
    const int32_t accepted = std::max(0, slot.known() - 1 - slot.position);
    slots_.advance(segment.slot, accepted);
    slot.replays = accepted;
  }
}

void Engine::make_drafts(int32_t most, StepResult& result) {
  if (!drafter_) return;
  drafter_->draft({.segments = segments_, .drafts = most}, slots_);
  for (const Segment& segment : segments_) {
    const std::vector<int32_t>& held = slots_.at(segment.slot).drafts;
    if (!held.empty()) result.drafts.push_back({segment.slot, held});
  }
}

}  // namespace llmservice
