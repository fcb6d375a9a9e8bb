// Attention of a prompt's chunks on Hopper's warpgroup instructions, for heads of 256 features with KV in
// bf16: rows that see all before them. A block has 128 query rows of one KV head, the rows of a segment times
// the heads that share it, 64 for each of two warpgroups; a third brings keys and values, 64 positions at a
// time. Scores and sums stay in registers; bf16 weights are the products' operand there. Tiles begin at
// multiples of 64 positions and come in order, each brought under one maximum, so that a row's bits depend on
// its own sequence alone. They are not those of attention_kernel.h: which rows come here follows from
// Segment::chunked_until, as it does in Gated DeltaNet.
// Bound by shared memory and tensor cores alike: of a tile both warpgroups read 192 KB for 8.4 MFLOP.
#pragma once

#include "backends/gpu/kernels/attention_kernel.h"
#include "backends/gpu/step_segments.h"

namespace llmservice::gpu {

// Else chunks are as other rows.
bool attends_chunks(const AttentionShape& shape, const ScoreRules& rules);
// The chunks of all segments.
Launch attend_chunks(const AttentionWork& work, const StepSegments& step);

}  // namespace llmservice::gpu
