// The accumulators of a warpgroup: 64 outputs, the rows of wgmma, by the tokens of a block, its columns.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::gpu {

// Whose products the tensor cores are given next: two warpgroups take turns, so that one adds up what it has
// while the products of the other run. Without this both would wait for products, and then both add up.
template <bool kTakesTurns>
class Turns {
 public:
  // `barriers` are two on 16 bytes, each of a warpgroup's warps; `side` 0 begins.
  __device__ Turns(uint64_t* barriers, int side) : mine_(barriers + side), phase_(side == 0 ? 1 : 0) {}

  __device__ void wait() {
    if constexpr (kTakesTurns) {
      wait_phase(mine_, phase_);
      phase_ ^= 1;
    }
  }
  __device__ void pass() const {
    if constexpr (kTakesTurns) {
      if (lane_id() == 0) arrive(reinterpret_cast<uint64_t*>(reinterpret_cast<uintptr_t>(mine_) ^ 8));
    }
  }

 private:
  uint64_t* mine_;
  uint32_t phase_;
};

// In each group of columns they lie as wgmma has them.
template <DType dtype, int kTokens>
struct Tile {
  static constexpr int kColumns = kTokens < 128 ? kTokens : 128;  // of one instruction
  static constexpr int kGroups = kTokens / kColumns;
  static constexpr int kRegisters = kColumns / 2;

  float sums[kGroups][kRegisters];

  __device__ float& sum(int i) { return sums[i / kRegisters][i % kRegisters]; }

  __device__ void clear() {
#pragma unroll
    for (auto& group : sums) {
#pragma unroll
      for (float& sum : group) sum = 0;
    }
  }

  // Adds a unit: its products in float32 from zero, then times both scales. `w0` and `w1` are the weights'
  // scales of this thread's two outputs, the same in all of the block where `one_scale`.
  template <class Turn>
  __device__ void add(const std::byte* weights, const std::byte* activations, float w0, float w1,
                      bool one_scale, Turn& turns) {
    const auto* scales = reinterpret_cast<const float*>(activations + kTokens * kTileBytes);
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      float partial[kRegisters];
      const std::byte* const tokens = activations + group * kColumns * kTileBytes;
      turns.wait();
      begin_wgmma(partial);
#pragma unroll
      for (int k = 0; k < kTileBytes / 32; ++k) {
        wgmma<dtype>(partial, tile_descriptor(weights, k * 32), tile_descriptor(tokens, k * 32), k > 0);
      }
      commit_wgmma();
      turns.pass();
      wait_wgmma(partial);
      if constexpr (dtype != DType::kF8E4M3) {
#pragma unroll
        for (int i = 0; i < kRegisters; ++i) sums[group][i] += partial[i];
      } else if (one_scale) {
        promote<true>(sums[group], partial, scales + group * kColumns, w0, w0);
      } else {
        promote<false>(sums[group], partial, scales + group * kColumns, w0, w1);
      }
    }
  }

  // With one scale, half of the products of scales serve two outputs.
  template <bool kOneScale>
  __device__ static void promote(float (&to)[kRegisters], const float (&from)[kRegisters],
                                 const float* scales, float w0, float w1) {
    // As activation_scale() puts them.
    constexpr int kTogether = kColumns < 16 ? 2 : 4;
#pragma unroll
    for (int i = 0; i < kRegisters; i += 2 * kTogether) {
      const float* const at = scales + i * 2 + lane_id() % 4 * kTogether;
      float x[kTogether];
      if constexpr (kTogether == 4) {
        const float4 four = *reinterpret_cast<const float4*>(at);
        x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
      } else {
        x[0] = at[0], x[1] = at[1];
      }
      float scale[2 * kTogether];
#pragma unroll
      for (int j = 0; j < 2 * kTogether; ++j) {
        scale[j] = kOneScale && (j & 2) ? scale[j - 2] : (j & 2 ? w1 : w0) * x[j / 4 * 2 + j % 2];
        to[i + j] = fmaf(from[i + j], scale[j], to[i + j]);
      }
    }
  }
};

}  // namespace llmservice::gpu
