// Gated DeltaNet, as the ops of the same names in ops/ops.h; lists lie on the device.
#pragma once

#include "backends/gpu/launch.h"
#include "backends/gpu/step_segments.h"

namespace llmservice::gpu {

Launch gdn_reset(const GdnShape&, const int32_t* slots, int32_t count, const GdnState&);
Launch gdn_copy(const GdnShape&, const StateCopy* copies, int32_t count, const GdnState&);
Launch gdn_conv(const GdnShape&, const StepSegments&, const float* weight, float* qkv, int64_t stride,
                const GdnState&);

// Floats of workspace that gdn() needs for `rows` rows.
int64_t gdn_workspace(const GdnShape&, int64_t rows);

Launches gdn(const GdnShape&, const StepSegments&, const float* qkv, int64_t qkv_stride, const float* beta_in,
             const float* gate_in, int64_t gate_stride, const float* a_log, const float* dt_bias,
             const GdnState&, float* workspace, float* out);

}  // namespace llmservice::gpu
