#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int kLanes = 32;                    // that share 128 bytes of a row, four bytes each
constexpr float kSmallestMagnitude = 1e-30f;  // its inverse and its scale are normal numbers

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

// `kLanes` lanes for each row and 128 bytes of K; rows run slowest, so that a row is read from end to end.
template <DType dtype>
__global__ void __launch_bounds__(kThreads)
    quantize_kernel(ActivationLayout layout, const float* x, int64_t rows, int32_t tiles, int64_t record,
                    std::byte* out) {
  constexpr int kValues = dtype == DType::kF8E4M3 ? 4 : 2;  // of a lane
  const int64_t item = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  wait_for_previous();
  let_next_start();
  const int64_t row = item / tiles;
  const auto tile = static_cast<int32_t>(item % tiles);
  const bool within = row < rows;
  const int32_t col = (tile * kLanes + lane) * kValues;
  float values[4] = {};
  if (within) {
    const float* const from = x + row * layout.cols + col;
#pragma unroll
    for (int i = 0; i < kValues; ++i) values[i] = col + i < layout.cols ? from[i] : 0.0f;
  }
  float scale = 0;
  uint32_t codes;
  if constexpr (dtype == DType::kF8E4M3) {
    codes = fp8_codes(values, &scale);
  } else if constexpr (dtype == DType::kBF16) {
    codes = float_to_bf16(values[0]) | static_cast<uint32_t>(float_to_bf16(values[1])) << 16;
  } else {
    codes = float_to_f16(values[0]) | static_cast<uint32_t>(float_to_f16(values[1])) << 16;
  }
  if (!within) return;
  const auto at = static_cast<int32_t>(row % layout.block_rows);
  std::byte* const to = out + (row / layout.block_rows * tiles + tile) * record;
  *reinterpret_cast<uint32_t*>(to + activation_offset(layout.order, at, lane * 4)) = codes;
  if (dtype == DType::kF8E4M3 && lane == 0) {
    float* const scales = reinterpret_cast<float*>(to + layout.block_rows * kTileBytes);
    scales[activation_scale(layout.order, layout.block_rows, at)] = scale;
  }
}

}  // namespace

int64_t record_bytes(const ActivationLayout& layout) {
  const int64_t scales = layout.dtype == DType::kF8E4M3 ? sizeof(float) : 0;
  return layout.block_rows * (kTileBytes + scales);
}

int64_t activation_bytes(const ActivationLayout& layout, int64_t rows) {
  return divide_up(rows, layout.block_rows) * k_tiles(layout.dtype, layout.cols) * record_bytes(layout);
}

Launch quantize(const ActivationLayout& layout, const float* x, int64_t rows, std::byte* out) {
  const int32_t tiles = k_tiles(layout.dtype, layout.cols);
  const auto blocks = static_cast<uint32_t>(divide_up(rows * tiles * kLanes, kThreads));
  const auto kernel = layout.dtype == DType::kF8E4M3 ? quantize_kernel<DType::kF8E4M3>
                      : layout.dtype == DType::kBF16 ? quantize_kernel<DType::kBF16>
                                                     : quantize_kernel<DType::kF16>;
  return make_launch("quantize", kernel, {blocks}, kThreads, 0, layout, x, rows, tiles, record_bytes(layout),
                     out);
}

}  // namespace llmservice::gpu
