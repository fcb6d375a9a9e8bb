// What the chunked gated delta rule can work out for each chunk before S is known. With G the running sum of
// g in the chunk of 64 rows:
//   A_ij = β_i (k_i·k_j) e^{Gi-Gj} (j < i),   T' = (I + A)⁻¹ diag(β),   P_ij = (q_i·k_j) e^{Gi-Gj} (j <= i)
// One block for a chunk and K head: the products of q and k are shared by its V heads. Everything is worked
// out transposed, since a transposed tile is, as it lies, the left operand that the scan takes. q and k stay
// as they are; their lengths go into the rows' factors.
#include "backends/gpu/kernels/gdn_kernels.h"
#include "backends/gpu/kernels/gdn_tiles.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {
namespace {

constexpr int kWarps = kGdnTiles;  // warp i has rows [16 i, 16 i + 16) of the triangles
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kPitch = 20;  // floats of a row of a tile in shared memory
constexpr int kTilePitch = 16 * kPitch;

struct Shared {
  float a[kGdnTiles * (kGdnTiles + 1) / 2][kTilePitch];  // Aᵀ, tiles (row j, column i) as triangle_tile(i, j)
  float inverse[kGdnTiles][kTilePitch];                  // (I + A_ii)⁻ᵀ
  float q_scale[kGdnChunk];
  float k_scale[kGdnChunk];
  float beta[kGdnChunk];
  float g[kGdnChunk];  // G
};

template <bool kWhole>
__device__ __forceinline__ Operand rows_operand(const float* from, int64_t stride, int d, int k_dim) {
  return operand_of_runs([&](int outer, int inner) {
    const float* const at = from + outer * stride + d + inner;
    return kWhole ? load_floats<kInnerRun>(at) : load_some<kInnerRun>(at, k_dim - d - inner);
  });
}

// 1/|q|/√k_dim and 1/|k| of the chunk's rows.
__device__ __forceinline__ void find_scales(const GdnArguments& a, int32_t first, int k_head,
                                            Shared& shared) {
  constexpr int kEach = kGdnDepth / kWarpSize;
  constexpr int kOfWarp = kGdnChunk / kWarps;
#pragma unroll 4
  for (int i = 0; i < kOfWarp; ++i) {
    const int row = warp_id() * kOfWarp + i;
    const float* const q = a.q(first + row, k_head);
    const float* const k = a.k(first + row, k_head);
    float qq = 0;
    float kk = 0;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int d = lane_id() + j * kWarpSize;
      const float q_value = d < a.k_dim ? q[d] : 0.0f;
      const float k_value = d < a.k_dim ? k[d] : 0.0f;
      qq = fmaf(q_value, q_value, qq);
      kk = fmaf(k_value, k_value, kk);
    }
    qq = reduce_warp<Sum>(qq);
    kk = reduce_warp<Sum>(kk);
    if (lane_id() == 0) {
      shared.q_scale[row] = 1.0f / (sqrtf(qq + kGdnNormEps) * sqrtf(static_cast<float>(a.k_dim)));
      shared.k_scale[row] = 1.0f / sqrtf(kk + kGdnNormEps);
    }
  }
}

// β and G of the chunk; one warp.
__device__ __forceinline__ void find_gates(const GdnArguments& a, int32_t first, int v_head, Shared& shared) {
  constexpr int kEach = kGdnChunk / kWarpSize;  // rows of a lane, next to each other
  float g[kEach];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = lane_id() * kEach + i;
    shared.beta[row] = a.beta_of(first + row, v_head);
    g[i] = sum += a.log_decay_of(first + row, v_head);
  }
  float before = sum;
#pragma unroll
  for (int lanes = 1; lanes < kWarpSize; lanes *= 2) {
    const float other = shuffle(before, (lane_id() - lanes) & (kWarpSize - 1));
    if (lane_id() >= lanes) before += other;
  }
  before = shuffle(before, (lane_id() - 1) & (kWarpSize - 1));
#pragma unroll
  for (int i = 0; i < kEach; ++i) shared.g[lane_id() * kEach + i] = lane_id() == 0 ? g[i] : before + g[i];
}

// Row i of (I + A_ii)⁻ᵀ's columns by forward substitution: lane c finds column c of (I + A_ii)⁻¹. One warp.
__device__ __forceinline__ void invert_diagonal(const float* a, float* inverse) {
  if (lane_id() < 16) {
    float x[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
      x[r] = r == lane_id() ? 1.0f : 0.0f;
#pragma unroll
      for (int m = 0; m < r; ++m) x[r] = fmaf(-a[m * kPitch + r], x[m], x[r]);
    }
#pragma unroll
    for (int r = 0; r < 16; r += 4) {
      store_floats(inverse + lane_id() * kPitch + r, Float4{x[r], x[r + 1], x[r + 2], x[r + 3]});
    }
  }
}

__device__ __forceinline__ Operand shared_rows(const float* tile) {
  return operand_of_runs(
      [&](int outer, int inner) { return load_floats<kInnerRun>(tile + outer * kPitch + inner); });
}

// Multiplies tile (row j, column i) of the transposed chunk by factor(i, j), where that is not zero.
template <class Factor>
__device__ __forceinline__ Tile scaled(const Tile& tile, const Factor& factor) {
  Tile made;
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) {
    made.v[i] = tile.v[i] * factor(outer_of(lane_id(), i), inner_of(lane_id(), i));
  }
  return made;
}

