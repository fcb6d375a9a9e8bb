// Drafts from the sequence itself (prompt lookup): finds where its last tokens stood before, and proposes
// what followed them there. Good where outputs repeat their prompts: code edits, extraction, quotes.
#pragma once

#include <vector>

#include "engine/drafter.h"

namespace llmservice {

class NgramDrafter final : public Drafter {
 public:
  void draft(const DraftStep& step, SlotTable& slots) override;
};

// At most `most` tokens that followed the longest earlier match of the end of `tokens`, of at least two
// tokens; of equally long ones the last. Appended to `drafts`. Pure; exposed for tests.
void look_up(std::span<const int32_t> tokens, int32_t most, std::vector<int32_t>& drafts);

}  // namespace llmservice
