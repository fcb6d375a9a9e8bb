// What the kernels of sampling share in device memory. A row is cut into chunks of fixed places; a block
// reads one chunk, and later kernels put the chunks of a row together in order.
#pragma once

#include "backends/gpu/kernels/sample_block.h"
#include "backends/gpu/kernels/sampling.h"

namespace llmservice::gpu {

constexpr int kChunkThreads = 256;
constexpr int kLoads = 4;  // of four logits, for each thread
constexpr int kChunk = kChunkThreads * kLoads * 4;

// engine/logit_hash.cpp: a polynomial in this number over the words of each lane.
constexpr int kHashLanes = 16;
constexpr uint32_t kHashFactor = static_cast<uint32_t>(kGolden);

__device__ __forceinline__ uint32_t hash_power(uint32_t base, uint32_t exponent) {
  uint32_t power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) power *= base;
  }
  return power;
}

// Bins of a histogram over weights: the exponent and three bits of the mantissa, larger weights first.
constexpr int kBinShift = 20;
constexpr int kBins = 1024;

// What some logit of a chunk is.
constexpr uint32_t kBad = 1;      // not finite
constexpr uint32_t kDiffers = 2;  // from the first of its row

struct ChunkSurvey {
  uint64_t raw;   // rank of the argmax
  uint64_t best;  // the same of the adjusted logits
  double sum;     // of exp(logit - largest of the chunk)
  double time;    // of the chunk's winner, and the winner itself
  int32_t winner;
  int32_t at_least;  // logits that are at least the scored token's
  uint32_t seen;
  uint32_t hash[kHashLanes];
};

// Of one request.
struct Histogram {
  uint64_t mass[kBins];
  uint32_t count[kBins];
  uint32_t candidates;  // in the list
};

struct SampleView {
  SampleTables tables;
  int32_t chunks;
  ChunkSurvey* surveys;    // (requests, chunks)
  uint64_t* alternatives;  // (requests, chunks, kMaxAlternatives): ranks, best first; 0: none
  Histogram* histograms;   // (requests)
  float* adjusted;         // (requests, V) rounded up to 16 bytes, only of requests with edits
  int32_t* candidates;     // (requests, V), in no order
};

__host__ __device__ __forceinline__ int64_t adjusted_stride(int32_t vocab) { return (vocab + 3) / 4 * 4; }

__device__ __forceinline__ bool edits(const SampleRequest& request) {
  return request.biases.count > 0 || request.counts.count > 0;
}
__device__ __forceinline__ bool truncates(const SampleRequest& request) {
  return request.top_k > 0 || request.top_p < 1 || request.typical_p < 1 || request.min_weight > 0x1p-126f;
}
__device__ __forceinline__ bool draws(const SampleRequest& request) {
  return request.row >= 0 && request.scored < 0 && request.inverse_temperature > 0;
}

// The logits of one request as its draw sees them.
struct AdjustedRow {
  const float* logits;
  const uint32_t* mask;  // null: all allowed

  __device__ __forceinline__ AdjustedRow(const SampleView& view, const SampleRequest& request, uint32_t index)
      : logits(edits(request) ? view.adjusted + index * adjusted_stride(view.tables.vocab)
                              : view.tables.logits + int64_t{request.row} * view.tables.vocab),
        mask(request.mask < 0 ? nullptr
                              : view.tables.masks + int64_t{request.mask} * ((view.tables.vocab + 31) / 32)) {
  }

  __device__ __forceinline__ float operator[](int32_t token) const {
    const bool may = mask == nullptr || (mask[token / 32] >> (token % 32) & 1) != 0;
    return may ? logits[token] : -__builtin_huge_valf();
  }
};

struct alignas(16) FourLogits {
  float of[4];
};

// This thread's share of chunk blockIdx.x: four neighbours from `place(load)` on. 0 beyond the vocabulary.
struct ChunkLogits {
  FourLogits four[kLoads];

  __device__ __forceinline__ static int32_t place(int load) {
    return static_cast<int32_t>(blockIdx.x * kChunk + (load * kChunkThreads + threadIdx.x) * 4);
  }
  __device__ __forceinline__ void load(const float* row, int32_t vocab) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int32_t at = place(i);
      if (at + 4 <= vocab && reinterpret_cast<uintptr_t>(row) % 16 == 0) {
        four[i] = *reinterpret_cast<const FourLogits*>(row + at);
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) four[i].of[k] = at + k < vocab ? row[at + k] : 0.0f;
      }
    }
  }
  // What the mask forbids becomes -infinity.
  __device__ __forceinline__ void forbid(const uint32_t* mask, int32_t vocab) {
    if (mask == nullptr) return;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int32_t at = place(i);
      const uint32_t bits = at < vocab ? mask[at / 32] >> (at % 32) : 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if ((bits >> k & 1) == 0) four[i].of[k] = -__builtin_huge_valf();
      }
    }
  }
  // body(token, logit) for each that there is.
  template <class Body>
  __device__ __forceinline__ void each(int32_t vocab, const Body& body) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (place(i) + k < vocab) body(place(i) + k, four[i].of[k]);
      }
    }
  }
};

// What the chunks of a row say together; the whole block takes part.
struct RowSurvey {
  SampleStatus status;
  uint64_t raw;
  uint64_t best;

  __device__ __forceinline__ RowSurvey(const SampleView& view, uint32_t index) {
    const ChunkSurvey* const surveys = view.surveys + int64_t{index} * view.chunks;
    raw = 0;
    best = 0;
    uint32_t seen = 0;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < view.chunks;
         i += static_cast<int32_t>(blockDim.x)) {
      raw = Larger()(raw, surveys[i].raw);
      best = Larger()(best, surveys[i].best);
      seen |= surveys[i].seen;
    }
    raw = reduce_threads(raw, Larger());
    best = reduce_threads(best, Larger());
    seen = reduce_threads(seen, Either());
    status = (seen & kBad) != 0                                ? SampleStatus::kNotFinite
             : (seen & kDiffers) == 0 && view.tables.vocab > 1 ? SampleStatus::kCollapsed
             : logit_of(best) == -__builtin_huge_valf()        ? SampleStatus::kDeadEnd
                                                               : SampleStatus::kDrawn;
  }
};

// The softmax weight that the draw gives a logit; the likeliest token's is 1.
__device__ __forceinline__ float weight_of(float logit, float top, float inverse_temperature) {
  return exp_nonpositive(unfused_mul(unfused_add(logit, -top), inverse_temperature));
}

// The exponential race of engine/sampler.cpp among the tokens that a thread enters.
struct Race {
  uint64_t key;
  double best = 1.7976931348623157e308;
  int32_t winner = 0;

  __device__ __forceinline__ void enter(int32_t token, float weight) {
    const double u = uniform(key, token);
    if (weight == 0 || 1 - u > best * weight) return;
    const double time = (0.0 - natural_log(u)) / weight;
    if (time < best || (time == best && token < winner)) {
      best = time;
      winner = token;
    }
  }
  // The winner among all threads of the block, for each of them.
  __device__ __forceinline__ void finish() {
    const double first = reduce_threads(best, Smaller());
    winner = reduce_threads(best == first ? winner : 0x7fffffff, Smaller());
    best = first;
  }
};

}  // namespace llmservice::gpu
