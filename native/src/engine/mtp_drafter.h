// Drafts by the model's own layer for multi-token prediction, or by an EAGLE-3 draft model in its place. It
// reads the trunk's hidden of every computed row, so it runs after every step over all rows that count: the
// prompt's, and accepted drafts, whose entries in its cache then come from the trunk's hidden in place of its
// own. Each later draft of a step continues from its own output.
#pragma once

#include "engine/autoregressive_drafter.h"

namespace llmservice {

class MtpDrafter final : public AutoregressiveDrafter {
 public:
  using AutoregressiveDrafter::AutoregressiveDrafter;

 private:
  void follow(const DraftStep& step, SlotTable& slots) override;
  void run(bool continues) override;
  // Entries whose hidden was computed by another sequence.
  void bridge_cached(const DraftStep& step, SlotTable& slots);
};

}  // namespace llmservice
