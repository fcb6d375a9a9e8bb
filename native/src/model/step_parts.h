// Cuts the rows of a step into parts that stages of a pipeline compute at once, each another. A sequence is
// cut only where chunks of a prompt may end, so that no bit depends on the cuts. Pure.
#pragma once

#include <vector>

#include "model/model_step.h"

namespace llmservice {

struct StepPart {
  int32_t first_row;
  int32_t rows;
  int32_t first_output;
  std::vector<Segment> segments;  // rows count from the part's first, as in outputs
  std::vector<int32_t> outputs;
  std::vector<StateMark> saves;
  std::vector<StateReplay> replays;

  // The part as a step of its own.
  ModelStep of(const ModelStep& whole) const {
    return {.ids = whole.ids.subspan(first_row, rows),
            .positions = whole.positions.subspan(first_row, rows),
            .segments = segments,
            .outputs = outputs,
            .saves = saves,
            .replays = replays};
  }
};

// Below, a part's matrices are read for too few rows.
constexpr int32_t kLeastPartRows = 64;

// In order, at most `most`, as even as the cuts allow; at least one.
std::vector<StepPart> step_parts(const ModelStep& step, int32_t most);

}  // namespace llmservice
