// What happens to q, k and v between their projection and attention. A warp does one head of one row; bound
// by memory. Every rounding is written out.
#include <cmath>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;

struct alignas(16) Four {
  float at[4];
};

// 1 / rms of a head, by a warp.
__device__ __forceinline__ float head_scale(const float* head, int32_t dim, float eps) {
  float squares = 0;
  for (int i = lane_id(); i < dim; i += kWarpSize) squares = fmaf(head[i], head[i], squares);
  return 1.0f / sqrtf(reduce_warp<Sum>(squares) / static_cast<float>(dim) + eps);
}

// Turns the pair (low, high) by the angle with this cosine and sine.
__device__ __forceinline__ void rotate(float& low, float& high, float cos, float sin) {
  const float turned = fmaf(low, cos, -high * sin);
  high = fmaf(high, cos, low * sin);
  low = turned;
}

__device__ __forceinline__ int64_t cache_row(const AttentionShape& shape, const Segment& segment, int32_t row,
                                             int32_t kv_head) {
  const int32_t position = segment.position + row;
  const int64_t block = segment.blocks[position / shape.block_size];
  return (block * shape.kv_heads + kv_head) * shape.block_size + position % shape.block_size;
}

// As quantize_kv_row of ops/kv_row.h, with the device's own code. Lane l has features 4 l to 4 l + 3, and so
// on.
template <int kFours>
__device__ __forceinline__ float quantize(const Four (&values)[kFours], int32_t dim, uint8_t* codes) {
  float largest = 0;
  bool finite = true;
#pragma unroll
  for (const Four& four : values) {
#pragma unroll
    for (const float value : four.at) {
      finite &= fabsf(value) <= 3.402823466e38f;
      largest = fmaxf(largest, fabsf(value));
    }
  }
  finite = ballot(!finite) == 0;
  const float scale = reduce_warp<Max>(largest) / kFp8Max;
  const bool empty = !finite || scale < 1.175494351e-38f;
#pragma unroll
  for (int n = 0; n < kFours; ++n) {
    const int feature = (n * kWarpSize + lane_id()) * 4;
    if (feature >= dim) continue;
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint32_t code = empty ? 0 : float_to_fp8(values[n].at[k] / scale);
      word |= code << 8 * k;
    }
    *reinterpret_cast<uint32_t*>(codes + feature) = word;
  }
  if (!finite) return __builtin_nanf("");
  return empty ? 0.0f : scale;
}

// A head, which all lanes can read, to its place in the cache.
template <int kDim>
__device__ __forceinline__ void store_head(const AttentionShape& shape, const float* head, int64_t row,
                                           void* cache, float* scales) {
  constexpr int kFours = kDim / kWarpSize / 4;
  Four values[kFours];
#pragma unroll
  for (int n = 0; n < kFours; ++n) {
    const int feature = (n * kWarpSize + lane_id()) * 4;
    values[n] = {};
    if (feature < shape.head_dim) values[n] = *reinterpret_cast<const Four*>(head + feature);
  }
  if (shape.kv_dtype == DType::kF8E4M3) {
    const float scale = quantize(values, shape.head_dim, static_cast<uint8_t*>(cache) + row * shape.head_dim);
    if (lane_id() == 0) scales[row] = scale;
    return;
  }
#pragma unroll
  for (int n = 0; n < kFours; ++n) {
    const int feature = (n * kWarpSize + lane_id()) * 4;
    if (feature >= shape.head_dim) continue;
    uint64_t bits = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) bits |= static_cast<uint64_t>(float_to_bf16(values[n].at[k])) << 16 * k;
    *reinterpret_cast<uint64_t*>(static_cast<uint16_t*>(cache) + row * shape.head_dim + feature) = bits;
  }
}

struct KvWork {
  AttentionShape shape;
  const Segment* segments;
  float* q;
  const float* k;
  const float* v;
  int64_t stride;
  KvCache cache;
};

// Grid: (warps over the rows' heads, segments). Of a row's heads q comes first, then k, then v; of up to kDim
// features.
template <int kDim>
__global__ void __launch_bounds__(kThreads) norm_rope_write_kernel(KvWork work, NormRope norm) {
  __shared__ Four staged[kWarps][kDim / 4];
  let_next_start();
  wait_for_previous();
  const AttentionShape& shape = work.shape;
  const Segment segment = work.segments[blockIdx.y];
  const int32_t index = static_cast<int32_t>(blockIdx.x) * kWarps + warp_id();
  const int32_t items = shape.heads + 2 * shape.kv_heads;
  const int32_t row = index / items;
  if (row >= segment.count) return;
  const int64_t step_row = segment.first + row;
  const int32_t item = index % items;
  const bool is_q = item < shape.heads;
  const bool is_v = item >= shape.heads + shape.kv_heads;
  const int32_t own = is_q ? item : is_v ? item - shape.heads - shape.kv_heads : item - shape.heads;
  const float* const from = (is_q   ? work.q
                             : is_v ? work.v
                                    : work.k) +
                            step_row * work.stride + int64_t{own} * shape.head_dim;
  const float* const weight = is_q ? norm.q_norm : is_v ? norm.v_norm : norm.k_norm;
  const bool as_is = is_v && weight == nullptr;
  float* const head = staged[warp_id()][0].at;
  if (!as_is) {
    const float scale = weight == nullptr ? 1.0f : head_scale(from, shape.head_dim, norm.eps);
    for (int i = lane_id(); i < shape.head_dim; i += kWarpSize) {
      head[i] = weight == nullptr ? from[i] : from[i] * scale * weight[i];
    }
    sync_warp();
    const int32_t half = is_v ? 0 : norm.rotary / 2;
    for (int i = lane_id(); i < half; i += kWarpSize) {
      rotate(head[i], head[i + half], norm.cos[step_row * half + i], norm.sin[step_row * half + i]);
    }
    sync_warp();
  }
  if (!is_q) {
    return store_head<kDim>(shape, as_is ? from : head, cache_row(shape, segment, row, own),
                            is_v ? work.cache.v : work.cache.k,
                            is_v ? work.cache.v_scales : work.cache.k_scales);
  }
  float* const to = work.q + step_row * work.stride + int64_t{own} * shape.head_dim;
  for (int i = lane_id(); i < shape.head_dim; i += kWarpSize) to[i] = head[i];
}

Grid grid_of(const StepSegments& step, int32_t items) {
  return {(static_cast<uint32_t>(step.max_rows * items) + kWarps - 1) / kWarps,
          static_cast<uint32_t>(step.count)};
}

}  // namespace

Launch norm_rope_write(const AttentionShape& shape, const StepSegments& step, const NormRope& norm, float* q,
                       const float* k, const float* v, int64_t stride, const KvCache& cache) {
  const KvWork work{shape, step.segments, q, k, v, stride, cache};
  const auto kernel = shape.head_dim <= 256 ? norm_rope_write_kernel<256> : norm_rope_write_kernel<512>;
  return make_launch("norm_rope_write", kernel, grid_of(step, shape.heads + 2 * shape.kv_heads), kThreads, 0,
                     work, norm);
}

}  // namespace llmservice::gpu
