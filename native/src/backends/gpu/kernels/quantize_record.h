// How quantize.h's records are written: each lane has four columns of a row, `kTileLanes` lanes a tile.
#pragma once

#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/kernels/vectors.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr float kSmallestMagnitude = 1e-30f;  // its inverse and its scale are normal numbers

constexpr uint32_t tile_lanes(DType dtype) { return has_token_scales(dtype) ? 32 : 16; }
template <DType dtype>
constexpr uint32_t kTileLanes = tile_lanes(dtype);
constexpr int kScaleLanes = kTileLanes<DType::kF8E4M3>;  // that share a scale

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

// Largest magnitude among `kScaleLanes` lanes. Compared as integers, where NaN is above infinity: it is not
// lost.
__device__ __forceinline__ float largest_magnitude(const Float4& values) {
  uint32_t largest = 0;
#pragma unroll
  for (const float value : values.v) {
    const uint32_t magnitude = bits_of(value) & 0x7fffffff;
    largest = magnitude > largest ? magnitude : largest;
  }
#pragma unroll
  for (int mask = kScaleLanes / 2; mask > 0; mask /= 2) {
    const uint32_t other = shuffle_xor(largest, mask);
    largest = other > largest ? other : largest;
  }
  return float_of(largest);
}

// Four 16-bit numbers as they lie in memory.
template <class HalfOf>
__device__ __forceinline__ OperandPair pair_of(HalfOf half_of) {
  const auto word = [&](int i) { return uint32_t{half_of(i)} | uint32_t{half_of(i + 1)} << 16; };
  return {{word(0), word(2)}};
}

// Of values that share a scale.
struct Fp8Scale {
  float scale;
  float inverse;
  bool finite;  // whether all are, whose codes else are zero

  __device__ __forceinline__ explicit Fp8Scale(float largest) {
    finite = bits_of(largest) < 0x7f800000;
    if (largest < kSmallestMagnitude) largest = kSmallestMagnitude;
    scale = largest / kFp8Max;
    inverse = kFp8Max / largest;
  }
};

// Codes of this lane's four values, and the scale of all lanes'.
__device__ __forceinline__ uint32_t fp8_codes(const Float4& values, float* scale) {
  const Fp8Scale of(largest_magnitude(values));
  *scale = of.scale;
  float scaled[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) scaled[i] = of.finite ? values.v[i] * of.inverse : 0.0f;
  return narrow_to_fp8(scaled);
}

// The same in f16, where the scale is a power of two: the largest value's becomes 2^14.
__device__ __forceinline__ OperandPair f16_codes(const Float4& values, float* scale) {
  float largest = largest_magnitude(values);
  const bool finite = bits_of(largest) < 0x7f800000;
  if (largest < kSmallestMagnitude) largest = kSmallestMagnitude;
  const uint32_t exponent = bits_of(largest) >> 23;
  *scale = finite ? float_of((exponent - 14) << 23) : largest;
  const float inverse = float_of((2 * 127 + 14 - exponent) << 23);
  return pair_of([&](int i) { return float_to_f16(finite ? values.v[i] * inverse : 0.0f); });
}

// Columns 4 · quad and the three after of a row. All lanes of the warp call it; `within` false: for what is
// not there.
template <DType dtype>
__device__ __forceinline__ void write_record(const Records& to, uint32_t row, uint32_t quad, bool within,
                                             const Float4& values) {
  const auto lane = static_cast<int32_t>(quad % kTileLanes<dtype>);
  float scale = 0;
  OperandPair codes{};
  if constexpr (is_coded(dtype)) {
    codes = f16_codes(values, &scale);
  } else if constexpr (dtype == DType::kF8E4M3) {
    codes.words[0] = fp8_codes(values, &scale);
  } else if constexpr (dtype == DType::kBF16) {
    codes = pair_of([&](int i) { return float_to_bf16(values.v[i]); });
  } else {
    codes = pair_of([&](int i) { return float_to_f16(values.v[i]); });
  }
  if (!within) return;
  const auto block_rows = static_cast<uint32_t>(to.layout.block_rows);
  const auto at = static_cast<int32_t>(row % block_rows);
  std::byte* const record =
      to.out + (int64_t{row / block_rows} * to.tiles + quad / kTileLanes<dtype>)*to.record;
  if constexpr (dtype == DType::kF8E4M3) {
    *reinterpret_cast<uint32_t*>(record + activation_offset(to.layout.order, at, lane * 4)) = codes.words[0];
  } else {
    const int32_t offset = is_coded(dtype) ? fragment_activation_offset(at, coded_token_byte(lane * 4))
                                           : activation_offset(to.layout.order, at, lane * 8);
    *reinterpret_cast<OperandPair*>(record + offset) = codes;
  }
  if (has_token_scales(dtype) && lane == 0) {
    float* const scales = reinterpret_cast<float*>(record + to.layout.block_rows * token_bytes(dtype));
    scales[activation_scale(to.layout.order, to.layout.block_rows, at)] = scale;
  }
}

// What becomes of four columns where no product reads them.
struct Unrecorded {
  __device__ __forceinline__ void write(uint32_t, uint32_t, const Float4&) const {}
};

// What one product reads.
template <DType dtype>
struct OneRecord {
  Records to;

  __device__ __forceinline__ void write(uint32_t row, uint32_t quad, const Float4& values) const {
    write_record<dtype>(to, row, quad, quad < static_cast<uint32_t>(to.tiles) * kTileLanes<dtype>, values);
  }
};

template <class Choose>
auto choose_by_type(DType dtype, Choose choose) {
  if (is_coded(dtype)) return choose.template operator()<DType::kI8>();  // any of them
  if (dtype == DType::kF8E4M3) return choose.template operator()<DType::kF8E4M3>();
  if (dtype == DType::kBF16) return choose.template operator()<DType::kBF16>();
  return choose.template operator()<DType::kF16>();
}

}  // namespace llmservice::gpu
