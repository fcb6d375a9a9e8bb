// What a lane holds of one block of K (128 bytes) while strips of 16 outputs are multiplied by tokens, and
// the product of such blocks. Weights come from a matrix in TileOrder::kFragments, tokens from quantize()'s
// records of kFragmentTokens rows.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/coded_tiles.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/fragments.h"

namespace llmservice::gpu {

template <DType kType>
constexpr bool kCoded = is_coded(kType);
template <DType kType>
constexpr bool kScaled = has_token_scales(kType);
constexpr int32_t kStripsOfTile = kTileRows / kFragmentOutputs;
template <DType kType>
constexpr int32_t kTokensBytes = kFragmentTokens* token_bytes(kType);
template <DType kType>
constexpr int32_t kRecordBytes = kTokensBytes<kType> + (kScaled<kType> ? kFragmentTokens * 4 : 0);

// Quantized rows of activations.
struct TokenRecords {
  const std::byte* data;
  int32_t blocks;  // of K
};

constexpr int kStripVectors = kFragmentSteps * kWeightWords / 4;
template <DType kType>
constexpr int kTokenVectors = token_bytes(kType) / 64;

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

// The row of tiles that holds strip `strip`, up to block `end` of K: beyond are zeros.
template <DType kType, bool kRowScales>
struct StripsSource {
  MemoryWindow vectors;
  MemoryWindow scales;
  uint32_t scales_step;  // bytes from one block of K to the next
  int32_t strip;

  __device__ __forceinline__ StripsSource(const DeviceMatrix& w, int32_t first, int32_t blocks, int32_t end)
      : vectors(w.tiles + int64_t{first / kStripsOfTile} * blocks * kTileSize, end * kTileSize),
        scales(w.scales, blocks * scales_of(w) * 4),
        scales_step(scales_of(w) * 4),
        strip(first) {}

  __device__ __forceinline__ static uint32_t scales_of(const DeviceMatrix& w) {
    return kRowScales ? w.rows : (w.rows + kTileRows - 1) / kTileRows;
  }
};

// A lane's part of kStrips strips of one tile. kRowScales: an output has its own scale, else the tile has
// one.
template <DType kType, bool kRowScales, int kStrips>
struct StripsBlock {
  OperandVector vectors[kStrips][kStripVectors];
  float scales[kRowScales ? kStrips : 1][kRowScales ? kSumOutputs : 1];

  template <bool kStreamed>
  __device__ __forceinline__ void load(const StripsSource<kType, kRowScales>& from, int32_t block) {
#pragma unroll
    for (int s = 0; s < kStrips; ++s) {
#pragma unroll
      for (int i = 0; i < kStripVectors; ++i) {
        vectors[s][i] = from.vectors.template vector<kStreamed>(
            (s * kStripVectors + i) * kWarpSize * 16 + lane_id() * 16,
            block * kTileSize + from.strip % kStripsOfTile * kStripBytes);
      }
    }
    if constexpr (kScaled<kType> && !kRowScales) {
      scales[0][0] = from.scales.number(0, block * from.scales_step + from.strip / kStripsOfTile * 4);
    }
    if constexpr (kScaled<kType> && kRowScales) {
#pragma unroll
      for (int s = 0; s < kStrips; ++s) {
#pragma unroll
        for (int i = 0; i < kSumOutputs; ++i) {
          const int32_t output = (from.strip + s) * kFragmentOutputs + sum_output(lane_id(), i * kSumTokens);
          // Of an output beyond the matrix: any number, nobody reads its sums.
          scales[s][i] = from.scales.number(output * 4, block * from.scales_step);
        }
      }
    }
  }
};

// A lane's part of kFragmentTokens tokens.
template <DType kType>
struct TokensBlock {
  OperandVector vectors[kTokenVectors<kType>];
  float scales[kSumTokens];
};

// Where a lane's part of kFragmentTokens rows of records lies, whichever rows they are; in bytes.
template <DType kType>
struct TokensPlace {
  uint32_t vectors;
  uint32_t scales[kSumTokens];

  // Of row `row` in the first block of K, less the place in the record.
  __device__ __forceinline__ static uint32_t record_of(const TokenRecords& x, int32_t row) {
    return static_cast<uint32_t>(row) / kFragmentTokens * x.blocks * kRecordBytes<kType>;
  }
  __device__ __forceinline__ static uint32_t vector_of(const TokenRecords& x, int32_t row, int quarter) {
    return record_of(x, row) + fragment_activation_offset(row % kFragmentTokens, quarter * 16);
  }
  __device__ __forceinline__ static uint32_t scale_of(const TokenRecords& x, int32_t row) {
    return record_of(x, row) + kTokensBytes<kType> + row % kFragmentTokens * 4;
  }

  // `row_of`: the row of token j of the fragment.
  template <class RowOf>
  __device__ __forceinline__ void find(const TokenRecords& x, RowOf row_of) {
    vectors = vector_of(x, row_of(operand_token(lane_id())), operand_quarter(lane_id()));
#pragma unroll
    for (int i = 0; i < kSumTokens; ++i) scales[i] = scale_of(x, row_of(sum_token(lane_id(), i)));
  }

  __device__ __forceinline__ void load(const MemoryWindow& x, int32_t block,
                                       TokensBlock<kType>& tokens) const {
#pragma unroll
    for (int i = 0; i < kTokenVectors<kType>; ++i) {
      tokens.vectors[i] = x.vector(vectors + i * kWarpSize * 16, block * kRecordBytes<kType>);
    }
    if constexpr (kScaled<kType>) {
#pragma unroll
      for (int i = 0; i < kSumTokens; ++i)
        tokens.scales[i] = x.number(scales[i], block * kRecordBytes<kType>);
    }
  }
};

// What multiply_block() wants of a block of weights: the block itself, or coded_operands.h's of it.
template <DType kType, bool kRowScales, int kStrips>
__device__ __forceinline__ const StripsBlock<kType, kRowScales, kStrips>& operands_of(
    const StripsBlock<kType, kRowScales, kStrips>& block) {
  return block;
}

// sums += weights · tokens over the block. Eight-bit codes are summed by themselves, from zero: NVIDIA's sums
// of them carry fewer bits than float. Strips take turns, so that no instruction waits for the one before it.
template <DType kType, bool kRowScales, int kStrips>
__device__ __forceinline__ void multiply_block(const StripsBlock<kType, kRowScales, kStrips>& weights,
                                               const TokensBlock<kType>& tokens, float (&sums)[kStrips][4]) {
  constexpr int kPerVector = 4 / kWeightWords;
  float own[kStrips][4] = {};
  float(&into)[kStrips][4] = kScaled<kType> ? own : sums;
#pragma unroll
  for (int step = 0; step < kFragmentSteps; ++step) {
#pragma unroll
    for (int s = 0; s < kStrips; ++s) {
      mma<kType>(into[s], weights.vectors[s][step / kPerVector].words + step % kPerVector * kWeightWords,
                 tokens.vectors[step / 2].words + step % 2 * kTokenWords);
    }
  }
  if constexpr (kScaled<kType>) {
#pragma unroll
    for (int s = 0; s < kStrips; ++s) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float scale = weights.scales[kRowScales ? s : 0][kRowScales ? i / kSumTokens : 0];
        sums[s][i] = fmaf(own[s][i], scale * tokens.scales[i % kSumTokens], sums[s][i]);
      }
    }
  }
}

#endif

}  // namespace llmservice::gpu
