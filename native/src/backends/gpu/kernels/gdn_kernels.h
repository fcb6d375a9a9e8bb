// What the kernels of the gated delta rule share: their arguments, the gates, and where the chunked form
// keeps what it works out for a chunk of 64 rows before the scan over chunks.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/chunked_rows.h"
#include "backends/gpu/kernels/gdn.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr int kGdnDepth = 128;  // keys of a head, at most
constexpr int kGdnChunk = 64;   // positions
constexpr float kGdnNormEps = 1e-6f;
constexpr int kGdnNormWidth = 128;  // values of a head that is normed, at most

struct GdnArguments {
  const Segment* segments;
  const float* qkv;
  int64_t qkv_stride;
  const float* beta;
  const float* gate;
  int64_t gate_stride;
  const float* a_log;
  const float* dt_bias;
  float* s;
  float* workspace;
  float* out;
  const float* z;
  int64_t z_stride;
  const float* norm_weight;
  float norm_eps;
  int32_t segment_count;
  int32_t k_heads;
  int32_t v_heads;
  int32_t k_dim;
  int32_t v_dim;
  int32_t tiled;
  // Whether rows of q, k, v and S are whole and lie on 16 bytes.
  int32_t whole;

  __device__ int k_head_of(int v_head) const {
    return tiled != 0 ? v_head % k_heads : v_head / (v_heads / k_heads);
  }
  __device__ const float* q(int64_t row, int k_head) const { return qkv + row * qkv_stride + k_head * k_dim; }
  __device__ const float* k(int64_t row, int k_head) const { return q(row, k_heads + k_head); }
  __device__ const float* v(int64_t row, int v_head) const {
    return q(row, 2 * k_heads) + int64_t{v_head} * v_dim;
  }
  __device__ float* s_of(const Segment& segment, int v_head) const {
    return s + (int64_t{segment.slot} * v_heads + v_head) * k_dim * v_dim;
  }
  __device__ float* out_of(int64_t row, int v_head) const { return out + (row * v_heads + v_head) * v_dim; }
  __device__ float beta_of(int64_t row, int v_head) const {
    return 1.0f / (1.0f + expf(-beta[row * gate_stride + v_head]));
  }
  // g: the logarithm of the decay.
  __device__ float log_decay_of(int64_t row, int v_head) const {
    const float x = gate[row * gate_stride + v_head] + dt_bias[v_head];
    return -expf(a_log[v_head]) * (x > 20.0f ? x : log1pf(expf(x)));
  }
};
static_assert(sizeof(GdnArguments) == 14 * 8 + 8 * 4);  // launches are compared by their bytes: no padding

// Writes columns [first_column, first_column + 128) of a head's output, normed if that is asked for, and to
// `copy` (null: nowhere) too. One warp.
__device__ __forceinline__ void write_output(const GdnArguments& a, int64_t row, int v_head, int first_column,
                                             const float* from, float* copy = nullptr) {
  constexpr int kEach = kGdnNormWidth / kWarpSize;
  float values[kEach];
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int c = lane_id() + i * kWarpSize;
    values[i] = first_column + c < a.v_dim ? from[c] : 0.0f;
    squares = fmaf(values[i], values[i], squares);
  }
  if (a.norm_weight != nullptr) {
    const float scale = 1.0f / sqrtf(reduce_warp<Sum>(squares) / static_cast<float>(a.v_dim) + a.norm_eps);
    const float* const z = a.z + row * a.z_stride + int64_t{v_head} * a.v_dim;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int c = lane_id() + i * kWarpSize;
      if (c < a.v_dim) values[i] *= scale * a.norm_weight[c] * (z[c] / (1.0f + expf(-z[c])));
    }
  }
  float* const to = a.out_of(row, v_head) + first_column;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int c = lane_id() + i * kWarpSize;
    if (first_column + c < a.v_dim) to[c] = values[i];
    if (copy != nullptr) copy[c] = values[i];
  }
}

// The rows of the step fall into runs of kRows, and of the tiles of kRows rows that a segment is cut into
// from its first, at most one begins in each run. Row where that of `run` begins, or kNoRow. `from` is the
// first tile that counts, and `only_chunked` leaves out rows that run recurrently. All threads of the block
// call it.
struct TilePlace {
  int32_t row;
  int32_t segment;
};
template <int kRows>
__device__ __forceinline__ TilePlace find_tile(const Segment* segments, int32_t count, int32_t run,
                                               int32_t from, bool only_chunked) {
  __shared__ TilePlace found;
  if (threadIdx.x == 0) found = {kNoRow, 0};
  sync_block();
  for (auto i = static_cast<int32_t>(threadIdx.x); i < count; i += static_cast<int32_t>(blockDim.x)) {
    const Segment& segment = segments[i];
    const int32_t rows = only_chunked ? chunked_rows(segment) : segment.count;
    const int32_t ahead = run * kRows - segment.first;
    const int32_t tile = ahead <= 0 ? 0 : (ahead + kRows - 1) / kRows;
    const int32_t row = segment.first + tile * kRows;
    if (tile >= from && tile * kRows < rows && row < (run + 1) * kRows) found = {row, i};
  }
  sync_block();
  return found;
}

// Of a chunk and V head, in the workspace (chunks, v_heads, kGdnChunkFloats). T' = (I + A)⁻¹ diag(β) and P
// are lower triangles of 16 x 16 tiles, tile (i, j) the (i (i + 1) / 2 + j)th, in the lanes' order
// (tiles_f32.h). Four scalars of each row: e^G/|k|, e^G/|q|/√k_dim, e^{G_last-G}/|k|, and e^{G_last}.
constexpr int kGdnTiles = kGdnChunk / 16;
constexpr int kGdnTriangleFloats = kGdnTiles * (kGdnTiles + 1) / 2 * 256;
constexpr int kGdnScalarFloats = 4 * kGdnChunk;
constexpr int kGdnChunkFloats = 2 * kGdnTriangleFloats + kGdnScalarFloats;

__host__ __device__ constexpr int triangle_tile(int i, int j) { return (i * (i + 1) / 2 + j) * 256; }

// `row`: the chunk's first.
__device__ __forceinline__ float* chunk_workspace(const GdnArguments& a, int32_t row, int v_head) {
  return a.workspace + (int64_t{row / kGdnChunk} * a.v_heads + v_head) * kGdnChunkFloats;
}

// Over at most `rows` rows of chunks.
Launch gdn_prepare_chunks(const GdnArguments&, int64_t rows);
Launch gdn_scan_chunks(const GdnArguments&);
Launch gdn_recurrent(const GdnArguments&);
Launch gdn_step_rows(const GdnArguments&, const GdnConvolution&, const Activations* to);

}  // namespace llmservice::gpu
