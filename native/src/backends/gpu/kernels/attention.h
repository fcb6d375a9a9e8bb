// Paged attention. KV is split at fixed absolute positions and the splits are put together in their order, so
// that a row's bits depend on nothing but its own sequence.
#pragma once

#include "backends/gpu/launch.h"
#include "backends/gpu/step_segments.h"

namespace llmservice::gpu {

// Writes k, v (T, kv_heads, head_dim), row strides given, into the cache at the segments' positions.
Launch write_kv(const AttentionShape&, const StepSegments&, const float* k, int64_t k_stride, const float* v,
                int64_t v_stride, const KvCache&);

// Floats of workspace that attention() needs for `rows` rows over sequences of up to `longest` positions.
int64_t attention_workspace(const AttentionShape&, int64_t rows, int32_t longest);

// out (T, heads, head_dim): causal attention of q over the cache.
Launches attention(const AttentionShape&, const StepSegments&, const float* q, int64_t q_stride,
                   const KvCache&, float* workspace, float* out);

}  // namespace llmservice::gpu
