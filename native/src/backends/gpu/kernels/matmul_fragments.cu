#include "backends/gpu/kernels/fragment_products.h"
#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/quantize.h"

namespace llmservice::gpu {
namespace {

// Strips and fragments of tokens of the largest sliced block: as many as registers suffice for.
constexpr int kWideStrips = kWarpSize == 64 ? 2 : 1;
constexpr int kWideFragments = kWarpSize == 64 ? 4 : 3;

// Blocks of a multiprocessor that registers must suffice for; widened codes take more of them.
template <DType kType, int kFragments>
constexpr int kBlocks = kFragments > 1 || (kScaled<kType> && !kHasFp8Mma) ? 1 : 2;

// Tokens x kFragments · kFragmentTokens, strips y · kStrips: blocks with the same weights begin together.
template <DType kType, bool kRowScales, int kStrips, int kFragments>
__global__ void __launch_bounds__(kSlicedThreads, (kBlocks<kType, kFragments>))
    sliced_kernel(DeviceMatrix w, TokenRecords x, int32_t rows, float* out) {
  const auto first = static_cast<int32_t>(blockIdx.x) * kFragments * kFragmentTokens;
  const auto strip = static_cast<int32_t>(blockIdx.y) * kStrips;
  const StoreRows store{out + int64_t{first} * w.rows, w.rows};
  let_next_start();
  multiply_sliced<kType, kRowScales, kStrips, kFragments>(
      w, strip, x, rows - first, [&](int32_t j) { return first + j; }, store, dynamic_shared<float>());
}

template <DType kType, bool kRowScales>
__global__ void __launch_bounds__(kWalkThreads, kWarpSize == 64 ? 2 : 1)
    walked_kernel(DeviceMatrix w, TokenRecords x, int32_t rows, float* out) {
  const auto first = static_cast<int32_t>(blockIdx.x) * kWalkTokens;
  const auto strip = static_cast<int32_t>(blockIdx.y) * kWalkWarps * kWalkStrips;
  const StoreRows store{out + int64_t{first} * w.rows, w.rows};
  let_next_start();
  multiply_walked<kType, kRowScales>(
      w, strip, x, rows - first, [&](int32_t j) { return first + j; }, store, dynamic_shared<std::byte>());
}

using Kernel = void (*)(DeviceMatrix, TokenRecords, int32_t, float*);

struct Shape {
  Kernel kernel;
  int32_t tokens;   // of a block
  int32_t outputs;  // of a block
  uint32_t threads;
  uint32_t shared_bytes;
};

template <DType kType, bool kRowScales, int kStrips, int kFragments>
Shape sliced() {
  return {sliced_kernel<kType, kRowScales, kStrips, kFragments>, kFragments * kFragmentTokens,
          kStrips * kFragmentOutputs, kSlicedThreads, kSlicedShared};
}

// What a block does to the bits is the same in all shapes; they differ in what they read again. Walking pays
// once its large blocks fill the device.
template <DType kType, bool kRowScales>
Shape choose_shape(const DeviceMatrix& w, int64_t rows) {
  if (rows <= kFragmentTokens) return sliced<kType, kRowScales, 1, 1>();
  if (rows <= 2 * kFragmentTokens) return sliced<kType, kRowScales, 1, 2>();
  constexpr int32_t kOutputs = kWalkWarps * kWalkStrips * kFragmentOutputs;
  const int64_t blocks = divide_up(w.rows, kOutputs) * divide_up(rows, kWalkTokens);
  if (rows > kWideFragments * kFragmentTokens && blocks >= 2 * w.multiprocessors) {
    return {walked_kernel<kType, kRowScales>, kWalkTokens, kOutputs, kWalkThreads, kWalkShared};
  }
  return sliced<kType, kRowScales, kWideStrips, kWideFragments>();
}

Shape choose_shape(const DeviceMatrix& w, int64_t rows) {
  if (w.dtype == DType::kBF16) return choose_shape<DType::kBF16, false>(w, rows);
  if (w.dtype == DType::kF16) return choose_shape<DType::kF16, false>(w, rows);
  return w.scale_rows == 1 ? choose_shape<DType::kF8E4M3, true>(w, rows)
                           : choose_shape<DType::kF8E4M3, false>(w, rows);
}

ActivationLayout layout_of(const DeviceMatrix& w) {
  return {.order = w.order, .dtype = w.dtype, .block_rows = kFragmentTokens, .cols = w.cols};
}

}  // namespace

int64_t fragments_workspace(const DeviceMatrix& w, int64_t rows) {
  return activation_bytes(layout_of(w), rows);
}

Launches fragments_matmul(const DeviceMatrix& w, const float* x, int64_t rows, std::byte* workspace,
                          float* out) {
  std::byte* const records = workspace + kCounterBytes;
  const Shape shape = choose_shape(w, rows);
  const Grid grid{static_cast<uint32_t>(divide_up(rows, shape.tokens)),
                  static_cast<uint32_t>(divide_up(divide_up(w.rows, kTileRows) * kTileRows, shape.outputs))};
  return {quantize(layout_of(w), x, rows, records),
          make_launch("matmul_fragments", shape.kernel, grid, shape.threads, shape.shared_bytes, w,
                      TokenRecords{records, k_tiles(w.dtype, w.cols)}, static_cast<int32_t>(rows), out)};
}

}  // namespace llmservice::gpu
