#include "backends/gpu/kernels/fragment_launch.h"
#include "backends/gpu/kernels/matmul_orders.h"

namespace llmservice::gpu {
namespace {

// Strips and fragments of tokens of the largest sliced block: as many as registers suffice for.
template <DType kType>
constexpr int kWideStrips = kWarpSize == 64 && !kCoded<kType> ? 2 : 1;
template <DType kType>
constexpr int kWideFragments = kWarpSize == 32         ? 3
                               : !kCoded<kType>        ? 4
                               : kType == DType::kQ2_K ? 2
                                                       : 3;

// Blocks of a multiprocessor that registers must suffice for; codes that are widened by products take more.
template <DType kType, int kFragments>
constexpr int kBlocks = kFragments > 1 || (kType == DType::kF8E4M3 && !kHasFp8Mma && !kWidensAtOnce) ? 1 : 2;

// Tokens x kFragments · kFragmentTokens, strips y · kStrips: blocks with the same weights begin together.
template <DType kType, bool kRowScales, int kStrips, int kFragments>
__global__ void __launch_bounds__(kSlicedThreads, (kBlocks<kType, kFragments>))
    sliced_kernel(DeviceMatrix w, TokenRecords x, int32_t rows, float* out) {
  const auto first = static_cast<int32_t>(blockIdx.x) * kFragments * kFragmentTokens;
  const auto strip = static_cast<int32_t>(blockIdx.y) * kStrips;
  const StoreRows store{out + int64_t{first} * w.stride, w.rows, w.stride};
  let_next_start();
  multiply_sliced<kType, kRowScales, kStrips, kFragments>(
      w, strip, x, rows - first, [&](int32_t j) { return first + j; }, store, dynamic_shared<float>());
}

template <DType kType, bool kRowScales>
__global__ void __launch_bounds__(kWalkThreads, kWarpSize == 64 && !kCoded<kType> ? 2 : 1)
    walked_kernel(DeviceMatrix w, TokenRecords x, int32_t rows, float* out) {
  const auto first = static_cast<int32_t>(blockIdx.x) * kWalkTokens;
  const auto strip = static_cast<int32_t>(blockIdx.y) * kWalkWarps * kWalkStrips;
  const StoreRows store{out + int64_t{first} * w.stride, w.rows, w.stride};
  let_next_start();
  multiply_walked<kType, kRowScales>(
      w, strip, x, rows - first, [&](int32_t j) { return first + j; }, store, dynamic_shared<std::byte>());
}

using Shape = FragmentShape<void (*)(DeviceMatrix, TokenRecords, int32_t, float*)>;

template <DType kType, bool kRowScales, int kStrips, int kFragments>
Shape sliced() {
  return sliced_shape<kStrips, kFragments>(sliced_kernel<kType, kRowScales, kStrips, kFragments>);
}

// What a block does to the bits is the same in all shapes; they differ in what they read again. Walking pays
// once its large blocks fill the device.
template <DType kType, bool kRowScales>
Shape choose_shape(const DeviceMatrix& w, int64_t rows) {
  if (rows <= kFragmentTokens) return sliced<kType, kRowScales, 1, 1>();
  if (rows <= 2 * kFragmentTokens) return sliced<kType, kRowScales, 1, 2>();
  if constexpr (kWalks<kType>) {
    const int64_t blocks = divide_up(w.rows, kWalkOutputs) * divide_up(rows, kWalkTokens);
    if (rows > kWideFragments<kType> * kFragmentTokens && blocks >= 2 * w.multiprocessors) {
      return walked_shape<kType>(walked_kernel<kType, kRowScales>);
    }
  }
  return sliced<kType, kRowScales, kWideStrips<kType>, kWideFragments<kType>>();
}

Shape choose_shape(const DeviceMatrix& w, int64_t rows) {
  return choose_by_type(
      w, [&]<DType kType, bool kRowScales> { return choose_shape<kType, kRowScales>(w, rows); });
}

}  // namespace

int64_t fragments_workspace(const DeviceMatrix& w, int64_t rows) {
  return activation_bytes(fragment_layout(w), rows);
}

Activations fragments_activations(const DeviceMatrix& w, const ProductRoom& room) {
  return {fragment_layout(w), room.own};
}

Launch fragments_multiply(const DeviceMatrix& w, int64_t rows, const ProductRoom& room, float* out) {
  const Shape shape = choose_shape(w, rows);
  const Grid grid{static_cast<uint32_t>(divide_up(rows, shape.tokens)), shape.blocks_of(w)};
  const TokenRecords x{fragments_activations(w, room).records, k_tiles(w.dtype, w.cols)};
  return make_launch("matmul_fragments", shape.kernel, grid, shape.threads, shape.shared_bytes, w, x,
                     static_cast<int32_t>(rows), out);
}

}  // namespace llmservice::gpu
