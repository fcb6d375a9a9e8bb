// Paged attention. KV is split at fixed absolute positions and the splits are put together in their order, so
// that a row's bits depend on nothing but its own sequence. head_dim: a multiple of 16 up to 512; rows of q,
// k and v begin on 16 bytes; KV is kept in kBF16 or kF8E4M3.
#pragma once

#include "backends/gpu/launch.h"
#include "backends/gpu/step_segments.h"

namespace llmservice::gpu {

// As Backend::norm_rope_write(); k stays as it is.
Launch norm_rope_write(const AttentionShape&, const StepSegments&, const NormRope&, float* q, const float* k,
                       const float* v, int64_t stride, const KvCache&);

// Floats of workspace that suffice to attention() for `rows` rows, in no more segments than that, over
// sequences of up to `longest` positions: no fewer for wider heads.
int64_t attention_workspace(const AttentionShape&, int64_t rows, int32_t longest);

// out (T, heads, head_dim): attention of q over the cache, as Backend::attention().
Launches attention(const AttentionShape&, const StepSegments&, const float* q, int64_t q_stride,
                   const KvCache&, float* workspace, float* out, const ScoreRules& rules = {});

}  // namespace llmservice::gpu
