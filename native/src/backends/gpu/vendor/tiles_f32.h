// Products of 16 x 16 tiles of float32 on matrix instructions, close to the precision of fused multiply-adds:
// NVIDIA's units take TF32, so that a value goes as the sum of two (three products, the fourth being below
// 2^-22); AMD's take float32. How tiles lie over the lanes of a warp:
//
//   Tile       sums; a lane's value i is at row inner_of(lane, i) and column outer_of(lane, i)
//   Operand    16 vectors (outer) of 16 values (inner), which a product contracts over
//   operand(values)                    from a lane's values, value i at inner_of(lane, i) of vector outer_of
//   multiply_add(tile, left, right)    tile(i, n) += Σ_k left(i, k) · right(n, k); all lanes take part
//
// Both kinds lie alike, so that a tile (k, n) as it is makes the right operand of a product over its rows.
// Sources: PTX ISA, "Matrix Fragments for mma.m16n8k8" (.tf32); AMD's matrix instruction calculator,
// v_mfma_f32_16x16x4_f32.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr int kTileFloats = 256 / kWarpSize;  // of a lane

__host__ __device__ constexpr int outer_of(int lane, int i) {
  return kWarpSize == 64 ? lane % 16 : lane / 4 + i / 2 % 2 * 8;
}
__host__ __device__ constexpr int inner_of(int lane, int i) {
  return kWarpSize == 64 ? lane / 16 * 4 + i : i / 4 * 8 + lane % 4 * 2 + i % 2;
}

// Values of a lane that lie side by side along `inner`.
constexpr int kInnerRun = kWarpSize == 64 ? 4 : 2;

struct Tile {
  float v[kTileFloats] = {};
};

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

#if defined(LLMSERVICE_GPU_HOST)

// What all lanes of the warp give to an instruction, good until the lanes meet again.
template <int kCount>
const float* const* arguments_of_lanes(const float (&mine)[kCount]) {
  static thread_local float rooms[2][1024][8];
  static thread_local uint8_t turn[1024];
  float* const room = rooms[turn[threadIdx.x] ^= 1][threadIdx.x];
  std::memcpy(room, mine, sizeof mine);
  return reinterpret_cast<const float* const*>(emulator::exchange(reinterpret_cast<uint64_t>(room)));
}

#endif

#if defined(LLMSERVICE_GPU_HIP) || (defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 64)

struct Operand {
  float v[kTileFloats];
};

__device__ __forceinline__ Operand operand(const float (&values)[kTileFloats]) {
  Operand made;
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) made.v[i] = values[i];
  return made;
}

// sums[r] (row 4 (lane / 16) + r, column lane % 16) += Σ_k a (row lane % 16, k = lane / 16) · b (k, column
// lane % 16).
__device__ __forceinline__ void mfma_16x16x4(float (&sums)[4], float a, float b) {
#if defined(LLMSERVICE_GPU_HIP)
  using Four = __attribute__((__vector_size__(16))) float;
  Four d = {sums[0], sums[1], sums[2], sums[3]};
  d = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, d, 0, 0, 0);
#pragma unroll
  for (int i = 0; i < 4; ++i) sums[i] = d[i];
#else
  const float mine[2] = {a, b};
  const float* const* const given = arguments_of_lanes(mine);
  for (int r = 0; r < 4; ++r) {
    double sum = sums[r];
    for (int k = 0; k < 4; ++k) {
      sum += double{given[16 * k + 4 * (lane_id() / 16) + r][0]} * given[16 * k + lane_id() % 16][1];
    }
    sums[r] = static_cast<float>(sum);
  }
#endif
}

__device__ __forceinline__ void multiply_add(Tile& tile, const Operand& left, const Operand& right) {
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) mfma_16x16x4(tile.v, left.v[i], right.v[i]);
}

#else

struct Operand {
  float high[kTileFloats];  // TF32: 10 bits after the point
  float low[kTileFloats];
};

__device__ __forceinline__ float bits_to_float(uint32_t bits) {
#if defined(LLMSERVICE_GPU_HOST)
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#else
  return __uint_as_float(bits);
#endif
}
__device__ __forceinline__ uint32_t float_to_bits(float value) {
#if defined(LLMSERVICE_GPU_HOST)
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#else
  return __float_as_uint(value);
#endif
}

// Rounded to TF32, ties away from zero.
__device__ __forceinline__ float to_tf32(float value) {
  return bits_to_float((float_to_bits(value) + 0x1000) & 0xffffe000);
}

__device__ __forceinline__ Operand operand(const float (&values)[kTileFloats]) {
  Operand made;
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) {
    made.high[i] = to_tf32(values[i]);
    made.low[i] = to_tf32(values[i] - made.high[i]);
  }
  return made;
}

// mma.m16n8k8, with lane = 4 g + t: a (rows g, g + 8, g, g + 8; k = t, t, t + 4, t + 4), b (k = t, t + 4;
// column g), sums (rows g, g, g + 8, g + 8; columns 2t, 2t + 1, 2t, 2t + 1).
__device__ __forceinline__ void mma_16x8x8(float* sums, float a0, float a1, float a2, float a3, float b0,
                                           float b1) {
#if defined(LLMSERVICE_GPU_CUDA)
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(float_to_bits(a0)), "r"(float_to_bits(a1)), "r"(float_to_bits(a2)), "r"(float_to_bits(a3)),
        "r"(float_to_bits(b0)), "r"(float_to_bits(b1)));
#else
  const float mine[6] = {a0, a1, a2, a3, b0, b1};
  const float* const* const given = arguments_of_lanes(mine);
  for (int i = 0; i < 4; ++i) {
    const int row = lane_id() / 4 + i / 2 * 8;
    const int column = lane_id() % 4 * 2 + i % 2;
    double sum = sums[i];
    for (int k = 0; k < 8; ++k) {
      sum += double{given[row % 8 * 4 + k % 4][k / 4 * 2 + row / 8]} * given[column * 4 + k % 4][4 + k / 4];
    }
    sums[i] = static_cast<float>(sum);
  }
#endif
}

// The instruction works out the tile's transpose. Which k an operand's place stands for is free as long as
// both agree: place t is k = 2t and place t + 4 is k = 2t + 1, as sums lie.
template <class Left, class Right>
__device__ __forceinline__ void multiply_add_once(Tile& tile, const Left& left, const Right& right) {
#pragma unroll
  for (int k = 0; k < 8; k += 4) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      mma_16x8x8(tile.v + 4 * i, right[k], right[k + 2], right[k + 1], right[k + 3], left[k + 2 * i],
                 left[k + 2 * i + 1]);
    }
  }
}

__device__ __forceinline__ void multiply_add(Tile& tile, const Operand& left, const Operand& right) {
  multiply_add_once(tile, left.low, right.high);
  multiply_add_once(tile, left.high, right.low);
  multiply_add_once(tile, left.high, right.high);
}

#endif

#endif

}  // namespace llmservice::gpu
