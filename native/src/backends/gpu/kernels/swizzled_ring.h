// What brings weights and activations to a block of a product with swizzled tiles: a ring of stages in shared
// memory, filled by one thread with bulk copies, unit after unit in the order in which the block takes them.
#pragma once

#include "backends/gpu/kernels/swizzled_plan.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::gpu {

constexpr int kConsumers = 8;  // warps: a warpgroup for each tile of a pair. One more warp brings the data
constexpr int kSharedBytes = 226 << 10;
constexpr int kMultiprocessorShared = 228 << 10;  // of all its blocks, each with a KiB of its own
constexpr int kMaxStages = 12;
constexpr int kBesideStages = 2048;  // barriers, and what alignment takes

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
  int64_t rows;  // T
  // Sums as accumulators lie. (token_blocks, slices, 2): of a slice's first and last pair. Where blocks walk
  // all K: (blocks, kConsumers), of the slices before (carried_sums.h).
  float* partial;
  int32_t* counters;  // (token_blocks, slices, kConsumers)
  float* out;         // (T, N)
  int32_t stages;     // of a ring of few tokens
  Ahead ahead[kAheads];
};

// What a block of `kTokens` tokens is made of, and keeps in shared memory: stages of a ring, each a unit's
// tiles of weights and its record of activations.
template <DType dtype, int kTokens, int kTiles = 2>
struct Ring {
  // With many tokens, the warp that brings the data is the first of a warpgroup which leaves its registers to
  // the others. With few, registers stay free for the launch after, which may then begin.
  static constexpr bool kTradesRegisters = kTokens > 64;
  static constexpr uint32_t kThreads = (kConsumers + (kTradesRegisters ? 4 : 1)) * kWarpSize;
  static constexpr int kRecord = kTokens * (kTileBytes + (dtype == DType::kF8E4M3 ? 4 : 0));
  static constexpr int kStage = (kTiles * kTileSize + kRecord + 1023) / 1024 * 1024;
  static constexpr int kFit = (kSharedBytes - kBesideStages) / kStage;
  static constexpr int kStages = kFit < kMaxStages ? kFit : kMaxStages;  // of a block that is alone

  std::byte* stages;
  int few;  // stages, where a block has few tokens
  int at = 0;
  uint32_t phase = 0;

  // Stages of each of so many blocks on one multiprocessor.
  static constexpr int stages_of(int resident) {
    const int fit = (kMultiprocessorShared / resident - 1024 - kBesideStages) / kStage;
    return fit < kStages ? fit : kStages;
  }
  static constexpr int bytes_of(int stages) { return stages * kStage + kBesideStages; }

  __device__ explicit Ring(int count) : stages(align_tiles(dynamic_shared<std::byte>())), few(count) {}
  __device__ explicit Ring(const Product& p) : Ring(p.stages) {}
  // Known beforehand where registers are scarce.
  __device__ int count() const { return kTradesRegisters ? kStages : few; }
  __device__ uint64_t* full(int stage) const {
    return reinterpret_cast<uint64_t*>(stages + count() * kStage) + stage;
  }
  __device__ uint64_t* empty(int stage) const { return full(count() + stage); }
  // Two, for Turns.
  __device__ uint64_t* turns() const { return empty(count()); }
  __device__ std::byte* weights(int tile) const { return stages + at * kStage + tile * kTileSize; }
  __device__ std::byte* activations() const { return stages + at * kStage + kTiles * kTileSize; }
  __device__ void advance() {
    if (++at < count()) return;
    at = 0;
    phase ^= 1;
  }
};

// Blocks of more tokens walk all K: join() with so many accumulators would make the loop spill some.
constexpr int kMaxSplitTokens = 128;
template <int kTokens>
constexpr bool kWalksAll = (kTokens > kMaxSplitTokens);

// Units one after the other.
template <int kTokens>
struct Units {
  const Product& p;
  Piece piece{};
  int32_t next_piece = 0;
  int32_t k = 0;

