// Drafts that are right as often as a script says, at the price of those of the model's own layer: that one
// drafts too, and what it says is replaced. For models of random weights, whose own drafts are never right.
#pragma once

#include <memory>
#include <vector>

#include "engine/drafter.h"

namespace llmservice::bench {

// Entry i: all tokens of the sequence in slot i, prompt first.
using Truths = std::vector<std::vector<int32_t>>;

class ScriptedDrafter final : public Drafter {
 public:
  // Of each step's drafts of a sequence the first `right` are what it will say, the others are not. `truths`
  // may be filled until the first step that drafts.
  ScriptedDrafter(std::shared_ptr<const Truths> truths, int32_t right)
      : truths_(std::move(truths)), right_(right) {}

  void stand_in_for(std::unique_ptr<Drafter> own) override { own_ = std::move(own); }

  void draft(const DraftStep& step, SlotTable& slots) override {
    if (own_) own_->draft(step, slots);
    for (const Segment& segment : step.segments) {
      Slot& slot = slots.at(segment.slot);
      const std::vector<int32_t>& truth = truths_->at(segment.slot);
      slot.drafts.clear();
      for (int32_t i = 0; i < slot.room_for_drafts(step.drafts); ++i) {
        const size_t at = slot.tokens.size() + i;
        const int32_t next = at < truth.size() ? truth[at] : 0;
        slot.drafts.push_back(i < right_ ? next : next == 0 ? 1 : next - 1);
      }
    }
  }

 private:
  std::shared_ptr<const Truths> truths_;
  int32_t right_;
  std::unique_ptr<Drafter> own_;
};

}  // namespace llmservice::bench
