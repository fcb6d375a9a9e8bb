// Where the sums of a product with swizzled tiles go: to the output, or to the workspace, between two slices
// of K that one block walks, and where the last of several blocks adds up the slices in the order of K.
#pragma once

#include "backends/gpu/kernels/carried_sums.h"
#include "backends/gpu/kernels/swizzled_ring.h"
#include "backends/gpu/kernels/swizzled_tile.h"

namespace llmservice::gpu {

// Accumulators that are read or written at a time: what is on its way takes registers.
template <int kTokens>
constexpr int kBatch = kTokens < 64 ? kTokens / 2 : 32;

// Writes a batch of sums, those of `first_token` and after it, to `out`.
template <int kCount>
__device__ void write(const Product& p, int64_t first_token, int32_t first_output,
                      const float (&sums)[kCount]) {
  const int64_t first = first_token + lane_id() % 4 * 2;
  const int64_t tokens = p.rows - first;
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() / 4;
  const bool here[] = {output < p.outputs, output + 8 < p.outputs};
  const int64_t row = keep_here(p.stride);
  float* to = p.out + first * row + output;
#pragma unroll
  for (int i = 0; i < kCount; i += 4, to += 8 * row) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (i * 2 + j % 2 < tokens && here[j / 2]) to[j % 2 * row + j / 2 * 8] = sums[i + j];
    }
  }
}

template <DType dtype, int kTokens>
__device__ void write(const Product& p, const Piece& piece, int32_t first_output,
                      Tile<dtype, kTokens>& tile) {
  // Of blocks of many tokens fewer at a time: all accumulators are alive until the last.
  constexpr int kCount = kTokens < 128 ? kBatch<kTokens> : 16;
  const int64_t first_token = int64_t{piece.token_block} * kTokens;
#pragma unroll
  for (int at = 0; at < kTokens / 2; at += kCount) {
    float batch[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) batch[i] = tile.sum(at + i);
    write(p, first_token + at * 2, first_output, batch);
  }
}

// Where a block that walks all K has its sums at the end of a slice, for this lane.
template <int kTokens>
__device__ float* carried_sums(const Product& p) {
  // Found again, rather than held in registers over all of K.
  const int64_t warp = keep_here(int64_t{blockIdx.x} * kConsumers + warp_id());
  return p.partial + warp * kCarriedFloats<kTokens> + lane_id() * 4;
}

// Where the sums of a slice of a pair's K lie in the workspace, for this lane: four, then those of the other
// lanes, and so on.
template <int kTokens>
__device__ float* partial_sums(const Product& p, const Piece& piece, int32_t slice) {
  const int32_t first_pair = slice * p.slices.length / p.slices.k_tiles;
  const int64_t slot =
      2 * (int64_t{piece.token_block} * p.slices.count + slice) + (first_pair == piece.pair ? 0 : 1);
  return p.partial + (slot * kConsumers + warp_id()) * kTokens * 16 + lane_id() * 4;
}

// Leaves a warp's sums of its part of K in the workspace. The last warp to come adds all parts up, in the
// order of K, and writes them out.
template <DType dtype, int kTokens>
__device__ void join(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile) {
  const int32_t first = p.slices.first_of(piece.pair);
  const int32_t last = p.slices.last_of(piece.pair);
  const int32_t own = (piece.pair * p.slices.k_tiles + piece.begin) / p.slices.length;
  float* const mine = partial_sums<kTokens>(p, piece, own);
#pragma unroll
  for (int i = 0; i < kTokens / 2; i += 4) {
    *reinterpret_cast<float4*>(mine + i * kWarpSize) = {tile.sum(i), tile.sum(i + 1), tile.sum(i + 2),
                                                        tile.sum(i + 3)};
  }
  sync_warp();
  int32_t* const counter = p.counters + (piece.token_block * p.slices.count + first) * kConsumers + warp_id();
  const int32_t before = lane_id() == 0 ? count_in_order(counter) : 0;
  if (shuffle(before, 0) != last - first) return;
  sync_warp();  // what lane 0 may now read of the others' sums, all lanes may
  if (lane_id() == 0) *counter = 0;
  constexpr int kCount = kBatch<kTokens>;
  // Sums of so many slices are read at once: each comes from L2, and one after the other they would take
  // longer than the product of a few rows.
  constexpr int kAtOnce = 32 / kCount;
#pragma unroll 1
  for (int at = 0; at < kTokens / 2; at += kCount) {
    float sums[kCount];
#pragma unroll 1
    for (int32_t slice = first; slice <= last; slice += kAtOnce) {
      float4 parts[kAtOnce][kCount / 4];
#pragma unroll
      for (int s = 0; s < kAtOnce; ++s) {
        if (slice + s > last) break;
        const float* const from = partial_sums<kTokens>(p, piece, slice + s) + at * kWarpSize;
#pragma unroll
        for (int i = 0; i < kCount / 4; ++i) {
          parts[s][i] = *reinterpret_cast<const float4*>(from + 4 * i * kWarpSize);
        }
      }
#pragma unroll
      for (int s = 0; s < kAtOnce; ++s) {
        if (slice + s > last) break;
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
          const float4& four = parts[s][i / 4];
          const float values[] = {four.x, four.y, four.z, four.w};
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            sums[i + j] = slice + s == first ? values[j] : sums[i + j] + values[j];
          }
        }
      }
    }
    write(p, int64_t{piece.token_block} * kTokens + at * 2, first_output, sums);
  }
}

}  // namespace llmservice::gpu
