// Sampling where the logits are: rules, penalties, mask, temperature, truncation, draw, logprobs and health
// of each row, so that a step brings back SampleResults instead of rows of the vocabulary.
//
// The token is the host sampler's (engine/sampler.h): weights, noise and logarithms have its bits, and
// truncation compares sums of integers, which have no order (engine/draw_math.h). Logprobs differ by the
// rounding of their normalizer, which is summed chunk by chunk: under 1e-6.
//
// How a step uses it: engine/sample_lists.h turns the slots' parameters into the lists below while the
// forward pass runs (they need nothing of its result: rows of drafts are asked for as if the drafts before
// them were right); sample() follows the head's matmul on the same stream; results and row faults are the one
// download of the step. Rows behind a draft whose sequence has a grammar are drawn on the host instead
// (engine/draws.cpp).
#pragma once

#include "backends/gpu/launch.h"
#include "ops/sample_request.h"

namespace llmservice::gpu {

// All on the device.
struct SampleTables {
  const float* logits;  // (R, V), on 16 bytes
  int32_t vocab;        // at most 2^22
  const SampleRequest* requests;
  int32_t count;  // of requests; those beyond the step's have a negative row
  const uint32_t* masks;
  const TokenBias* biases;
  const TokenCount* counts;
};

// What at least one request needs: launches that none does are left out.
struct SampleNeeds {
  bool draws = false;  // at a temperature
  bool edits = false;
  bool truncates = false;
};

// Bytes of workspace that sample() needs, which asks nothing of what is in it.
int64_t sample_workspace(int32_t vocab, int32_t count);

// results (count); those of requests without a row are left as they are.
Launches sample(const SampleTables&, const SampleNeeds&, std::byte* workspace, SampleResult* results);

}  // namespace llmservice::gpu