  __device__ explicit Units(const Product& product) : p(product) {}
  __device__ bool next() {
    if (++k < piece.end) return true;
    if (!p.shares.template piece<kWalksAll<kTokens>>(p.slices, next_piece++, &piece)) return false;
    k = piece.begin;
    return true;
  }
};

template <DType dtype, int kTokens>
__device__ void bring_weights(const Product& p, const Units<kTokens>& unit,
                              const Ring<dtype, kTokens>& ring) {
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
__device__ void bring_activations(const Product& p, const Units<kTokens>& unit,
                                  const Ring<dtype, kTokens>& ring) {
  constexpr int kRecord = Ring<dtype, kTokens>::kRecord;
  const int64_t record = int64_t{unit.piece.token_block} * p.slices.k_tiles + unit.k;
  copy_bulk(ring.activations(), p.activations + record * kRecord, kRecord, ring.full(ring.at));
}

template <class Bring>
__device__ __forceinline__ void each_tile(const std::byte* tiles, int32_t outputs, int32_t k_tiles,
                                          int32_t pair, int32_t k, const Bring& bring) {
#pragma unroll
  for (int32_t i = 2 * pair; i < 2 * pair + 2; ++i) {
    if (i * kTileRows < outputs) bring(tiles + (int64_t{i} * k_tiles + k) * kTileSize);
  }
}

// The slices of what comes after are shared among the blocks of this launch: of each the first units, or as
// many behind them.
__device__ __forceinline__ void bring_ahead(const Ahead& ahead, int32_t turn) {
  const Slices& slices = ahead.slices;
  const int32_t begin = turn * ahead.units;
  const int32_t end = begin + ahead.units < slices.length ? begin + ahead.units : slices.length;
  if (begin >= end) return;
  for (auto slice = static_cast<int32_t>(blockIdx.x); slice < slices.count;
       slice += static_cast<int32_t>(gridDim.x)) {
    const int32_t first = slice * slices.length;
    for (int32_t unit = first + begin; unit < first + end && unit < slices.units(); ++unit) {
      each_tile(ahead.tiles, ahead.outputs, slices.k_tiles, unit / slices.k_tiles, unit % slices.k_tiles,
                [](const std::byte* tile) { prefetch_bulk(tile, kTileSize); });
    }
  }
}

// One thread. Weights are on their way before the launch before has ended, activations only after.
template <DType dtype, int kTokens>
__device__ void produce(const Product& p) {
  Ring<dtype, kTokens> early(p);
  Ring<dtype, kTokens> ring(p);
  Units<kTokens> early_unit(p);
  Units<kTokens> unit(p);
  int filled = 0;
  for (; filled < ring.count() && early_unit.next(); ++filled, early.advance()) {
    bring_weights(p, early_unit, early);
  }
  [[maybe_unused]] const auto read_ahead = [&](int32_t turn) {
#pragma unroll
    for (const Ahead& ahead : p.ahead) bring_ahead(ahead, turn);
  };
  // What lies in a ring for the most part waits longest for what is before it: memory has time for its rest,
  // and for what comes after.
  [[maybe_unused]] const bool is_small = p.slices.length <= 2 * kMaxStages;
  if constexpr (!Ring<dtype, kTokens>::kTradesRegisters) {
    if (is_small && p.ahead[0].units > 0) {
      while (early_unit.next()) {
        each_tile(p.tiles, p.outputs, p.slices.k_tiles, early_unit.piece.pair, early_unit.k,
                  [](const std::byte* tile) { prefetch_bulk(tile, kTileSize); });
      }
      read_ahead(0);
    }
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
  // Memory would wait from here until the blocks of the next product begin.
  if constexpr (!Ring<dtype, kTokens>::kTradesRegisters) read_ahead(is_small ? 1 : 0);
}

}  // namespace llmservice::gpu
