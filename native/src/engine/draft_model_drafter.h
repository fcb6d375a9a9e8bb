// Drafts by a smaller model with the same tokenizer. Its KV lies in the sequences' own blocks, so that a
// block that the prefix cache finds holds the draft model's entries too: after every step it has run all
// positions that the model has computed.
#pragma once

#include "engine/autoregressive_drafter.h"

namespace llmservice {

class DraftModelDrafter final : public AutoregressiveDrafter {
 public:
  DraftModelDrafter(Model& draft_model, Samplers& samplers, RankGroup* group, int32_t block_size,
                    int32_t max_num_seqs)
      : AutoregressiveDrafter(draft_model, samplers, group, block_size), progress_(max_num_seqs) {}

 private:
  // Of a slot.
  struct Progress {
    int32_t computed = 0;               // positions below have entries of the sequence's own tokens
    std::vector<int32_t> guessed = {};  // behind those, drafts that have entries
  };

  void follow(const DraftStep& step, SlotTable& slots) override;
  void run(bool continues) override;
  // Takes drafts that were right for computed, and leaves those that were wrong to be written over.
  static void settle(Progress& progress, const Segment& segment, const Slot& slot);

  std::vector<Progress> progress_;
};

}  // namespace llmservice
