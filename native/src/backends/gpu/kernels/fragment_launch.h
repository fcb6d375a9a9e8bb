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

// Whether a type's prompts are walked. What widening GGUF's blocks takes in addition to the sums of all
// tokens does not fit in the registers of AMD's threads.
template <DType kType>
constexpr bool kWalks = kWarpSize != 64 || kType < DType::kQ8_0;

// Of a kernel that calls multiply_walked<kType, ..>().
template <DType kType, class Kernel>
FragmentShape<Kernel> walked_shape(Kernel kernel) {
  return {kernel, kWalkTokens, kWalkOutputs, kWalkThreads, walk_shared(kType)};
}

// choose<kType, kRowScales>() for the matrix's type and scales.
template <class Choose>
auto choose_by_type(const DeviceMatrix& w, Choose choose) {
  switch (w.dtype) {
    case DType::kBF16:
      return choose.template operator()<DType::kBF16, false>();
    case DType::kF16:
      return choose.template operator()<DType::kF16, false>();
    case DType::kI8:
      return choose.template operator()<DType::kI8, false>();
    case DType::kF4E2M1:
      return choose.template operator()<DType::kF4E2M1, false>();
    case DType::kMXFP4:
      return choose.template operator()<DType::kMXFP4, false>();
    case DType::kQ8_0:
      return choose.template operator()<DType::kQ8_0, false>();
    case DType::kQ4_0:
      return choose.template operator()<DType::kQ4_0, false>();
    case DType::kQ4_K:
      return choose.template operator()<DType::kQ4_K, false>();
    case DType::kQ6_K:
      return choose.template operator()<DType::kQ6_K, false>();
    case DType::kQ4_1:
      return choose.template operator()<DType::kQ4_1, false>();
    case DType::kQ5_0:
      return choose.template operator()<DType::kQ5_0, false>();
    case DType::kQ5_1:
      return choose.template operator()<DType::kQ5_1, false>();
    case DType::kQ5_K:
      return choose.template operator()<DType::kQ5_K, false>();
    case DType::kQ3_K:
      return choose.template operator()<DType::kQ3_K, false>();
    case DType::kQ2_K:
      return choose.template operator()<DType::kQ2_K, false>();
    case DType::kIQ4_NL:
      return choose.template operator()<DType::kIQ4_NL, false>();
    case DType::kIQ4_XS:
      return choose.template operator()<DType::kIQ4_XS, false>();
    case DType::kInt4:
      return choose.template operator()<DType::kInt4, false>();
    case DType::kInt8:
      return choose.template operator()<DType::kInt8, false>();
    default:
      return w.scale_rows == 1 ? choose.template operator()<DType::kF8E4M3, true>()
                               : choose.template operator()<DType::kF8E4M3, false>();
  }
}

// Of the tokens that the matrix is multiplied by.
inline ActivationLayout fragment_layout(const DeviceMatrix& w) {
  return {.order = TileOrder::kFragments,
          .dtype = is_coded(w.dtype) ? DType::kI8 : w.dtype,
          .block_rows = kFragmentTokens,
          .cols = w.cols};
}

}  // namespace llmservice::gpu
