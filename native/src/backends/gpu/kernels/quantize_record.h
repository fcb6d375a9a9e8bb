// How quantize.h's records are written: a tile of a row by `kLanes` lanes.
#pragma once

#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr int kLanes = 32;                    // that share a tile of a row: four bytes each, or eight
constexpr float kSmallestMagnitude = 1e-30f;  // its inverse and its scale are normal numbers

// What a lane has of a tile.
template <DType dtype>
constexpr int kLaneValues = has_token_scales(dtype) ? 4 : 2;

// Activations as kernels take them.
struct Records {
  ActivationLayout layout;
  int32_t tiles;   // along K
  int64_t record;  // bytes
  std::byte* out;
};

inline Records records_of(const Activations& to) {
  return {to.layout, k_tiles(to.layout.dtype, to.layout.cols), record_bytes(to.layout), to.records};
}

// Largest magnitude among `kLanes` lanes. Compared as integers, where NaN is above infinity: it is not lost.
__device__ __forceinline__ float largest_magnitude(const float (&values)[4]) {
  uint32_t largest = 0;
#pragma unroll
  for (const float value : values) {
    const uint32_t magnitude = bits_of(value) & 0x7fffffff;
    largest = magnitude > largest ? magnitude : largest;
  }
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    const uint32_t other = shuffle_xor(largest, mask);
    largest = other > largest ? other : largest;
  }
  return float_of(largest);
}

// Codes of this lane's four values, and the scale of all lanes'.
__device__ __forceinline__ uint32_t fp8_codes(const float (&values)[4], float* scale) {
  float largest = largest_magnitude(values);
  const bool finite = bits_of(largest) < 0x7f800000;
  if (largest < kSmallestMagnitude) largest = kSmallestMagnitude;
  *scale = largest / kFp8Max;
  const float inverse = kFp8Max / largest;
  uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    codes |= static_cast<uint32_t>(float_to_fp8(finite ? values[i] * inverse : 0.0f)) << (8 * i);
  }
  return codes;
}

// The same in f16, where the scale is a power of two: the largest value's becomes 2^14.
__device__ __forceinline__ void f16_codes(const float (&values)[4], float* scale, uint32_t* first,
                                          uint32_t* second) {
  float largest = largest_magnitude(values);
  const bool finite = bits_of(largest) < 0x7f800000;
  if (largest < kSmallestMagnitude) largest = kSmallestMagnitude;
  const uint32_t exponent = bits_of(largest) >> 23;
  *scale = finite ? float_of((exponent - 14) << 23) : largest;
  const float inverse = float_of((2 * 127 + 14 - exponent) << 23);
  uint32_t halves[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) halves[i] = float_to_f16(finite ? values[i] * inverse : 0.0f);
  *first = halves[0] | halves[1] << 16;
  *second = halves[2] | halves[3] << 16;
}

// Tile `tile` of a row, of which value_of(col) gives the values. All lanes of the warp call it; `within`
// false: for a row that is not there.
template <DType dtype, class ValueOf>
__device__ __forceinline__ void write_record(const Records& to, int64_t row, int32_t tile, bool within,
                                             ValueOf value_of) {
  constexpr int kValues = kLaneValues<dtype>;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int32_t col = (tile * kLanes + lane) * kValues;
  float values[4] = {};
  if (within) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) values[i] = col + i < to.layout.cols ? value_of(col + i) : 0.0f;
  }
  float scale = 0;
  uint32_t codes;
  uint32_t more = 0;
  if constexpr (is_coded(dtype)) {
    f16_codes(values, &scale, &codes, &more);
  } else if constexpr (dtype == DType::kF8E4M3) {
    codes = fp8_codes(values, &scale);
  } else if constexpr (dtype == DType::kBF16) {
    codes = float_to_bf16(values[0]) | static_cast<uint32_t>(float_to_bf16(values[1])) << 16;
  } else {
    codes = float_to_f16(values[0]) | static_cast<uint32_t>(float_to_f16(values[1])) << 16;
  }
  if (!within) return;
  const auto at = static_cast<int32_t>(row % to.layout.block_rows);
  std::byte* const record = to.out + (row / to.layout.block_rows * to.tiles + tile) * to.record;
  if constexpr (is_coded(dtype)) {
    const int32_t offset = fragment_activation_offset(at, coded_token_byte(lane * 4));
    *reinterpret_cast<OperandPair*>(record + offset) = {{codes, more}};
  } else {
    *reinterpret_cast<uint32_t*>(record + activation_offset(to.layout.order, at, lane * 4)) = codes;
  }
  if (has_token_scales(dtype) && lane == 0) {
    float* const scales = reinterpret_cast<float*>(record + to.layout.block_rows * token_bytes(dtype));
    scales[activation_scale(to.layout.order, to.layout.block_rows, at)] = scale;
  }
}

}  // namespace llmservice::gpu
