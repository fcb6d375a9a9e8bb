// Device functions that multiply strips of 16 outputs of a matrix in TileOrder::kFragments by tokens, whose
// rows a functor names: for matmul_fragments.cu, and for kernels that choose matrices and rows themselves
// (mixtures of experts).
//
// K is cut into kSlices runs of whole blocks of 128 bytes. The blocks of a slice are summed in their order,
// then the slices in theirs. Both forms do just that, so a token gets the same bits from either, in any
// company:
//   multiply_sliced  each warp takes one slice, and weights go from memory straight into registers: for few
//                    tokens, where the weights' bytes are what takes time
//   multiply_walked  each warp takes its own strips through all slices, and the block shares the tokens in
//                    shared memory: for many tokens, where the matrix units are what takes time
// Each is called by all threads of the block, with the same arguments but for the functors:
//   row_of(j)                    row of token j, 0 <= j < tokens, among the records
//   store(j, output, values)     takes kRun outputs of token j, beginning at `output`, which may lie, in part
//                                or wholly, beyond the matrix's rows (StoreRows shows how)
#pragma once

#include "backends/gpu/kernels/coded_operands.h"
#include "backends/gpu/kernels/fragment_operands.h"

namespace llmservice::gpu {

constexpr int kSlices = 8;
constexpr int kRun = kWarpSize == 64 ? 4 : 1;  // outputs that lie side by side in a lane's sums

constexpr uint32_t kSlicedThreads = kSlices * kWarpSize;
constexpr int kPairsAtOnce = 2;  // strips times fragments of tokens that the slices are added for at once
constexpr uint32_t kSlicedShared = kSlices * kPairsAtOnce * kWarpSize * 4 * sizeof(float);

constexpr int kWalkStrips = kWarpSize == 64 ? 2 : 1;  // of a warp
constexpr int kWalkFragments = 8;                     // of tokens
constexpr int kWalkWarps = 128 / kFragmentOutputs / kWalkStrips;
constexpr uint32_t kWalkThreads = kWalkWarps * kWarpSize;
constexpr int32_t kWalkTokens = kWalkFragments * kFragmentTokens;
constexpr uint32_t walk_shared(DType t) { return kWalkTokens * (token_bytes(t) + sizeof(float)); }

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

__device__ __forceinline__ int32_t slice_begin(int32_t blocks, int slice) { return blocks * slice / kSlices; }

// Row j of `out` for token j. Where `outputs` and `stride` are multiples of kRun, so is where `out` begins.
struct StoreRows {
  float* out;
  int32_t outputs;
  int32_t stride;

  __device__ __forceinline__ void operator()(int32_t token, int32_t output,
                                             const float (&values)[kRun]) const {
    struct alignas(4 * kRun) Run {
      float values[kRun];
    };
    float* const to = out + int64_t{token} * stride + output;
    if ((outputs | stride) % kRun == 0) {
      if (output >= outputs) return;
      Run run;
#pragma unroll
      for (int i = 0; i < kRun; ++i) run.values[i] = values[i];
      *reinterpret_cast<Run*>(to) = run;
    } else {
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        if (output + i < outputs) to[i] = values[i];
      }
    }
  }
};

// The scales of outputs, where their codes have none but of groups.
template <DType kType>
__device__ __forceinline__ void scale_rows(const DeviceMatrix& w, int32_t output, float (&sums)[kRun]) {
  if constexpr (has_row_scales(kType)) {
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      if (output + i < w.rows) sums[i] *= w.scales[output + i];
    }
  }
}

// Strips [strip, strip + kStrips), of one tile, by the first kFragments · kFragmentTokens of `tokens` tokens.
// A block of kSlicedThreads, with kSlicedShared bytes at `shared`.
template <DType kType, bool kRowScales, int kStrips, int kFragments, class RowOf, class Store>
__device__ __forceinline__ void multiply_sliced(const DeviceMatrix& w, int32_t strip, const TokenRecords& x,
                                                int32_t tokens, RowOf row_of, Store store, float* shared) {
  // Blocks of K that a warp has under way. Two blocks fit a multiprocessor's registers: some 64 KiB of
  // weights.
  constexpr int kDepth = kWarpSize == 32 || kStrips > 1 || kCoded<kType> ? 2 : kFragments > 1 ? 3 : 4;
  // Tokens are in the cache: one block of them is enough where codes take registers as they are widened.
  constexpr int kTokenDepth = kCoded<kType> && kType != DType::kF4E2M1 ? 1 : kDepth;
  const int32_t end = slice_begin(x.blocks, warp_id() + 1);
  const int32_t last = end > 0 ? end - 1 : 0;
  int32_t block = slice_begin(x.blocks, warp_id());
  const StripsSource<kType, kRowScales> strips(w, strip, x.blocks, end);
  const MemoryWindow records(x.data, UINT32_MAX);
  StripsBlock<kType, kRowScales, kStrips> weights[kDepth];
  TokensBlock<kType> fragments[kTokenDepth][kFragments];
  TokensPlace<kType> places[kFragments];
  float sums[kFragments][kStrips][4] = {};
  // No load stands under a condition, so that each can be waited for by itself: beyond the slice, weights
  // cost nothing and tokens are in the cache.
  const auto load_tokens = [&](int i, int32_t of) {
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      places[f].load(records, of < end ? of : last, fragments[i % kTokenDepth][f]);
    }
  };

  if constexpr (kStartsEarly) {
#pragma unroll
    for (int i = 0; i < kDepth; ++i) weights[i].template load<true>(strips, block + i);
    wait_for_previous();
  }
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    // Beyond the last token, that one again: its bytes are there, and nobody reads the sums.
    places[f].find(x, [&](int j) {
      const int32_t token = f * kFragmentTokens + j;
      return row_of(token < tokens ? token : tokens - 1);
    });
  }
