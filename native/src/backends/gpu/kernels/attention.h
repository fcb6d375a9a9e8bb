// Paged attention. KV is split at fixed absolute positions and the splits are put together in their order, so
// that a row's bits depend on nothing but its own sequence. On Hopper the chunks of a prompt have a kernel
// and bits of their own (attention_chunks.h); which rows these are depends on nothing else either. head_dim:
// a multiple of 16 up to 512; rows of q, k and v begin on 16 bytes; KV is kept in kBF16 or kF8E4M3.
#pragma once

#include <optional>

#include "backends/gpu/kernels/quantize.h"
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

// What each column of attention's output is multiplied by: the sigmoid of `gate` (T, heads * head_dim), whose
// rows lie `stride` apart. Null: by nothing.
struct HeadGates {
  const float* gate = nullptr;
  int64_t stride = 0;
};

// In place of attention()'s last launch where that one puts all rows together: it also opens the gates, as
// sigmoid_mul() does, and quantizes for a product where `to` is not null. None where it does not: steps with
// a segment of more than eight rows, or with more splits than have room at once. Bits are those of each op.
std::optional<Launch> attention_end(const AttentionShape&, const StepSegments&, const KvCache&,
                                    float* workspace, float* out, const ScoreRules&, const HeadGates&,
                                    const Activations* to);

}  // namespace llmservice::gpu
