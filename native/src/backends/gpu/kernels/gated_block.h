// What the blocks of matmul_gated.cu do: a ring of units, each a pair of gate's tiles, the pair of up's for
// the same columns and 128 tokens. Of the two warpgroups each has 64 columns, both sums of one in the same
// thread.
#pragma once

#include "backends/gpu/kernels/carried_sums.h"
#include "backends/gpu/kernels/gates.h"
#include "backends/gpu/kernels/quantize_record.h"
#include "backends/gpu/kernels/swizzled_ring.h"
#include "backends/gpu/kernels/swizzled_tile.h"

namespace llmservice::gpu {

constexpr DType kGatedType = DType::kF8E4M3;
constexpr int kGatedTokens = 128;
using GatedRing = Ring<kGatedType, kGatedTokens, 4>;
using GatedTile = Tile<kGatedType, kGatedTokens>;

struct GatedProduct {
  const std::byte* tiles;
  const float* scales;   // of each tile's outputs
  int32_t scale_stride;  // floats from one K block to the next
  int32_t pairs;         // of gate, and as many of up behind them
  Slices slices;         // of both
  int32_t token_blocks;
  const std::byte* activations;
  float* carried;  // (blocks, 2, kConsumers): sums of slices before, as accumulators lie
  Records out;

  // Piece `n` of this block; false when it has no more.
  __device__ bool piece(int32_t n, Piece* out) const {
    constexpr int32_t kTurns = 16;
    const auto at = static_cast<int32_t>(blockIdx.x + n * gridDim.x);
    if (at >= pairs * token_blocks) return false;
    *out = piece_in_turns<kTurns>(at, pairs, token_blocks, slices.k_tiles);
    return true;
  }
};

// In shared memory, behind the ring and its barriers.
struct GatedRoom {
  std::byte codes[kGatedTokens * kTileBytes];  // as a record has them
  uint32_t largest[kConsumers][kGatedTokens];  // magnitudes of each warp's columns
  float scales[kGatedTokens];                  // as a record has them
  float inverses[kGatedTokens];                // zero: a value is not finite
};
constexpr int kGatedShared = GatedRing::bytes_of(GatedRing::kStages) + static_cast<int>(sizeof(GatedRoom));
static_assert(kGatedShared <= kSharedBytes);

__device__ __forceinline__ uint64_t* meeting_barrier(const GatedRing& ring) { return ring.turns() + 2; }
__device__ __forceinline__ GatedRoom& gated_room(const GatedRing& ring) {
  return *reinterpret_cast<GatedRoom*>(ring.turns() + 4);
}

// Where all consumers wait for each other.
class Meeting {
 public:
  __device__ explicit Meeting(uint64_t* barrier) : barrier_(barrier) {}
  __device__ void wait() {
    sync_warp();
    if (lane_id() == 0) arrive(barrier_);
    wait_phase(barrier_, phase_);
    phase_ ^= 1;
  }

 private:
  uint64_t* barrier_;
  uint32_t phase_ = 0;
};

__device__ __forceinline__ void bring_gated(const GatedProduct& p, const Piece& piece, int32_t k,
                                            const GatedRing& ring) {
  expect_bytes(ring.full(ring.at), 4 * kTileSize + GatedRing::kRecord);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int32_t row = 2 * (piece.pair + i / 2 * p.pairs) + i % 2;
    copy_bulk(ring.weights(i), p.tiles + (int64_t{row} * p.slices.k_tiles + k) * kTileSize, kTileSize,
              ring.full(ring.at));
    // Consumers read scales only one unit ahead.
    if (i % 2 == 0) prefetch(p.scales + int64_t{k} * p.scale_stride + row);
  }
}

__device__ __forceinline__ void bring_tokens(const GatedProduct& p, const Piece& piece, int32_t k,
                                             const GatedRing& ring) {
  const int64_t record = int64_t{piece.token_block} * p.slices.k_tiles + k;
  copy_bulk(ring.activations(), p.activations + record * GatedRing::kRecord, GatedRing::kRecord,
            ring.full(ring.at));
}

