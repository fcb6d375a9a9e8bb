// Rows behind the convolution, which a launch of its own has run: any heads, in any step (gdn_recurrent.h).
#include "backends/gpu/kernels/gdn_recurrent.h"

namespace llmservice::gpu {
namespace {

using namespace recurrent;

// v of a position. One warp.
__device__ __forceinline__ void load_values(const GdnArguments& a, int64_t row, int v_head, int first_column,
                                            int slot, Shared& shared) {
  const float* const from = a.v(row, v_head) + first_column;
#pragma unroll
  for (int c = lane_id(); c < kColumns; c += kWarpSize) {
    shared.v[slot][c] = first_column + c < a.v_dim ? from[c] : 0.0f;
  }
}

// Grid (v_heads, tiles of kColumns columns, segments).
template <bool kWhole>
__global__ void __launch_bounds__(kThreads, kWhole ? 2 : 1) recurrent_kernel(GdnArguments a) {
  Shared& shared = *dynamic_shared<Shared>();
  const Segment segment = a.segments[blockIdx.z];
  const auto v_head = static_cast<int>(blockIdx.x);
  const int first_column = static_cast<int>(blockIdx.y) * kColumns;
  const int32_t chunked = chunked_rows(segment);
  // The launch before has moved S over chunks. Without any, S is what an earlier launch left: the convolution
  // of this layer, which comes between, lets nothing start before all ahead of it has ended.
  run_rows<kWhole>(
      a, segment, chunked, v_head, first_column, chunked == 0, shared,
      [&](int32_t first, int32_t rows) {
        const int64_t row = segment.first + first;
        for (int i = warp_id(); i < 2 * rows; i += kWarps) {
          if (i < rows) {
            const int k_head = a.k_head_of(v_head);
            norm_keys(a, a.q(row + i, k_head), a.k(row + i, k_head), i, shared);
          } else {
            const int slot = i - rows;
            load_values(a, row + slot, v_head, first_column, slot, shared);
            if (lane_id() == 0) load_gates(a, row + slot, v_head, slot, shared);
          }
        }
      },
      [&](int64_t row, int slot) { write_output(a, row, v_head, first_column, shared.out[slot]); });
}

}  // namespace

Launch gdn_recurrent(const GdnArguments& a) {
  const Grid grid = {static_cast<uint32_t>(a.v_heads),
                     static_cast<uint32_t>((a.v_dim + kColumns - 1) / kColumns),
                     static_cast<uint32_t>(a.segment_count)};
  const bool whole = a.whole != 0 && a.k_dim == kGdnDepth && a.v_dim % kColumns == 0;
  return make_launch("gdn_recurrent", whole ? recurrent_kernel<true> : recurrent_kernel<false>, grid,
                     kThreads, sizeof(Shared), a);
}

}  // namespace llmservice::gpu
