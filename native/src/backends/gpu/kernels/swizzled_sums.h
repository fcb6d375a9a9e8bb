// Where the sums of a product with swizzled tiles go: to the output, to it between two slices of K that one
// block walks, or to the workspace, where the last of several blocks adds up the slices in the order of K.
#pragma once

#include "backends/gpu/kernels/swizzled_ring.h"
#include "backends/gpu/kernels/swizzled_tile.h"

namespace llmservice::gpu {

// Accumulators that are read or written at a time: what is on its way takes registers.
template <int kTokens>
constexpr int kBatch = kTokens < 64 ? kTokens / 2 : 32;

// Of blocks of many tokens, which add to what is there: so many are read before the first is added.
constexpr int kManyReads = 16;

// Writes a batch of sums, those of `first_token` and after it, to `out`, or adds them to what is there.
template <int kCount>
__device__ void write(const Product& p, int64_t first_token, int32_t first_output, float (&sums)[kCount],
                      bool adds) {
  const int64_t first = first_token + lane_id() % 4 * 2;
  const int64_t tokens = p.rows - first;
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() / 4;
  const bool here[] = {output < p.outputs, output + 8 < p.outputs};
  const int64_t row = keep_here(p.stride);
  const auto each = [&](const auto& visit) {
    float* to = p.out + first * row + output;
#pragma unroll
    for (int i = 0; i < kCount; i += 4, to += 8 * row) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (i * 2 + j % 2 < tokens && here[j / 2]) visit(to[j % 2 * row + j / 2 * 8], i + j);
      }
    }
  };
  if (adds) {
    if constexpr (kCount == kManyReads) {
      float before[kCount] = {};
      each([&](const float& out, int i) { before[i] = out; });
#pragma unroll
      for (int i = 0; i < kCount; ++i) sums[i] = before[i] + sums[i];
    } else {
      each([&](const float& out, int i) { sums[i] = out + sums[i]; });
    }
  }
  each([&](float& out, int i) { out = sums[i]; });
}

template <DType dtype, int kTokens>
__device__ void write(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile,
                      bool adds) {
  constexpr int kCount = kTokens < 128 ? kBatch<kTokens> : kManyReads;
  const int64_t first_token = int64_t{piece.token_block} * kTokens;
#pragma unroll
  for (int at = 0; at < kTokens / 2; at += kCount) {
    float batch[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) batch[i] = tile.sum(at + i);
    write(p, first_token + at * 2, first_output, batch, adds);
  }
}

// Whether all of a warpgroup's outputs of all tokens exist, in rows that lie on 16 bytes.
template <int kTokens>
__device__ bool is_full(const Product& p, const Piece& piece, int32_t first_output) {
  return (int64_t{piece.token_block} + 1) * kTokens <= p.rows && first_output + kTileRows <= p.outputs &&
         p.stride % 4 == 0 && reinterpret_cast<uintptr_t>(p.out) % 16 == 0;
}

// Ends a slice of a full tile: adds the sums of the slices before (`adds`), and keeps the sums for the slice
// after (`keeps`) or writes them out. They are kept where the warp's outputs will be, four of a lane side by
// side rather than as outputs lie, which takes a quarter of the accesses.
template <DType dtype, int kTokens>
__device__ void carry(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile,
                      bool adds, bool keeps) {
  constexpr int kFours = kBatch<kTokens> / 4;
  const int64_t first_token = int64_t{piece.token_block} * kTokens + lane_id() / 4;
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() % 4 * 4;
  const int64_t step = keep_here(int64_t{p.stride} * 8);
  float* const kept = p.out + first_token * p.stride + output;
  if (adds) {
#pragma unroll
    for (int at = 0; at < kTokens / 8; at += kFours) {
      // All of a batch are read before the first is added, so that many reads are under way.
      float4 before[kFours];
#pragma unroll
      for (int i = 0; i < kFours; ++i) before[i] = *reinterpret_cast<const float4*>(kept + (at + i) * step);
#pragma unroll
      for (int i = 0; i < kFours; ++i) {
        const float values[] = {before[i].x, before[i].y, before[i].z, before[i].w};
#pragma unroll
        for (int j = 0; j < 4; ++j) tile.sum((at + i) * 4 + j) += values[j];
      }
    }
  }
  if (keeps) {
#pragma unroll
    for (int i = 0; i < kTokens / 8; ++i) {
      *reinterpret_cast<float4*>(kept + i * step) = {tile.sum(i * 4), tile.sum(i * 4 + 1),
                                                     tile.sum(i * 4 + 2), tile.sum(i * 4 + 3)};
    }
    return;
  }
  sync_warp();  // other lanes' sums were kept where this one's outputs go
  write(p, piece, first_output, tile, false);
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
    write(p, int64_t{piece.token_block} * kTokens + at * 2, first_output, sums, false);
  }
}

}  // namespace llmservice::gpu