// One thread. Weights are on their way before the launch before has ended, activations only after.
__device__ __forceinline__ void produce_gated(const GatedProduct& p) {
  GatedRing ring(GatedRing::kStages);
  Piece piece;
  const bool any = p.piece(0, &piece);
  const int32_t early = p.slices.k_tiles < GatedRing::kStages ? p.slices.k_tiles : GatedRing::kStages;
  for (int32_t k = 0; any && k < early; ++k, ring.advance()) bring_gated(p, piece, k, ring);
  wait_for_previous();
  ring = GatedRing(GatedRing::kStages);
  int32_t filled = 0;
  for (int32_t n = 0; p.piece(n, &piece); ++n) {
    for (int32_t k = 0; k < p.slices.k_tiles; ++k, ring.advance()) {
      if (filled < early) {
        ++filled;
      } else {
        wait_phase(ring.empty(ring.at), ring.phase ^ 1);
        bring_gated(p, piece, k, ring);
      }
      bring_tokens(p, piece, k, ring);
    }
  }
}

// The token that a thread has at sums[i].
__device__ __forceinline__ int32_t gated_token(int i) { return i / 4 * 8 + lane_id() % 4 * 2 + i % 2; }

// Quantizes a warpgroup's 64 columns of 128 tokens with those of the other, by one scale for a token.
__device__ __forceinline__ void write_gated(const GatedProduct& p, const Piece& piece, GatedTile& values,
                                            GatedRoom& room, Meeting& meeting) {
  const int lane_row = lane_id() / 4;
#pragma unroll
  for (int t = 0; t < kGatedTokens / 4; ++t) {
    const int i = t / 2 * 4 + t % 2;
    // Compared as integers, as largest_magnitude() has it.
    const uint32_t one = bits_of(values.sum(i)) & 0x7fffffff;
    const uint32_t other = bits_of(values.sum(i + 2)) & 0x7fffffff;
    uint32_t largest = one > other ? one : other;
#pragma unroll
    for (int mask = 4; mask < kWarpSize; mask *= 2) {
      const uint32_t theirs = shuffle_xor(largest, mask);
      largest = theirs > largest ? theirs : largest;
    }
    if (lane_row == t % 8) room.largest[warp_id()][gated_token(i)] = largest;
  }
  meeting.wait();
  const auto thread = static_cast<int32_t>(threadIdx.x);
  if (thread < kGatedTokens) {
    uint32_t largest = 0;
#pragma unroll
    for (const auto& of_warp : room.largest) largest = of_warp[thread] > largest ? of_warp[thread] : largest;
    const Fp8Scale of(float_of(largest));
    room.scales[activation_scale(TileOrder::kSwizzled, kGatedTokens, thread)] = of.scale;
    room.inverses[thread] = of.finite ? of.inverse : 0.0f;
  }
  meeting.wait();
  const int32_t column = warp_id() * 16 + lane_row;
#pragma unroll
  for (int i = 0; i < kGatedTokens / 2; i += 4) {
    float scaled[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float inverse = room.inverses[gated_token(i + j % 2)];
      scaled[j] = inverse > 0 ? values.sum(i + j) * inverse : 0.0f;
    }
    const uint32_t codes = narrow_to_fp8(scaled);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      room.codes[swizzled_offset(gated_token(i + j % 2), column + j / 2 * 8)] =
          static_cast<std::byte>(codes >> 8 * j & 0xff);
    }
  }
  meeting.wait();
  const int32_t block_rows = p.out.layout.block_rows;
  const int64_t first = int64_t{piece.token_block} * kGatedTokens;
  const auto at = static_cast<int32_t>(first % block_rows);
  std::byte* const record = p.out.out + (first / block_rows * p.out.tiles + piece.pair) * p.out.record;
  constexpr int kThreads = kConsumers * kWarpSize;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(room.codes)) / 16 / kThreads; ++i) {
    const int32_t offset = (i * kThreads + thread) * 16;
    *reinterpret_cast<Float4*>(record + at * kTileBytes + offset) =
        *reinterpret_cast<const Float4*>(room.codes + offset);
  }
  if (thread < kGatedTokens) {
    reinterpret_cast<float*>(record + block_rows * kTileBytes)[at + thread] = room.scales[thread];
  }
}

}  // namespace llmservice::gpu
