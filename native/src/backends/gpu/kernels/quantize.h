// Activations (T, K) float32 in the form that the matrix units read with weights: for FP8 weights e4m3
// codes with one scale per row and 128 columns, for 16-bit weights their own type; for coded weights
// (coded_tiles.h) f16, scaled so that none is too large.
#pragma once

#include <optional>

#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/launch.h"
#include "ops/ops.h"

namespace llmservice::gpu {

// Rows in blocks of `block_rows`, and for each block one record per tile of K: `block_rows` × 128 bytes, or
// 256 for coded weights, in `order`, then, for kF8E4M3 and coded weights, `block_rows` floats, the scales
// (both as in tiles.h).
struct ActivationLayout {
  TileOrder order;
  DType dtype;         // of the weights; kI8 for all that are coded
  int32_t block_rows;  // a multiple of 8
  int32_t cols;        // K

  bool operator==(const ActivationLayout&) const = default;
};

int64_t record_bytes(const ActivationLayout&);
int64_t activation_bytes(const ActivationLayout&, int64_t rows);

// Where a product wants its activations, and how.
struct Activations {
  ActivationLayout layout;
  std::byte* records;
};

// Columns beyond K become zeros; rows beyond `rows` are left as they are. A scale is the block's largest
// magnitude over the largest code, or the power of two that makes it 2^14 to 2^15; NaN or infinite where a
// value is, and then so is every product of the row.
Launch quantize(const Activations&, const float* x, int64_t rows);
// The same of columns order[0 … K) of x, in that order; on the device. For coded weights.
Launch quantize_in_order(const Activations&, const float* x, const int32_t* order, int64_t rows);

// The ops of rows.h whose results products read, in one launch with quantize() of what they put out: the same
// bits as by two. Where nothing else reads what the _mul() of a gate puts out, `out` may be null.
Launch add_rms_norm(const Activations&, float* x, const float* y, const float* weight, float eps,
                    int64_t rows, float* out, const FaultMarks& marks);
// For two products: eight bits and fewer by the one, BF16 by the other. None where no kernel has both.
std::optional<Launch> add_rms_norm(const Activations&, const Activations& also, float* x, const float* y,
                                   const float* weight, float eps, int64_t rows, float* out,
                                   const FaultMarks& marks);
Launch add_layer_norm(const Activations&, float* x, const float* y, const float* weight, float eps,
                      int64_t rows, float* out, const FaultMarks& marks);
Launch silu_mul(const Activations&, const float* gate_up, int64_t rows, float* out);
Launch gelu_mul(const Activations&, const float* gate_up, int64_t rows, float* out);
Launch erf_gelu_mul(const Activations&, const float* gate_up, int64_t rows, float* out);
// Of pairs of a row and an expert.
struct ExpertGates {
  const float* bias;       // (experts, 2F); null: none
  const int32_t* experts;  // (pairs) where there is a bias
  std::optional<ClampedSwiglu> clamped;
};
Launch gate_experts(const Activations&, const ExpertGates&, const float* gate_up, int64_t pairs);
Launch sigmoid_mul(const Activations&, float* x, const float* gate, int64_t gate_stride, int64_t rows);

}  // namespace llmservice::gpu
