// Drafts by a model's own next tokens: each draft is drawn as the engine would draw the token in its place,
// and the next one continues from it. What is run for them after a step differs: see the derived classes.
#pragma once

#include <vector>

#include "engine/device_sampler.h"
#include "engine/drafter.h"
#include "engine/samplers.h"
#include "model/model.h"
#include "parallel/rank_group.h"

namespace llmservice {

class AutoregressiveDrafter : public Drafter {
 public:
  // `model`: whose logits drafts are drawn from. `group`: null on the only rank. Rank 0 samples the drafts,
  // the others receive them.
  AutoregressiveDrafter(Model& model, Samplers& samplers, RankGroup* group, int32_t block_size)
      : model_(model), block_size_(block_size), samplers_(samplers), device_sampler_(model), group_(group) {}

  void draft(const DraftStep& step, SlotTable& slots) final;

 protected:
  // Runs all that a step has computed, and begins drafts: begin_drafts() of each sequence that gets some.
  virtual void follow(const DraftStep& step, SlotTable& slots) = 0;
  // Runs the rows. `continues`: each row is a draft, behind the output row that `hidden_` names.
  virtual void run(bool continues) = 0;

  void clear_rows();
  void begin_segment(const Slot& slot, int32_t index, int32_t position);
  void add_row(int32_t token, int32_t position, int32_t hidden = kNoRow);
  // Positions that the sequence has blocks for.
  int32_t held(const Slot& slot) const { return static_cast<int32_t>(slot.blocks.size()) * block_size_; }
  // The first draft is drawn from the row that was added last.
  void begin_drafts(int32_t slot, int32_t most);

  Model& model_;
  const int32_t block_size_;

  // The rows of one run.
  std::vector<int32_t> ids_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> hidden_;
  std::vector<int32_t> outputs_;
  std::vector<Segment> segments_;

 private:
  // A sequence that is to get more drafts.
  struct Going {
    int32_t slot;
    int32_t most;
    std::optional<int32_t> result = std::nullopt;  // of DeviceSampler, where it draws the next
  };

  // Draws one draft for each of going_ from the outputs of the last run.
  void take_drafts(SlotTable& slots);
  // Those from `first` on, from the logits begun last: here, or as soon as the device has.
  void draw_rows(int32_t first, int32_t count, SlotTable& slots);
  // Gives them to their slots, and runs those that can have another.
  void continue_drafts(SlotTable& slots);

  Samplers& samplers_;
  DeviceSampler device_sampler_;
  RankGroup* group_;
  std::vector<Going> going_;      // in the order of outputs_
  std::vector<int32_t> drawn_;    // a draft for each of going_
  std::vector<int32_t> on_host_;  // of the logits begun last, the rows that no device draws
};

}  // namespace llmservice