// Grid (runs of 64 rows, k_heads).
template <bool kWhole>
__global__ void __launch_bounds__(kThreads) prepare_kernel(GdnArguments a) {
  Shared& shared = *dynamic_shared<Shared>();
  wait_for_previous();
  let_next_start();
  const int32_t first =
      find_tile<kGdnChunk>(a.segments, a.segment_count, static_cast<int32_t>(blockIdx.x), 0, true).row;
  if (first == kNoRow) return;
  const auto k_head = static_cast<int>(blockIdx.y);
  const int warp = warp_id();
  find_scales(a, first, k_head, shared);

  Tile kk[kGdnTiles];  // rows j, columns [16 warp, 16 warp + 16)
  Tile kq[kGdnTiles];
  const float* const k = a.k(first, k_head);
  const float* const q = a.q(first, k_head);
  const int64_t strip = 16 * a.qkv_stride;
#pragma unroll 1
  for (int d = 0; d < a.k_dim; d += 16) {
    const Operand k_right = rows_operand<kWhole>(k + warp * strip, a.qkv_stride, d, a.k_dim);
    const Operand q_right = rows_operand<kWhole>(q + warp * strip, a.qkv_stride, d, a.k_dim);
#pragma unroll
    for (int j = 0; j < kGdnTiles; ++j) {
      if (j > warp) break;
      const Operand left = rows_operand<kWhole>(k + j * strip, a.qkv_stride, d, a.k_dim);
      multiply_add(kk[j], left, k_right);
      multiply_add(kq[j], left, q_right);
    }
  }

  const int v_heads = a.v_heads / a.k_heads;
#pragma unroll 1
  for (int n = 0; n < v_heads; ++n) {
    const int v_head = a.tiled != 0 ? k_head + n * a.k_heads : k_head * v_heads + n;
    float* const made = chunk_workspace(a, first, v_head);
    sync_block();
    if (warp == 0) find_gates(a, first, v_head, shared);
    sync_block();
    // e^{Gi-Gj}; where j comes after i the exponent may be huge.
    const auto decay = [&](int i, int j, bool is_there) {
      return is_there ? expf(shared.g[i] - shared.g[j]) : 0.0f;
    };
#pragma unroll
    for (int j = 0; j < kGdnTiles; ++j) {
      if (j > warp) break;
      const Tile at = scaled(kk[j], [&](int column, int row) {
        const int i_row = 16 * warp + column;
        const int j_row = 16 * j + row;
        return shared.beta[i_row] * shared.k_scale[i_row] * shared.k_scale[j_row] *
               decay(i_row, j_row, j_row < i_row);
      });
      float* const to = shared.a[triangle_tile(warp, j) / 256];
#pragma unroll
      for (int i = 0; i < kTileFloats; ++i) {
        to[inner_of(lane_id(), i) * kPitch + outer_of(lane_id(), i)] = at.v[i];
      }
      store_lanes(made + kGdnTriangleFloats + triangle_tile(warp, j), scaled(kq[j], [&](int column, int row) {
                    const int i_row = 16 * warp + column;
                    const int j_row = 16 * j + row;
                    return shared.q_scale[i_row] * shared.k_scale[j_row] *
                           decay(i_row, j_row, j_row <= i_row);
                  }));
    }
    sync_warp();
    invert_diagonal(shared.a[triangle_tile(warp, warp) / 256], shared.inverse[warp]);
    sync_block();

    // With U = (I + A)⁻ᵀ: U_ji = -U_jj Σ_m Aᵀ_jm U_mi over m = j + 1 .. i; warp i has column i of tiles.
    Operand u[kGdnTiles];  // U_mi for m = i, i - 1, ...
    const auto store_u = [&](int j, const Tile& tile) {
      store_lanes(made + triangle_tile(warp, j),
                  scaled(tile, [&](int, int row) { return shared.beta[16 * j + row]; }));
    };
    Tile diagonal;
#pragma unroll
    for (int i = 0; i < kTileFloats; ++i) {
      diagonal.v[i] = shared.inverse[warp][inner_of(lane_id(), i) * kPitch + outer_of(lane_id(), i)];
    }
    store_u(warp, diagonal);
    u[0] = operand(diagonal.v);
#pragma unroll
    for (int back = 1; back < kGdnTiles; ++back) {
      if (back > warp) break;
      const int j = warp - back;
      Tile sum;
#pragma unroll
      for (int m = 0; m < back; ++m) {
        multiply_add(sum, shared_rows(shared.a[triangle_tile(warp - m, j) / 256]), u[m]);
      }
#pragma unroll
      for (int i = 0; i < kTileFloats; ++i) sum.v[i] = -sum.v[i];
      Tile tile;
      multiply_add(tile, shared_rows(shared.inverse[j]), operand(sum.v));
      store_u(j, tile);
      u[back] = operand(tile.v);
    }

    float* const scalars = made + 2 * kGdnTriangleFloats;
    for (auto i = static_cast<int>(threadIdx.x); i < kGdnChunk; i += kThreads) {
      const float last = shared.g[kGdnChunk - 1];
      const float decayed = expf(shared.g[i]);
      scalars[i] = decayed * shared.k_scale[i];
      scalars[kGdnChunk + i] = decayed * shared.q_scale[i];
      scalars[2 * kGdnChunk + i] = expf(last - shared.g[i]) * shared.k_scale[i];
      scalars[3 * kGdnChunk + i] = expf(last);
    }
  }
}

}  // namespace

Launch gdn_prepare_chunks(const GdnArguments& a, int64_t rows) {
  const Grid grid = {static_cast<uint32_t>(rows / kGdnChunk), static_cast<uint32_t>(a.k_heads)};
  const bool whole = a.whole != 0 && a.k_dim % 16 == 0;
  return make_launch("gdn_prepare", whole ? prepare_kernel<true> : prepare_kernel<false>, grid, kThreads,
                     sizeof(Shared), a);
}

}  // namespace llmservice::gpu
