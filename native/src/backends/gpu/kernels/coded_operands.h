// What a lane holds of a block of coded weights (coded_tiles.h), and its product with tokens in f16. A code,
// and with kF4E2M1 its product with its group's scale, is exact in f16; other scales multiply the sums of
// their group, in float.
#pragma once

#include "backends/gpu/kernels/coded_tiles.h"
#include "backends/gpu/kernels/fragment_operands.h"

namespace llmservice::gpu {

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

template <DType kType>
constexpr int32_t kCodedTile = kStripsOfTile* coded_bytes(kType);

template <DType kType, bool kRowScales>
requires kCoded<kType>
struct StripsSource<kType, kRowScales> {
  MemoryWindow blocks;
  int32_t strip;

  __device__ __forceinline__ StripsSource(const DeviceMatrix& w, int32_t first, int32_t blocks, int32_t end)
      : blocks(w.tiles + int64_t{first / kStripsOfTile} * blocks * kCodedTile<kType>,
               end * kCodedTile<kType>),
        strip(first) {}
};

// kWords words of a lane: 1, 2 or a multiple of 4.
template <bool kStreamed, int kWords>
__device__ __forceinline__ void load_words(const MemoryWindow& from, uint32_t lane_offset, uint32_t offset,
                                           uint32_t (&words)[kWords]) {
  if constexpr (kWords == 1) {
    words[0] = bits_of(from.number(lane_offset, offset));
  } else if constexpr (kWords == 2) {
    const OperandPair two = from.pair(lane_offset, offset);
    words[0] = two.words[0];
    words[1] = two.words[1];
  } else {
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      const OperandVector four = from.template vector<kStreamed>(lane_offset + i * 4, offset);
#pragma unroll
      for (int j = 0; j < 4; ++j) words[i + j] = four.words[j];
    }
  }
}

template <DType kType, bool kRowScales, int kStrips>
requires kCoded<kType>
struct StripsBlock<kType, kRowScales, kStrips> {
  static constexpr bool kByCodes = kType == DType::kF4E2M1;  // scales go with codes, not with sums
  static constexpr int kVectors = low_bytes(kType) / (16 * kWarpSize);
  static constexpr int kLaneHighs = (code_bytes(kType) - low_bytes(kType)) / kWarpSize;
  static constexpr int kLaneScales = kByCodes && kWarpSize == 64 ? 8 : lanes_scale_bytes(kType);
  static constexpr int kLaneCommon = common_bytes(kType) / kFragmentOutputs * kSumOutputs;

  OperandVector codes[kStrips][kVectors];
  uint32_t highs[kStrips][kLaneHighs > 0 ? kLaneHighs / 4 : 1];
  uint32_t scales[kStrips][kLaneScales / 4];
  uint32_t common[kStrips][kLaneCommon > 0 ? kLaneCommon / 4 : 1];

