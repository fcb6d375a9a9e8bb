// Products with packed weights: out (T, N) = x (T, K) · Wᵀ. FP8 weights take activations quantized per row
// and 128 columns; 16-bit weights take them in bf16 (kF16: f16); types of four bits and integers of eight in
// f16 scaled by powers of two, which rounds less than bf16 does. A row's bits do not depend on how many rows
// there are: instruction, order of K and the cuts of K follow from the matrix and the device.
#pragma once

#include "backends/gpu/kernels/quantize.h"

namespace llmservice::gpu {

// The order that this device's matrix units want. `compute_capability`: ten times major, plus minor.
TileOrder tile_order(int compute_capability);

// Bytes of a packed matrix's tiles and of its scales.
int64_t tile_bytes(DType, int64_t rows, int64_t cols);
int64_t scale_bytes(DType, int64_t rows, int64_t cols, int32_t scale_rows);

// Puts rows [first, first + count) of a row-major matrix of the same type, at `stored` on the device, into
// `tiles`. Rows and columns beyond the matrix are zeroed by the caller. kF8E4M3: stored codes are OCP's.
Launch pack_rows(const DeviceMatrix&, std::byte* tiles, const std::byte* stored, int32_t first,
                 int32_t count);

// The same of coded types (coded_tiles.h), whose stored rows of `row_bytes` are those of ops/matrix.h. All
// tiles are zeroed by the caller. kF4E2M1: its groups' scales, (count, K / 16); others: null.
Launch pack_coded_rows(const DeviceMatrix&, std::byte* tiles, const std::byte* stored, int64_t row_bytes,
                       const std::byte* group_scales, int32_t first, int32_t count);

// Tiles and scales of the same matrix in kF8E4M3, one scale for the outputs of a tile and 128 columns. `from`
// is kBF16 or kF16. Where a value is not finite, neither are the products of its tile.
Launch narrow_tiles(const DeviceMatrix& from, std::byte* tiles, float* scales);

// What the scale of a row (kI8, kF4E2M1) is multiplied by.
constexpr float coded_row_scale(DType dtype) { return dtype == DType::kF4E2M1 ? 0x1p7f : 1.0f; }

// out (count, K) = rows `ids` (on the device) of the table; zeros for kNoRow.
Launch gather(const DeviceMatrix& table, const int32_t* ids, int64_t count, float* out);

// A workspace begins with counters of blocks that have arrived. They are zero before the first product, and
// every product leaves them so; one workspace serves all products of a stream.
constexpr int64_t kCounterBytes = 64 << 10;

// How products of few rows use the device beside what runs before and after them. Bits do not depend on it.
// Of Hopper's kernels; others ignore it.
struct ProductTuning {
  int32_t resident = 1;     // SwizzledShape::resident
  int64_t ahead_bytes = 0;  // of weights of products after it, which a product brings into the L2 as it ends
};

// Whether products of so many rows can read ahead.
bool reads_ahead(const DeviceMatrix&, int64_t rows);

// Bytes of workspace that matmul() needs, counters included.
int64_t matmul_workspace(const DeviceMatrix&, int64_t rows);

// Where a product works. All of it is its own but the counters, which products share.
struct ProductRoom {
  std::byte* counters;
  std::byte* own;

  // The whole of a workspace, which lies on 256 bytes.
  ProductRoom(std::byte* workspace) : counters(workspace), own(workspace + kCounterBytes) {}
  // Of the same workspace, what lies behind its first `taken` bytes (matmul_workspace) of other products.
  ProductRoom behind(int64_t taken) const;
};

// A product is quantize() of its activations into their place there, then multiply().
Activations activations_of(const DeviceMatrix&, int64_t rows, const ProductRoom&);
Launch multiply(const DeviceMatrix&, int64_t rows, const ProductRoom&, float* out, const ProductTuning& = {});
// `product`, a launch of multiply() that reads ahead, also brings the first weights of `next`, at most
// `bytes`. Returns how many: 0 where it has no room for more.
int64_t read_ahead(Launch& product, const DeviceMatrix& next, int64_t bytes);
Launches matmul(const DeviceMatrix&, const float* x, int64_t rows, std::byte* workspace, float* out);

}  // namespace llmservice::gpu
