// Pieces of up to kPieceFloats floats that a block reads one after the other through shared memory, the next
// ones on their way meanwhile. The source says how:
//
//   kWhole        whether vectors of 16 bytes are whole and aligned; otherwise some may lack values
//   run(piece)    what the calling thread copies
#pragma once

#include "backends/gpu/kernels/vectors.h"
#include "backends/gpu/vendor/staged_copy.h"

namespace llmservice::gpu {

constexpr int kPieceFloats = 4096;

// The calling thread's vectors of 16 bytes: the ith, which is vector i * threads + its own of the piece's
// `vectors`, lies at from + i * from_step and goes to float to_of(i) of the slot.
struct PieceRun {
  const float* from;
  int64_t from_step;
  int to;
  int to_step;
  int turn;   // changes the place of every other one
  int there;  // floats from a vector's first on that are there, if not all are; the others are zeros
  int vectors;

  __device__ int to_of(int i) const { return (to + i * to_step) ^ (i % 2 != 0 ? turn : 0); }
};

// Asynchronous copies fill all slots but one ahead; others go through registers, loaded two pieces ahead and
// stored one ahead.
template <class Source, int kThreads>
class PieceStream {
 public:
  static constexpr bool kAsync = Source::kWhole && kWarpSize == 32;
  static constexpr int kSlots = kAsync ? 5 : 2;
  static constexpr int kFloats = kSlots * kPieceFloats;

  __device__ PieceStream(const Source& source, float* slots, int pieces)
      : source_(source), slots_(slots), pieces_(pieces) {
    if constexpr (kAsync) {
      for (int i = 0; i < kSlots - 1; ++i) request(i);
    } else {
      load(0);
      store(0);
      load(1);
    }
  }

  // The next piece, good until the next call. All threads call it.
  __device__ __forceinline__ const float* next() {
    if constexpr (kAsync) wait_copies<kSlots - 2>();
    sync_block();  // the piece is there, and that before it is done with
    if constexpr (kAsync) {
      request(piece_ + kSlots - 1);
    } else {
      store(piece_ + 1);
      load(piece_ + 2);
    }
    return slots_ + piece_++ % kSlots * kPieceFloats;
  }

 private:
  static constexpr int kEach = kPieceFloats / 4 / kThreads;

  template <class Body>
  __device__ __forceinline__ void each(int piece, const Body& body) {
    if (piece >= pieces_) return;
    const PieceRun run = source_.run(piece);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (i * kThreads + static_cast<int>(threadIdx.x) < run.vectors) body(run, i);
    }
  }

  __device__ __forceinline__ void request(int piece) {
    float* const slot = slots_ + piece % kSlots * kPieceFloats;
    each(piece,
         [&](const PieceRun& run, int i) { copy_async(slot + run.to_of(i), run.from + i * run.from_step); });
    commit_copies();
  }
  __device__ __forceinline__ void load(int piece) {
    each(piece, [&](const PieceRun& run, int i) {
      const float* const from = run.from + i * run.from_step;
      values_[i] = Source::kWhole ? load_floats<4>(from) : load_some<4>(from, run.there);
    });
  }
  __device__ __forceinline__ void store(int piece) {
    float* const slot = slots_ + piece % kSlots * kPieceFloats;
    each(piece, [&](const PieceRun& run, int i) { store_floats(slot + run.to_of(i), values_[i]); });
  }

  const Source source_;
  float* const slots_;
  const int pieces_;
  int piece_ = 0;
  Float4 values_[kAsync ? 1 : kEach];
};

}  // namespace llmservice::gpu
