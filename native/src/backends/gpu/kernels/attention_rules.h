// ScoreRules of ops/attention.h as kernels take them. Scores are powers of two: log2(e) multiplies them.
#pragma once

#include "backends/gpu/vendor/mma.h"
#include "ops/attention.h"

namespace llmservice::gpu {

constexpr float kLog2E = 1.44269504f;
constexpr int32_t kWholeSegment = 1 << 30;  // more than any has

struct DeviceRules {
  float cap = 0;           // times log2(e); 0: none
  float double_share = 0;  // 2 / cap: of a score, twice its share of the cap, times log2(e)
  const float* sinks = nullptr;
  int32_t behind = 0;  // positions behind its own that a row sees, as far as its segment has them

  DeviceRules() = default;
  DeviceRules(const ScoreRules& rules, int32_t window)
      : cap(rules.cap * kLog2E),
        double_share(rules.cap > 0 ? 2 / rules.cap : 0),
        sinks(rules.sinks),
        behind(rules.causal ? 0 : (window > 0 ? window : kWholeSegment) - 1) {}

  // Behind the last position that the row at `position` sees of a segment that ends at `segment_end`.
  __device__ __forceinline__ int32_t visible_end(int32_t position, int32_t segment_end) const {
    const int32_t end = position + 1 + behind;
    return end < segment_end ? end : segment_end;
  }

  // cap · tanh(score / cap), tanh x being 1 - 2 / (1 + e^2x): off by 2^-21 of the cap at most.
  __device__ __forceinline__ float capped(float score) const {
    return fmaf(-2 * cap, reciprocal(1.0f + fast_exp2(score * double_share)), cap);
  }

  // What the head's weights are divided by, given their sum relative to 2^top.
  __device__ __forceinline__ float with_sink(float total, float top, int32_t head) const {
    return sinks == nullptr ? total : total + fast_exp2(sinks[head] * kLog2E - top);
  }
};

}  // namespace llmservice::gpu
