// Drafts by the model's own layer for multi-token prediction, or by an EAGLE-3 draft model in its place. It
// reads the trunk's hidden of every computed row, so it runs after every step over all rows that count: the
// prompt's, and accepted drafts, whose entries in its cache then come from the trunk's hidden in place of its
// own. Each later draft of a step continues from its own output.
#pragma once

#include <vector>

#include "engine/device_sampler.h"
#include "engine/drafter.h"
#include "engine/samplers.h"
#include "model/model.h"
#include "parallel/rank_group.h"

namespace llmservice {

class MtpDrafter final : public Drafter {
 public:
  // `group`: null on the only rank. Rank 0 samples the drafts, the others receive them.
  MtpDrafter(Model& model, Samplers& samplers, DeviceSampler& device_sampler, RankGroup* group,
             int32_t block_size)
      : model_(model),
        samplers_(samplers),
        device_sampler_(device_sampler),
        group_(group),
        block_size_(block_size) {}

  void draft(const DraftStep& step, SlotTable& slots) override;

 private:
  // A sequence that is to get more drafts.
  struct Going {
    int32_t slot;
    int32_t most;
    std::optional<int32_t> result = std::nullopt;  // of DeviceSampler, where it draws the next
  };

  void clear_rows();
  void begin_segment(const Slot& slot, int32_t index, int32_t position);
  void add_row(int32_t token, int32_t position, int32_t hidden);
  void run(bool continues);
  // Entries whose hidden was computed by another sequence.
  void bridge_cached(const DraftStep& step, SlotTable& slots);
  void follow_trunk(const DraftStep& step, SlotTable& slots);
  // Draws one draft for each of going_ from the outputs of the last run.
  void take_drafts(SlotTable& slots);
  // Those from `first` on, from the logits begun last: here, or as soon as the device has.
  void draw_rows(int32_t first, int32_t count, SlotTable& slots);
  // Gives them to their slots, and runs those that can have another.
  void continue_drafts(SlotTable& slots);

  Model& model_;
  Samplers& samplers_;
  DeviceSampler& device_sampler_;
  RankGroup* group_;
  int32_t block_size_;

  // The rows of one run.
  std::vector<int32_t> ids_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> hidden_;
  std::vector<int32_t> outputs_;
  std::vector<Segment> segments_;
  std::vector<Going> going_;      // in the order of outputs_
  std::vector<int32_t> drawn_;    // a draft for each of going_
  std::vector<int32_t> on_host_;  // of the logits begun last, the rows that no device draws
};

}  // namespace llmservice
