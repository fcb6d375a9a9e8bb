// Cuts the rows of a step where recurrent states are to be kept: a state can only be copied between two
// calls.
#pragma once

#include <span>
#include <vector>

#include "ops/ops.h"

namespace llmservice {

// The state of `slot` after its first `position` tokens goes to state row `to`.
struct StateMark {
  int32_t slot;
  int32_t position;
  int32_t to;
};

// Segments to run, each slot at most once, and the copies to make then.
struct StateRound {
  std::vector<Segment> segments;
  std::vector<StateCopy> copies;
};

// Rounds to run in order; without saves, one. The marks of a slot are ascending and lie on multiples of 64
// within its segment, so that the cut changes no bit.
std::vector<StateRound> state_rounds(std::span<const Segment> segments, std::span<const StateMark> saves);

}  // namespace llmservice
