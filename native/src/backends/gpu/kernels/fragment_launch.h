// What the host knows of kernels made of fragment_products.h: what their blocks do, and how they want
// matrices and tokens.
#pragma once

#include "backends/gpu/kernels/fragment_products.h"
#include "backends/gpu/kernels/quantize.h"

namespace llmservice::gpu {

template <class Kernel>
struct FragmentShape {
  Kernel kernel;
  int32_t tokens;   // of a block
  int32_t outputs;  // of a block
  uint32_t threads;
  uint32_t shared_bytes;

  // That have all outputs of a matrix among them.
  uint32_t blocks_of(const DeviceMatrix& w) const {
    return static_cast<uint32_t>(divide_up(divide_up(w.rows, kTileRows) * kTileRows, outputs));
  }
};

// Of a kernel that calls multiply_sliced<.., kStrips, kFragments>().
template <int kStrips, int kFragments, class Kernel>
FragmentShape<Kernel> sliced_shape(Kernel kernel) {
  return {kernel, kFragments * kFragmentTokens, kStrips * kFragmentOutputs, kSlicedThreads, kSlicedShared};
}

constexpr int32_t kWalkOutputs = kWalkWarps * kWalkStrips * kFragmentOutputs;

// Of a kernel that calls multiply_walked().
template <class Kernel>
FragmentShape<Kernel> walked_shape(Kernel kernel) {
  return {kernel, kWalkTokens, kWalkOutputs, kWalkThreads, kWalkShared};
}

// choose<kType, kRowScales>() for the matrix's type and scales.
template <class Choose>
auto choose_by_type(const DeviceMatrix& w, Choose choose) {
  if (w.dtype == DType::kBF16) return choose.template operator()<DType::kBF16, false>();
  if (w.dtype == DType::kF16) return choose.template operator()<DType::kF16, false>();
  return w.scale_rows == 1 ? choose.template operator()<DType::kF8E4M3, true>()
                           : choose.template operator()<DType::kF8E4M3, false>();
}

// Of the tokens that the matrix is multiplied by.
inline ActivationLayout fragment_layout(const DeviceMatrix& w) {
  return {.order = TileOrder::kFragments, .dtype = w.dtype, .block_rows = kFragmentTokens, .cols = w.cols};
}

}  // namespace llmservice::gpu
