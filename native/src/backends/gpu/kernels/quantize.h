// Activations (T, K) float32 in the form that the matrix units read beside weights: for FP8 weights e4m3
// codes with one scale per row and 128 columns, for 16-bit weights their own type.
#pragma once

#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/launch.h"

namespace llmservice::gpu {

// Rows in blocks of `block_rows`, and for each block one record per 128 bytes of K: `block_rows` × 128 bytes
// in `order`, then, for kF8E4M3, `block_rows` floats, the scales (both as in tiles.h).
struct ActivationLayout {
  TileOrder order;
  DType dtype;         // of the weights
  int32_t block_rows;  // a multiple of 8
  int32_t cols;        // K
};

int64_t record_bytes(const ActivationLayout&);
int64_t activation_bytes(const ActivationLayout&, int64_t rows);

// Columns beyond K become zeros; rows beyond `rows` are left as they are. A scale is the block's largest
// magnitude over the largest code; NaN or infinite where a value is, and then so is every product of the row.
Launch quantize(const ActivationLayout&, const float* x, int64_t rows, std::byte* out);

}  // namespace llmservice::gpu
