// Gated DeltaNet, as the ops of the same names in ops/ops.h; lists lie on the device. `rows` is the number of
// rows of the step up to the end of the last segment; segments lie in the order of their rows, and there may
// be rows of none between them. Heads of up to 128 keys, and values where they are normed, convolutions over
// 2 to 4 positions: others are refused as UnsupportedArchitecture.
#pragma once

#include <optional>

#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/launch.h"
#include "backends/gpu/step_segments.h"

namespace llmservice::gpu {

Launch gdn_reset(const GdnShape&, const int32_t* slots, int32_t count, const GdnState&);
Launch gdn_copy(const GdnShape&, const StateCopy* copies, int32_t count, const GdnState&);

// Floats of workspace that gdn_conv() needs for `rows` rows.
int64_t gdn_conv_workspace(const GdnShape&, int64_t rows);

Launches gdn_conv(const GdnShape&, const StepSegments&, int64_t rows, const float* weight, float* qkv,
                  int64_t stride, const GdnState&, float* workspace);

// Floats of workspace that gdn() needs for `rows` rows; it begins on 16 bytes.
int64_t gdn_workspace(const GdnShape&, int64_t rows);

// Reads segments and S before the launch right before it has ended: that one writes neither, and waits for
// the one before itself before it lets the next start. gdn_conv() is such a one.
Launches gdn(const GdnShape&, const StepSegments&, int64_t rows, const float* qkv, int64_t qkv_stride,
             const float* beta_in, const float* gate_in, int64_t gate_stride, const float* a_log,
             const float* dt_bias, const GdnState&, float* workspace, float* out, const GdnNorm& norm);

// The convolution that a step begins with.
struct GdnConvolution {
  const float* weight;
  float* tails;      // GdnState::conv
  int32_t* readers;  // (segments, k_heads) counters, zero before and after
  bool settled;      // no launch that may still run as it begins has written S
};

// gdn_conv() and gdn() of a step without chunks in one launch, which leaves qkv as it is, and quantizes what
// it puts out where `to` is not null. None for shapes and steps that it does not take. Bits are those of
// both.
std::optional<Launch> gdn_step(const GdnShape&, const StepSegments&, const GdnConvolution&, const float* qkv,
                               int64_t qkv_stride, const float* beta_in, const float* gate_in,
                               int64_t gate_stride, const float* a_log, const float* dt_bias, const GdnState&,
                               float* out, const GdnNorm& norm, const Activations* to);

}  // namespace llmservice::gpu
