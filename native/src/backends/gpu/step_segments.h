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
  // Where the device attends to chunks by a kernel of its own (chunked_rows.h): such rows of one segment, at
  // least, and all others of one. No such rows: 0, and the others are `max_rows`.
  int32_t max_chunked = 0;
  int32_t max_rest = 0;
};

}  // namespace llmservice::gpu