#pragma unroll
  for (int i = 0; i < kDepth; ++i) {
    if constexpr (!kStartsEarly) weights[i].template load<true>(strips, block + i);
    if (i < kTokenDepth) load_tokens(i, block + i);
    keep_order();
  }
  const auto multiply = [&](int i) {
    const auto& operands = operands_of(weights[i]);
#pragma unroll
    for (int f = 0; f < kFragments; ++f) multiply_block(operands, fragments[i % kTokenDepth][f], sums[f]);
  };
  for (; block + kDepth <= end; block += kDepth) {
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      multiply(i);
      weights[i].template load<true>(strips, block + i + kDepth);
      load_tokens(i, block + i + kTokenDepth);
      keep_order();
    }
  }
#pragma unroll
  for (int i = 0; i < kDepth - 1; ++i) {
    if (block + i < end) multiply(i);
    if constexpr (kTokenDepth < kDepth) load_tokens(i, block + i + kTokenDepth);
  }

  // Thread by thread a run of sums of all slices, in their order.
  constexpr int kPairs = kStrips * kFragments;
#pragma unroll
  for (int first = 0; first < kPairs; first += kPairsAtOnce) {
    if (first > 0) sync_block();
#pragma unroll
    for (int p = first; p < first + kPairsAtOnce && p < kPairs; ++p) {
      float* const to = shared + ((warp_id() * kPairsAtOnce + p - first) * kWarpSize + lane_id()) * 4;
#pragma unroll
      for (int i = 0; i < 4; ++i) to[i] = sums[p % kFragments][p / kFragments][i];
    }
    sync_block();
    const int pair = first + warp_id() / (4 / kRun);
    const int at = warp_id() % (4 / kRun) * kRun;
    if (pair >= kPairs || pair >= first + kPairsAtOnce) continue;
    float total[kRun] = {};
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice) {
      const float* const from =
          shared + ((slice * kPairsAtOnce + pair - first) * kWarpSize + lane_id()) * 4 + at;
#pragma unroll
      for (int i = 0; i < kRun; ++i) total[i] += from[i];
    }
    const int32_t token = pair % kFragments * kFragmentTokens + sum_token(lane_id(), at);
    const int32_t output = (strip + pair / kFragments) * kFragmentOutputs + sum_output(lane_id(), at);
    scale_rows<kType>(w, output, total);
    if (token < tokens) store(token, output, total);
  }
}

