// What guesses the next tokens of sequences. The guesses of one step are verified by the next: a row per
// draft, which counts when the draft is the very token that the engine samples in its place. So a drafter
// decides how many steps an output takes, never what it says.
#pragma once

#include <memory>
#include <span>

#include "bridge/structs.h"
#include "engine/slots.h"
#include "ops/ops.h"

namespace llmservice {

// A step that has been computed and sampled: of each segment the rows up to its slot's position count.
struct DraftStep {
  std::span<const Segment> segments;
  int32_t drafts;  // to make at most for each sequence
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  // Fills `drafts` of slots of the step, each with at most slot.room_for_drafts(step.drafts) tokens. Called
  // once after every step with rows, also when no drafts are wanted; on every rank alike, with the same
  // result.
  virtual void draft(const DraftStep& step, SlotTable& slots) = 0;
  // The drafter in whose place this one was given, for those that want its work done too; null: there is
  // none.
  virtual void stand_in_for(std::unique_ptr<Drafter>) {}
};

}  // namespace llmservice
