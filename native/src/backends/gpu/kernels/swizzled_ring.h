// What brings weights and activations to a block of a product with swizzled tiles: a ring of stages in shared
// memory, filled by one thread with bulk copies, unit after unit in the order in which the block takes them.
#pragma once

#include "backends/gpu/kernels/swizzled_plan.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::gpu {

constexpr int kConsumers = 8;  // warps: a warpgroup for each tile of a pair. One more warp brings the data
constexpr int kSharedBytes = 226 << 10;
constexpr int kMaxStages = 12;

struct Product {
  const std::byte* tiles;
  const float* scales;   // null where weights have none
  int32_t scale_stride;  // floats from one K block to the next
  int32_t scale_shift;   // a scale is for 1 << scale_shift outputs
  int32_t outputs;       // N
  int32_t stride;        // of the rows of `out`
  Slices slices;
  Shares shares;
  const std::byte* activations;
  int64_t rows;       // T
  float* partial;     // (token_blocks, slices, 2): sums of a slice's first and last pair, as accumulators lie
  int32_t* counters;  // (token_blocks, slices, kConsumers)
  float* out;         // (T, N)
};

// What a block of `kTokens` tokens is made of, and keeps in shared memory: stages of a ring, each a unit's
// two tiles of weights and its record of activations.
template <DType dtype, int kTokens>
struct Ring {
  // With many tokens, the warp that brings the data is the first of a warpgroup which leaves its registers to
  // the others. With few, registers stay free for the launch after, which may then begin.
  static constexpr bool kTradesRegisters = kTokens > 64;
  static constexpr uint32_t kThreads = (kConsumers + (kTradesRegisters ? 4 : 1)) * kWarpSize;
  static constexpr int kRecord = kTokens * (kTileBytes + (dtype == DType::kF8E4M3 ? 4 : 0));
  static constexpr int kStage = (2 * kTileSize + kRecord + 1023) / 1024 * 1024;
  static constexpr int kFit = (kSharedBytes - 2048) / kStage;
  static constexpr int kStages = kFit < kMaxStages ? kFit : kMaxStages;
  static constexpr int kBytes = kStages * kStage + 2048;  // with barriers, and what alignment takes

  std::byte* stages;
  int at = 0;
  uint32_t phase = 0;

  __device__ Ring() : stages(align_tiles(dynamic_shared<std::byte>())) {}
  __device__ uint64_t* full(int stage) const {
    return reinterpret_cast<uint64_t*>(stages + kStages * kStage) + stage;
  }
  __device__ uint64_t* empty(int stage) const { return full(kStages + stage); }
  // Two, for Turns.
  __device__ uint64_t* turns() const { return empty(kStages); }
  __device__ std::byte* weights(int tile) const { return stages + at * kStage + tile * kTileSize; }
  __device__ std::byte* activations() const { return stages + at * kStage + 2 * kTileSize; }
  __device__ void advance() {
    if (++at < kStages) return;
    at = 0;
    phase ^= 1;
  }
};

// Units one after the other.
struct Units {
  const Product& p;
  Piece piece{};
  int32_t next_piece = 0;
  int32_t k = 0;

  __device__ explicit Units(const Product& product) : p(product) {}
  __device__ bool next() {
    if (++k < piece.end) return true;
    if (!p.shares.piece(p.slices, next_piece++, &piece)) return false;
    k = piece.begin;
    return true;
  }
};

template <DType dtype, int kTokens>
__device__ void bring_weights(const Product& p, const Units& unit, const Ring<dtype, kTokens>& ring) {
  const int32_t first = 2 * unit.piece.pair;
  const int tiles = (first + 1) * kTileRows < p.outputs ? 2 : 1;
  expect_bytes(ring.full(ring.at), tiles * kTileSize + Ring<dtype, kTokens>::kRecord);
  for (int i = 0; i < tiles; ++i) {
    const int64_t tile = int64_t{first + i} * p.slices.k_tiles + unit.k;
    copy_bulk(ring.weights(i), p.tiles + tile * kTileSize, kTileSize, ring.full(ring.at));
  }
  if constexpr (dtype == DType::kF8E4M3) {
    // Consumers read scales only one unit ahead.
    const float* const scales =
        p.scales + int64_t{unit.k} * p.scale_stride + (first * kTileRows >> p.scale_shift);
    for (int i = 0; i < tiles * kTileRows >> p.scale_shift; i += 32) prefetch(scales + i);
  }
}

template <DType dtype, int kTokens>
__device__ void bring_activations(const Product& p, const Units& unit, const Ring<dtype, kTokens>& ring) {
  constexpr int kRecord = Ring<dtype, kTokens>::kRecord;
  const int64_t record = int64_t{unit.piece.token_block} * p.slices.k_tiles + unit.k;
  copy_bulk(ring.activations(), p.activations + record * kRecord, kRecord, ring.full(ring.at));
}

// One thread. Weights are on their way before the launch before has ended, activations only after.
template <DType dtype, int kTokens>
__device__ void produce(const Product& p) {
  Ring<dtype, kTokens> early;
  Ring<dtype, kTokens> ring;
  Units early_unit(p);
  Units unit(p);
  int filled = 0;
  for (; filled < ring.kStages && early_unit.next(); ++filled, early.advance()) {
    bring_weights(p, early_unit, early);
  }
  wait_for_previous();
  for (int i = 0; i < filled; ++i, ring.advance()) {
    unit.next();
    bring_activations(p, unit, ring);
  }
  // `ring` is where it began, a phase later: a stage is free once the phase before is over.
  for (; unit.next(); ring.advance()) {
    wait_phase(ring.empty(ring.at), ring.phase ^ 1);
    bring_weights(p, unit, ring);
    bring_activations(p, unit, ring);
  }
}

}  // namespace llmservice::gpu