// Strips [strip, strip + 8), beginning at a tile, by the first kWalkTokens of `tokens` tokens. A block of
// kWalkThreads, with walk_shared(kType) bytes at `shared`, on 16 bytes.
template <DType kType, bool kRowScales, class RowOf, class Store>
__device__ __forceinline__ void multiply_walked(const DeviceMatrix& w, int32_t strip, const TokenRecords& x,
                                                int32_t tokens, RowOf row_of, Store store,
                                                std::byte* shared) {
  using Strips = StripsBlock<kType, kRowScales, kWalkStrips>;
  using Place = TokensPlace<kType>;
  constexpr int32_t kTokens = kWalkTokens * token_bytes(kType);            // bytes
  constexpr int kVectors = kTokens / 16 / static_cast<int>(kWalkThreads);  // that a thread brings
  float* const shared_scales = reinterpret_cast<float*>(shared + kTokens);
  const auto thread = static_cast<int>(threadIdx.x);
  strip += warp_id() * kWalkStrips;
  // The last tile may have no other behind it: its strips again, for sums that nobody reads.
  const int32_t strips = (w.rows + kTileRows - 1) / kTileRows * kStripsOfTile;
  const int32_t loaded_strip = strip < strips ? strip : strips - kWalkStrips;

  const StripsSource<kType, kRowScales> source(w, loaded_strip, x.blocks, x.blocks);
  const MemoryWindow records(x.data, UINT32_MAX);
  Strips weights[2];
  weights[0].template load<false>(source, 0);
  wait_for_previous();
  const auto row = [&](int32_t token) { return row_of(token < tokens ? token : tokens - 1); };
  // Vectors lie in shared memory as in the records: fragment after fragment, lane after lane.
  uint32_t from[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int at = i * static_cast<int>(kWalkThreads) + thread;
    const int lane = at % kWarpSize;
    const int half = at / kWarpSize % kTokenVectors<kType>;
    const int32_t token = at / (kWarpSize * kTokenVectors<kType>)*kFragmentTokens + operand_token(lane);
    from[i] = Place::vector_of(x, row(token), operand_quarter(lane)) + half * kWarpSize * 16;
  }
  const uint32_t scale_from = Place::scale_of(x, row(thread % kWalkTokens));
  OperandVector brought[kVectors];
  float brought_scale = 0;
  const auto bring = [&](int32_t block) {
    const uint32_t record = block * kRecordBytes<kType>;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) brought[i] = records.vector(from[i], record);
    if constexpr (kScaled<kType>) brought_scale = records.number(scale_from, record);
  };
  bring(0);

  float totals[kWalkFragments][kWalkStrips][4] = {};
  float sums[kWalkFragments][kWalkStrips][4] = {};
  int slice = 0;
  int32_t slice_end = 0;
  const auto take = [&](int f, TokensBlock<kType>& fragment) {
#pragma unroll
    for (int i = 0; i < kTokenVectors<kType>; ++i) {
      fragment.vectors[i] = reinterpret_cast<const OperandVector*>(
          shared)[(f * kTokenVectors<kType> + i) * kWarpSize + lane_id()];
    }
    if constexpr (kScaled<kType>) {
#pragma unroll
      for (int i = 0; i < kSumTokens; ++i) {
        fragment.scales[i] = shared_scales[f * kFragmentTokens + sum_token(lane_id(), i)];
      }
    }
  };
  const auto step = [&](int32_t block, int now) {
    while (slice_end <= block) slice_end = slice_begin(x.blocks, ++slice);
    sync_block();  // the block before has been read
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      reinterpret_cast<OperandVector*>(shared)[i * static_cast<int>(kWalkThreads) + thread] = brought[i];
    }
    if (kScaled<kType> && thread < kWalkTokens) shared_scales[thread] = brought_scale;
    sync_block();
    weights[1 - now].template load<false>(source, block + 1);
    bring(block + 1 < x.blocks ? block + 1 : block);
    // The next tokens come while these are multiplied; widened codes leave no registers for that.
    constexpr int kAhead = kCoded<kType> || (kScaled<kType> && !kHasFp8Mma) ? 0 : 1;
    TokensBlock<kType> fragments[2];
    if constexpr (kAhead > 0) take(0, fragments[0]);
    const auto& operands = operands_of(weights[now]);
#pragma unroll
    for (int f = 0; f < kWalkFragments; ++f) {
      if (f + kAhead < kWalkFragments) take(f + kAhead, fragments[(f + kAhead) % 2]);
      multiply_block(operands, fragments[f % 2], sums[f]);
    }
    if (block + 1 < slice_end) return;
#pragma unroll
    for (int f = 0; f < kWalkFragments; ++f) {
#pragma unroll
      for (int s = 0; s < kWalkStrips; ++s) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          totals[f][s][i] += sums[f][s][i];
          sums[f][s][i] = 0;
        }
      }
    }
  };
  int32_t block = 0;
  for (; block + 2 <= x.blocks; block += 2) {
    step(block, 0);
    step(block + 1, 1);
  }
  if (block < x.blocks) step(block, 0);
#pragma unroll
  for (int f = 0; f < kWalkFragments; ++f) {
#pragma unroll
    for (int s = 0; s < kWalkStrips; ++s) {
#pragma unroll
      for (int i = 0; i < 4; i += kRun) {
        const int32_t token = f * kFragmentTokens + sum_token(lane_id(), i);
        const int32_t output = (strip + s) * kFragmentOutputs + sum_output(lane_id(), i);
        float run[kRun];
#pragma unroll
        for (int j = 0; j < kRun; ++j) run[j] = totals[f][s][i + j];
        scale_rows<kType>(w, output, run);
        if (token < tokens) store(token, output, run);
      }
    }
  }
}

#endif

}  // namespace llmservice::gpu
