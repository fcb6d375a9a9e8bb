// Pieces of up to kPieceFloats floats that a block reads one after the other through shared memory, the next
// ones on their way meanwhile. The source says how:
//
//   kAsync                       whether pieces are copied as they lie, 16 bytes at a time
//   vectors(piece)               16-byte vectors of a piece
//   address(piece, vector)       where one lies (kAsync), or
//   value(piece, vector)         what it is (not kAsync)
//   place(piece, vector)         its float in the slot
#pragma once

#include "backends/gpu/kernels/vectors.h"
#include "backends/gpu/vendor/staged_copy.h"

namespace llmservice::gpu {

constexpr int kPieceFloats = 4096;

// Floats of shared memory for `slots` pieces. Asynchronous copies fill all slots but one ahead; others go
// through registers, loaded two pieces ahead and stored one ahead.
template <class Source, int kThreads>
class PieceStream {
 public:
  static constexpr bool kAsync = Source::kAsync;
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
  __device__ const float* next() {
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
  __device__ void each(int piece, const Body& body) {
    if (piece >= pieces_) return;
    const int vectors = source_.vectors(piece);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int vector = i * kThreads + static_cast<int>(threadIdx.x);
      if (vector < vectors) body(i, vector);
    }
  }

  __device__ void request(int piece) {
    float* const slot = slots_ + piece % kSlots * kPieceFloats;
    each(piece, [&](int, int vector) {
      copy_async(slot + source_.place(piece, vector), source_.address(piece, vector));
    });
    commit_copies();
  }
  __device__ void load(int piece) {
    each(piece, [&](int i, int vector) { values_[i] = source_.value(piece, vector); });
  }
  __device__ void store(int piece) {
    float* const slot = slots_ + piece % kSlots * kPieceFloats;
    each(piece, [&](int i, int vector) { store_floats(slot + source_.place(piece, vector), values_[i]); });
  }

  const Source source_;
  float* const slots_;
  const int pieces_;
  int piece_ = 0;
  Float4 values_[kAsync ? 1 : kEach];
};

}  // namespace llmservice::gpu
