// The rows of a segment that run in chunks of 64: in Gated DeltaNet, and in attention where a device has a
// kernel of its own for them. Which they are depends on the sequence alone (Segment::chunked_until), never on
// how its prompt was cut.
#pragma once

#include "backends/gpu/vendor/vendor.h"
#include "ops/ops.h"

namespace llmservice::gpu {

// The segment's first ones: whole chunks, by the caller's promise.
__host__ __device__ __forceinline__ int32_t chunked_rows(const Segment& segment) {
  const int32_t below = segment.chunked_until - segment.position;
  return below < 0 ? 0 : below < segment.count ? below : segment.count;
}

// The segment without them.
__device__ __forceinline__ Segment behind_chunks(Segment segment) {
  const int32_t chunked = chunked_rows(segment);
  segment.first += chunked;
  segment.position += chunked;
  segment.count -= chunked;
  return segment;
}

}  // namespace llmservice::gpu
