// Instantiates every kernel for one kind of lanes. Include from exactly one .cpp per instruction family,
// kernels_FAMILY; multiply_panel, which compiles as long as the others together, is in gemm_FAMILY.
#pragma once

#include "backends/cpu/attention_kernel.h"
#include "backends/cpu/conv_kernel.h"
#include "backends/cpu/delta_chunk_kernel.h"
#include "backends/cpu/delta_recurrent_kernel.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/low_rank_kernel.h"
#include "backends/cpu/routing_kernel.h"
#include "backends/cpu/row_kernels.h"

namespace llmservice::cpu {

template <class L>
void multiply_panel(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* scratch,
                    float* total);

template <class L>
constexpr Kernels make_kernels(const char* isa) {
  return {.isa = isa,
          .multiply_panel = multiply_panel<L>,
          .rms_norm = rms_norm<L>,
          .layer_norm = layer_norm<L>,
          .gated_rms_norm = gated_rms_norm<L>,
          .l2_normalize = l2_normalize<L>,
          .add = add<L>,
          .all_finite = all_finite<L>,
          .add_scaled = add_scaled<L>,
          .add_gated = add_gated<L>,
          .route_row = route_row<L>,
          .route_row_by_sigmoid = route_row_by_sigmoid<L>,
          .silu_mul = silu_mul<L>,
          .sigmoid_mul = sigmoid_mul<L>,
          .scale = scale<L>,
          .gelu_mul = gelu_mul<L>,
          .erf_gelu_mul = erf_gelu_mul<L>,
          .cap = cap<L>,
          .clamped_swiglu = clamped_swiglu<L>,
          .rotate = rotate<L>,
          .attend = attend<L>,
          .attend_split = attend_split<L>,
          .merge_splits = merge_splits<L>,
          .convolve = convolve<L>,
          .delta_gram = delta_gram<L>,
          .delta_chunks = delta_chunks<L>,
          .delta_recurrent = delta_recurrent<L>,
          .shrink = shrink<L>,
          .expand = expand<L>};
}

}  // namespace llmservice::cpu
