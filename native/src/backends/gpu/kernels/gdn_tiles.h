// Operands of 16 x 16 products (vendor/tiles_f32.h) out of memory.
#pragma once

#include "backends/gpu/kernels/vectors.h"
#include "backends/gpu/vendor/tiles_f32.h"

namespace llmservice::gpu {

// `run(outer, inner)` gives kInnerRun values from there on along `inner`.
template <class Run>
__device__ __forceinline__ Operand operand_of_runs(const Run& run) {
  float values[kTileFloats];
#pragma unroll
  for (int i = 0; i < kTileFloats; i += kInnerRun) {
    const Floats<kInnerRun> some = run(outer_of(lane_id(), i), inner_of(lane_id(), i));
#pragma unroll
    for (int j = 0; j < kInnerRun; ++j) values[i + j] = some.v[j];
  }
  return operand(values);
}

template <class Value>
__device__ __forceinline__ Operand operand_of_values(const Value& value) {
  float values[kTileFloats];
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) values[i] = value(outer_of(lane_id(), i), inner_of(lane_id(), i));
  return operand(values);
}

// 256 floats in the lanes' order: vectors of 16 bytes, the first of all lanes before the second.
__device__ __forceinline__ Tile load_lanes(const float* from) {
  Tile tile;
#pragma unroll
  for (int i = 0; i < kTileFloats; i += 4) {
    const Float4 some = load_floats<4>(from + (i / 4 * kWarpSize + lane_id()) * 4);
#pragma unroll
    for (int j = 0; j < 4; ++j) tile.v[i + j] = some.v[j];
  }
  return tile;
}
__device__ __forceinline__ Operand operand_of_lanes(const float* from) { return operand(load_lanes(from).v); }

__device__ __forceinline__ void store_lanes(float* to, const Tile& tile) {
#pragma unroll
  for (int i = 0; i < kTileFloats; i += 4) {
    Float4 some;
#pragma unroll
    for (int j = 0; j < 4; ++j) some.v[j] = tile.v[i + j];
    store_floats(to + (i / 4 * kWarpSize + lane_id()) * 4, some);
  }
}

}  // namespace llmservice::gpu