  template <bool kStreamed>
  __device__ __forceinline__ void load(const StripsSource<kType, kRowScales>& from, int32_t block) {
    const int32_t lanes = sum_lanes(sum_output(lane_id(), 0));
    const int32_t scale_lanes = kByCodes && kWarpSize == 64 ? lane_id() % 16 : lanes;
#pragma unroll
    for (int s = 0; s < kStrips; ++s) {
      const uint32_t at = block * kCodedTile<kType> + (from.strip % kStripsOfTile + s) * coded_bytes(kType);
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        codes[s][i] = from.blocks.template vector<kStreamed>(i * kWarpSize * 16 + lane_id() * 16, at);
      }
      if constexpr (kLaneHighs > 0) {
        load_words<kStreamed>(from.blocks, low_bytes(kType) + lane_id() * kLaneHighs, at, highs[s]);
      }
      if constexpr (group_scale_bytes(kType) > 0) {
        load_words<kStreamed>(from.blocks, code_bytes(kType) + scale_lanes * kLaneScales, at, scales[s]);
      }
      if constexpr (kLaneCommon > 0) {
        load_words<kStreamed>(from.blocks, code_bytes(kType) + group_scale_bytes(kType) + lanes * kLaneCommon,
                              at, common[s]);
      }
    }
  }

  __device__ __forceinline__ uint32_t code_word(int s, int i) const { return codes[s][i / 4].words[i % 4]; }
  // What operand word `i` has above its codes, where widen_codes() puts them.
  __device__ __forceinline__ uint32_t high_word(int s, int i) const {
    constexpr int kBits = high_bits(kType);
    if constexpr (kBits == 0) return 0;
    constexpr uint32_t kMask = ((1 << kBits) - 1) * 0x00100010;
    const int shift = i * kBits % 16;
    const uint32_t word = highs[s][i * kBits / 16];
    return (shift < 4 ? word << (4 - shift) : word >> (shift - 4)) & kMask;
  }
  // Byte or half `i` of the scales, half `i` of what they have in common.
  __device__ __forceinline__ uint32_t scale_byte(int s, int i) const {
    return scales[s][i / 4] >> i % 4 * 8 & 0xff;
  }
  __device__ __forceinline__ float scale_half(int s, int i) const {
    return half_to_float(scales[s][i / 2] >> i % 2 * 16);
  }
  __device__ __forceinline__ float scale_bf16(int s, int i) const {
    return float_of(scales[s][i / 2] >> i % 2 * 16 << 16);
  }
  __device__ __forceinline__ float common_half(int s, int i) const {
    return half_to_float(common[s][i / 2] >> i % 2 * 16);
  }
};

// Pair `pair` of a word of codes, with the bits above them in `high`, as two f16: the numbers, but e2m1 as
// 2^-14 of them.
template <DType kType>
__device__ __forceinline__ uint32_t widen_codes(uint32_t word, int pair, uint32_t high) {
  if constexpr (is_e2m1(kType)) {
    if (pair < 2) return word << 3 * pair & 0x8e008e00;
    return (word << 3 * pair & 0x0e000e00) | (word << (pair - 1) & 0x80008000);
  } else {
    // Below 1024 f16 has no fractions: the code is the end of its mantissa.
    constexpr bool kByte = low_bits(kType) == 8 || is_looked_up(kType);
    constexpr uint32_t kMask = kByte ? 0x00ff00ff : 0x000f000f;
    if constexpr (is_looked_up(kType)) {
      word = look_up(word, {kLookedUp0, kLookedUp4, kLookedUp8, kLookedUp12}).words[pair % 2];
      pair /= 2;
    }
    constexpr uint32_t kOffset = 0xe400e400 | code_excess(kType) * 0x00010001;
    return add_halves((word >> (kByte ? 8 : 4) * pair & kMask) | high | 0x64006400, kOffset);
  }
}

// What a block's codes and scales become for products, however many tokens they are for.
template <DType kType, int kStrips>
struct CodedOperands {
  static constexpr int kGroupSteps = kType == DType::kF4E2M1 ? kCodedSteps : group_columns(kType) / 16;
  static constexpr int kGroups = kCodedSteps / kGroupSteps;
  static constexpr bool kScalesSums = kGroups > 1;
  static constexpr bool kMinima = has_minima(kType);

  uint32_t words[kStrips][kCodedSteps * kWeightWords];
  float scales[kStrips][kGroups][kSumOutputs];
  float minima[kMinima ? kStrips : 1][kGroups][kSumOutputs];

