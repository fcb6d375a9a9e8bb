// The segments of a step as kernels see them.
#pragma once

#include "ops/ops.h"

namespace llmservice::gpu {

// What `longest` is rounded up from, and then to powers of two.
constexpr int32_t kMinLongest = 1024;

// Everything but `segments` is known on the host and shapes launches; it is rounded up, so that launches
// repeat: kernels leave early where a segment has fewer rows or positions.
struct StepSegments {
  const Segment* segments;  // (count) on the device, their block tables too
  int32_t count;
  int32_t max_rows;  // of one segment, at least
  int32_t longest;   // positions of one sequence with this step's rows, at least
};

}  // namespace llmservice::gpu
