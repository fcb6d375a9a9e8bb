// The launches of sample() that stand in other files than its plan.
#pragma once

#include "backends/gpu/kernels/sample_view.h"

namespace llmservice::gpu {

// A block to each chunk of each request.
inline Grid chunk_grid(const SampleView& view) {
  return {static_cast<uint32_t>(view.chunks), static_cast<uint32_t>(view.tables.count)};
}

Launch survey(const SampleView&);
Launch edit(const SampleView&);
Launch edited_argmax(const SampleView&);
// One block to a request puts its chunks together, cuts the candidates and draws.
Launch choose(const SampleView&, SampleResult* results);

}  // namespace llmservice::gpu