  template <bool kRowScales>
  __device__ __forceinline__ explicit CodedOperands(const StripsBlock<kType, kRowScales, kStrips>& from) {
    constexpr int kPairs = 16 / low_bits(kType);
#pragma unroll
    for (int s = 0; s < kStrips; ++s) {
#pragma unroll
      for (int i = 0; i < kCodedSteps * kWeightWords; ++i) {
        words[s][i] = widen_codes<kType>(from.code_word(s, i / kPairs), i % kPairs, from.high_word(s, i));
        if constexpr (kType == DType::kF4E2M1) {
          constexpr int kOutputs = kWeightWords / 2;  // of a lane's codes
          const uint32_t scale = from.scale_byte(s, i / kWeightWords * kOutputs + i % kOutputs);
          words[s][i] = multiply_halves(words[s][i], scale * 0x00800080);
        }
        // By 2^14, so that no number is subnormal: gfx90a's matrix units take those for zero.
        if constexpr (kType == DType::kMXFP4) words[s][i] = multiply_halves(words[s][i], 0x74007400);
      }
#pragma unroll
      for (int group = 0; group < kGroups && kScalesSums; ++group) {
#pragma unroll
        for (int i = 0; i < kSumOutputs; ++i) {
          const int at = group * kSumOutputs + i;
          const int of_two = group * 2 * kSumOutputs + i;
          if constexpr (has_stepped_minima(kType)) {
            scales[s][group][i] = from.common_half(s, i) * static_cast<float>(from.scale_byte(s, of_two));
            minima[s][group][i] = -from.common_half(s, kSumOutputs + i) *
                                  static_cast<float>(from.scale_byte(s, of_two + kSumOutputs));
          } else if constexpr (is_word_scaled(kType)) {
            const uint32_t word = from.scales[s][at];
            scales[s][group][i] = float_of(word & ~kZeroPointMask);
            minima[s][group][i] =
                scales[s][group][i] *
                static_cast<float>(code_excess(kType) - static_cast<int32_t>(word & kZeroPointMask));
          } else if constexpr (kMinima) {
            scales[s][group][i] = from.scale_half(s, of_two);
            minima[s][group][i] = from.scale_half(s, of_two + kSumOutputs);
          } else if constexpr (has_signed_steps(kType)) {
            const auto code = static_cast<int8_t>(from.scale_byte(s, at));
            scales[s][group][i] = from.common_half(s, i) * static_cast<float>(code);
          } else if constexpr (kType == DType::kMXFP4) {
            scales[s][group][i] = from.scale_bf16(s, at);
          } else {
            scales[s][group][i] = from.scale_half(s, at);
          }
        }
      }
    }
  }
};

template <DType kType, bool kRowScales, int kStrips>
requires kCoded<kType> __device__ __forceinline__ CodedOperands<kType, kStrips> operands_of(
    const StripsBlock<kType, kRowScales, kStrips>& block) {
  return CodedOperands<kType, kStrips>(block);
}

// sums += weights · tokens over the block, which is summed by itself: tokens have a scale.
template <DType kType, int kStrips>
__device__ __forceinline__ void multiply_block(const CodedOperands<kType, kStrips>& weights,
                                               const TokensBlock<kType>& tokens, float (&sums)[kStrips][4]) {
  using Operands = CodedOperands<kType, kStrips>;
  constexpr uint32_t kOnes[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
  float own[kStrips][4] = {};
#pragma unroll
  for (int group = 0; group < Operands::kGroups; ++group) {
    float part[kStrips][4] = {};
    float(&into)[kStrips][4] = Operands::kScalesSums ? part : own;
    float total[4] = {};  // of the tokens: what minima multiply
#pragma unroll
    for (int step = group * Operands::kGroupSteps; step < (group + 1) * Operands::kGroupSteps; ++step) {
      const uint32_t* const token = tokens.vectors[step / 2].words + step % 2 * kTokenWords;
#pragma unroll
      for (int s = 0; s < kStrips; ++s) mma_f16(into[s], weights.words[s] + step * kWeightWords, token);
      if constexpr (Operands::kMinima) mma_f16(total, kOnes, token);
    }
    if constexpr (Operands::kScalesSums) {
#pragma unroll
      for (int s = 0; s < kStrips; ++s) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          own[s][i] = fmaf(part[s][i], weights.scales[s][group][i / kSumTokens], own[s][i]);
          if constexpr (Operands::kMinima) {
            own[s][i] = fmaf(total[i], weights.minima[s][group][i / kSumTokens], own[s][i]);
          }
        }
      }
    }
  }
#pragma unroll
  for (int s = 0; s < kStrips; ++s) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sums[s][i] = fmaf(own[s][i], tokens.scales[i % kSumTokens], sums[s][i]);
    }
  }
}

#endif

}  // namespace llmservice::gpu
