// How keys and values of paged KV come to a block of attention_chunks.h: by copies of 16 bytes alongside the
// products, into tiles as products read them, two of each side in turn. A tile is announced to the consumers
// by one barrier and given back by another.
#pragma once

#include "backends/gpu/kernels/attention_kernel.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/staged_copy.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::gpu {

constexpr int kChunkDim = 256;   // features of a head
constexpr int kChunkKeys = 64;   // positions of a tile
constexpr int kChunkRows = 128;  // of a block
constexpr int kChunkConsumers = 8;
constexpr int kChunkWarps = kChunkConsumers + 4;
// Of K or of V: as many tiles of matrix products as 64 features go into a head, a row of each for a position.
// 64 query rows take as much.
constexpr int kChunkBytes = kChunkKeys * kChunkDim * 2;
constexpr int kChunkStages = 2;
static_assert(kChunkKeys == kTileRows && kChunkBytes == 4 * kTileSize);

struct ChunkShared {
  static constexpr int kTiles = (2 + 2 * kChunkStages) * kChunkBytes;
  // With the barriers, the marks of faulty positions and what alignment takes.
  static constexpr uint32_t kBytes = kTiles + 2048;

  std::byte* const tiles = align_tiles(dynamic_shared<std::byte>());

  __device__ std::byte* queries(int warpgroup) const { return tiles + warpgroup * kChunkBytes; }
  // Of keys (side 0) and values (side 1), the n-th tile from the first.
  __device__ std::byte* side(int side, int32_t n) const {
    return tiles + (2 + n % kChunkStages * 2 + side) * kChunkBytes;
  }
  __device__ uint64_t* full(int side, int32_t n) const {
    return reinterpret_cast<uint64_t*>(tiles + kTiles) + side * kChunkStages + n % kChunkStages;
  }
  __device__ uint64_t* empty(int side, int32_t n) const { return full(side, n) + 2 * kChunkStages; }
  // Of the n-th tile's positions, which have a value that is not finite; only where a tile is ragged.
  __device__ int32_t* faulty(int32_t n) const {
    return reinterpret_cast<int32_t*>(tiles + kTiles + 128) + n % kChunkStages * kChunkKeys;
  }
  __device__ static uint32_t phase(int32_t n) { return static_cast<uint32_t>(n / kChunkStages) & 1; }
};

// What a block's rows see.
struct ChunkView {
  int32_t kv_head;
  int32_t low;      // the first position that any row sees
  int32_t high;     // behind the last
  int32_t all_end;  // behind the last that every row sees

  __device__ __forceinline__ int32_t begin() const { return low / kChunkKeys * kChunkKeys; }
  __device__ __forceinline__ int32_t position(int32_t n) const { return begin() + n * kChunkKeys; }
  __device__ __forceinline__ int32_t count() const { return (high - begin() + kChunkKeys - 1) / kChunkKeys; }
  // Whether a row does not see all of the n-th tile.
  __device__ __forceinline__ bool is_ragged(int32_t n) const {
    return position(n) < low || position(n) + kChunkKeys > all_end;
  }
};

// Brings a tile's keys or values, half of the positions for a warp, one for a lane to find.
class ChunkLoader {
 public:
  __device__ ChunkLoader(const AttentionWork& work, const Segment& segment, const ChunkView& view)
      : work_(work), segment_(segment), view_(view) {}

  __device__ __forceinline__ void run() {
    int32_t row = cache_row(0);
    const int32_t count = view_.count();
    bool is_owed = false;  // whether the tile before is not announced yet
#pragma unroll 1
    for (int32_t n = 0; n < count; ++n) {
      const int32_t next = n + 1 < count ? cache_row(n + 1) : 0;
      if (n >= kChunkStages) wait_phase(shared_.empty(side_, n), ChunkShared::phase(n - kChunkStages));
      bring(n, row);
      if (is_owed) {
        wait_copies<1>();
        announce(n - 1);
      }
      // Consumers ask what is faulty before they are done with the values before.
      is_owed = !(side_ == 1 && view_.is_ragged(n));
      if (!is_owed) {
        wait_copies<0>();
        hide_faults(n);
        announce(n);
      }
      row = next;
    }
    if (is_owed) {
      wait_copies<0>();
      announce(count - 1);
    }
  }

 private:
  static constexpr int kPositions = kChunkKeys / 2;
  static constexpr int64_t kRowBytes = kChunkDim * 2;

  // Positions that nobody sees stand for the nearest one that somebody does.
  __device__ __forceinline__ int32_t cache_row(int32_t n) const {
    int32_t position = view_.position(n) + first_ + lane_id();
    if (position < view_.low) position = view_.low;
    if (position >= view_.high) position = view_.high - 1;
    const int32_t size = work_.shape.block_size;
    const int32_t block = segment_.blocks[position / size];
    return (block * work_.shape.kv_heads + view_.kv_head) * size + position % size;
  }
  // A lane's 16 bytes of a position.
  __device__ __forceinline__ std::byte* place(int32_t n, int i) const {
    return shared_.side(side_, n) + lane_id() / 8 * kTileSize +
           swizzled_offset(first_ + i, lane_id() % 8 * 16);
  }
  __device__ __forceinline__ void bring(int32_t n, int32_t row) const {
    const auto* const from =
        static_cast<const std::byte*>(side_ == 0 ? work_.cache.k : work_.cache.v) + lane_id() * 16;
#pragma unroll 8
    for (int i = 0; i < kPositions; ++i) {
      copy_async(reinterpret_cast<float*>(place(n, i)),
                 reinterpret_cast<const float*>(from + shuffle(row, i) * kRowBytes));
    }
    commit_copies();
  }
  // A weight of zero would not hide what is not finite: such positions are marked, and zeroed there.
  __device__ __forceinline__ void hide_faults(int32_t n) const {
#pragma unroll 1
    for (int i = 0; i < kPositions; ++i) {
      auto* const words = reinterpret_cast<Words<4>*>(place(n, i));
      bool finite = true;
      for (const uint32_t word : words->at) {
        finite &= (word & 0x7f80) != 0x7f80 && (word & 0x7f800000) != 0x7f800000;
      }
      if (!finite) *words = {};
      const bool is_faulty = ballot(!finite) != 0;
      if (lane_id() == 0) shared_.faulty(n)[first_ + i] = is_faulty ? 1 : 0;
    }
  }
  __device__ __forceinline__ void announce(int32_t n) const {
    publish_to_products();
    arrive(shared_.full(side_, n));
  }

  const AttentionWork& work_;
  const Segment& segment_;
  const ChunkView view_;
  const ChunkShared shared_;
  const int side_ = warp_id() % 4 / 2;
  const int first_ = warp_id() % 2 * kPositions;
};

// Threads that announce a tile.
constexpr uint32_t kChunkAnnouncers = 2 * kWarpSize;

}  // namespace llmservice::gpu
