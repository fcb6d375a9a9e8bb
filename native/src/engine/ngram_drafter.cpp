#include "engine/ngram_drafter.h"

namespace llmservice {
namespace {

// A match of one token says nothing, one of more than five is as good as five.
constexpr int64_t kShortest = 2;
constexpr int64_t kLongest = 5;

// How many tokens before `end` are those at the end of all, up to kLongest.
int64_t match_before(std::span<const int32_t> tokens, int64_t end) {
  const auto size = static_cast<int64_t>(tokens.size());
  int64_t length = 0;
  while (length < kLongest && length < end && tokens[end - 1 - length] == tokens[size - 1 - length]) ++length;
  return length;
}

}  // namespace

void look_up(std::span<const int32_t> tokens, int32_t most, std::vector<int32_t>& drafts) {
  const auto size = static_cast<int64_t>(tokens.size());
  int64_t longest = kShortest - 1;
  int64_t found = 0;
  for (int64_t end = size - 1; end > longest && longest < kLongest; --end) {
    const int64_t length = match_before(tokens, end);
    if (length <= longest) continue;
    longest = length;
    found = end;
  }
  if (longest < kShortest) return;
  // Beyond the end of what is known the drafts themselves continue: a repetition of period p is drafted for
  // ever.
  const int64_t period = size - found;
  for (int64_t i = 0; i < most; ++i) drafts.push_back(tokens[found + i % period]);
}

void NgramDrafter::draft(const DraftStep& step, SlotTable& slots) {
  for (const Segment& segment : step.segments) {
    Slot& slot = slots.at(segment.slot);
    const int32_t room = slot.room_for_drafts(step.drafts);
    if (room > 0) look_up(slot.tokens, room, slot.drafts);
  }
}

}  // namespace llmservice
