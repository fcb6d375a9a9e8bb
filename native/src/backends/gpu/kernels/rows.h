// Ops on rows of activations: (T, D) float32, row-major. Each mirrors its namesake in ops/ops.h, with device
// pointers; lists that a step brings (rows, copies) lie on the device too. A row's result depends on that row
// alone: sums run over fixed strides of a block, then over its warps in order.
#pragma once

#include "backends/gpu/launch.h"
#include "ops/ops.h"

namespace llmservice::gpu {

Launch rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim, float* out);
Launch add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks);
// `out` may be `x`.
Launch add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                      float* out, const FaultMarks& marks);
Launch add_bias(float* x, const float* bias, int64_t rows, int64_t width);
Launch add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width);
Launch silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out);
Launch gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out);
Launch erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out);
Launch sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width);
Launch scale(float* x, int64_t count, float factor);
Launch cap(float* x, int64_t count, float limit);
// weights (count) of experts `ids` *= scales.
Launch scale_routes(const Routing&, const float* scales, int64_t count);

// `positions`: (rows) on the device.
Launch rope_angles(const int32_t* positions, int64_t rows, const float* frequencies, int64_t count,
                   float factor, float* cos, float* sin);
// `rows`: (count) on the device.
Launch take_rows(const float* x, const int32_t* rows, int64_t count, int64_t width, float* out);
// `copies`: (count) on the device.
Launch copy_rows(const RowCopy* copies, int64_t count, const float* from, int64_t from_stride, int64_t width,
                 float* to, int64_t to_stride);
// `columns`: (count) on the device.
Launch take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns, int64_t count,
                    float missing, float* out);

}  // namespace llmservice::gpu
