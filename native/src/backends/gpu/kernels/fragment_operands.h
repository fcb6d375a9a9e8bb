// What a lane holds of one block of K (128 bytes) while strips of 16 outputs are multiplied by tokens, and
// the product of such blocks. Weights come from a matrix in TileOrder::kFragments, tokens from quantize()'s
// records of kFragmentTokens rows.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/fragments.h"

namespace llmservice::gpu {

template <DType kType>
constexpr bool kScaled = kType == DType::kF8E4M3;
constexpr int32_t kStripsOfTile = kTileRows / kFragmentOutputs;
constexpr int32_t kTokensBytes = kFragmentTokens * kTileBytes;
template <DType kType>
constexpr int32_t kRecordBytes = kTokensBytes + (kScaled<kType> ? kFragmentTokens * 4 : 0);

// Quantized rows of activations.
struct TokenRecords {
  const std::byte* data;
  int32_t blocks;  // of K
};

// 16 bytes of an operand.
struct alignas(16) OperandVector {
  uint32_t words[4];
};
constexpr int kStripVectors = kFragmentSteps * kWeightWords / 4;
constexpr int kTokenVectors = kFragmentSteps * kTokenWords / 4;

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

__device__ __forceinline__ OperandVector vector_at(const std::byte* from) {
  return *reinterpret_cast<const OperandVector*>(from);
}

// A lane's part of kStrips strips that follow one another within a tile. kRowScales: an output has its own
// scale.
template <DType kType, bool kRowScales, int kStrips>
struct StripsBlock {
  static constexpr int kScales = kRowScales ? kSumOutputs : 1;

  OperandVector vectors[kStrips][kStripVectors];
  float scales[kStrips][kScales];

  template <bool kStreamed>
  __device__ __forceinline__ void load(const DeviceMatrix& w, int32_t strip, int32_t blocks, int32_t block) {
    const int64_t tile = int64_t{strip / kStripsOfTile} * blocks + block;
    const std::byte* const from = w.tiles + tile * kTileSize + strip % kStripsOfTile * kStripBytes;
#pragma unroll
    for (int s = 0; s < kStrips; ++s) {
#pragma unroll
      for (int i = 0; i < kStripVectors; ++i) {
        const std::byte* const vector = from + s * kStripBytes + (i * kWarpSize + lane_id()) * 16;
        vectors[s][i] = kStreamed ? load_streamed<OperandVector>(vector) : vector_at(vector);
      }
    }
    if constexpr (kScaled<kType>) {
      const int32_t count = kRowScales ? w.rows : (w.rows + kTileRows - 1) / kTileRows;
      const float* const scale = w.scales + int64_t{block} * count;
#pragma unroll
      for (int s = 0; s < kStrips; ++s) {
#pragma unroll
        for (int i = 0; i < kScales; ++i) {
          const int32_t output = (strip + s) * kFragmentOutputs + sum_output(lane_id(), i * kSumTokens);
          // Outputs beyond the matrix have no scale, and nobody reads their sums.
          scales[s][i] =
              kRowScales ? scale[output < count ? output : count - 1] : scale[strip / kStripsOfTile];
        }
      }
    }
  }
};

// A lane's part of kFragmentTokens tokens.
struct TokensBlock {
  OperandVector vectors[kTokenVectors];
  float scales[kSumTokens];
};

// Where a lane's part of kFragmentTokens rows of records lies, whichever rows they are; in bytes.
template <DType kType>
struct TokensPlace {
  uint32_t vectors;
  uint32_t scales[kSumTokens];

  // Of row `row` in the first block of K, less the place in the record.
  __device__ __forceinline__ static uint32_t record_of(const TokenRecords& x, int32_t row) {
    return static_cast<uint32_t>(row / kFragmentTokens * x.blocks) * kRecordBytes<kType>;
  }
  __device__ __forceinline__ static uint32_t vector_of(const TokenRecords& x, int32_t row, int quarter) {
    return record_of(x, row) + fragment_activation_offset(row % kFragmentTokens, quarter * 16);
  }
  __device__ __forceinline__ static uint32_t scale_of(const TokenRecords& x, int32_t row) {
    return record_of(x, row) + kTokensBytes + row % kFragmentTokens * 4;
  }

  // `row_of`: the row of token j of the fragment.
  template <class RowOf>
  __device__ __forceinline__ void find(const TokenRecords& x, RowOf row_of) {
    vectors = vector_of(x, row_of(operand_token(lane_id())), operand_quarter(lane_id()));
#pragma unroll
    for (int i = 0; i < kSumTokens; ++i) scales[i] = scale_of(x, row_of(sum_token(lane_id(), i)));
  }

  __device__ __forceinline__ void load(const TokenRecords& x, int32_t block, TokensBlock& tokens) const {
    const std::byte* const from = x.data + int64_t{block} * kRecordBytes<kType>;
#pragma unroll
    for (int i = 0; i < kTokenVectors; ++i)
      tokens.vectors[i] = vector_at(from + i * kWarpSize * 16 + vectors);
    if constexpr (kScaled<kType>) {
#pragma unroll
      for (int i = 0; i < kSumTokens; ++i) {
        tokens.scales[i] = *reinterpret_cast<const float*>(from + scales[i]);
      }
    }
  }
};

// sums += weights · tokens over the block, for one of the strips. Eight-bit codes are summed by themselves,
// from zero: NVIDIA's sums of them carry fewer bits than float.
template <DType kType, bool kRowScales, int kStrips>
__device__ __forceinline__ void multiply_block(const StripsBlock<kType, kRowScales, kStrips>& weights,
                                               int strip, const TokensBlock& tokens, float (&sums)[4]) {
  float own[4] = {};
  float(&into)[4] = kScaled<kType> ? own : sums;
#pragma unroll
  for (int step = 0; step < kFragmentSteps; ++step) {
    constexpr int kPerVector = 4 / kWeightWords;
    mma<kType>(into, weights.vectors[strip][step / kPerVector].words + step % kPerVector * kWeightWords,
               tokens.vectors[step / 2].words + step % 2 * kTokenWords);
  }
  if constexpr (kScaled<kType>) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float scale =
          weights.scales[strip][kRowScales ? i / kSumTokens : 0] * tokens.scales[i % kSumTokens];
      sums[i] = fmaf(own[i], scale, sums[i]);
    }
  }
}

#endif

}  // namespace llmservice::gpu
