// The rows of one step, as the engine gives them to its model.
#pragma once

#include <cstdint>
#include <span>

#include "model/adapters.h"
#include "model/state_rounds.h"
#include "ops/ops.h"

namespace llmservice {

// The first `count` drafts of the slot's last step were right: its recurrent state is to take them in.
struct StateReplay {
  int32_t slot;
  int32_t count;
};

// The rows of one step, sequence after sequence.
struct ModelStep {
  std::span<const int32_t> ids;        // (T)
  std::span<const int32_t> positions;  // (T)
  std::span<const Segment> segments;
  std::span<const int32_t> outputs;  // rows whose logits are wanted
  std::span<const StateMark> saves;  // recurrent states to keep
  std::span<const StateReplay> replays = {};
  std::span<const AdaptedRows> adapted = {};  // rows that use an adapter
};

}  // namespace llmservice
