// Ops on rows of activations.
#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/rows.h"

namespace llmservice::gpu {

void GpuBackend::rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                          float* out) {
  // Rows of heads or layers are more than those of the step, which decide whether it replays a graph.
  add(gpu::rms_norm(x, weight, eps, rows, dim, out), 0);
}

void GpuBackend::add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                              int64_t dim, float* out, const FaultMarks& marks) {
  add_source(
      gpu::add_rms_norm(x, y, weight, eps, rows, dim, out, marks), rows, dim, out,
      [=](const Activations& to, bool is_read) {
        return gpu::add_rms_norm(to, x, y, weight, eps, rows, is_read ? out : nullptr, marks);
      },
      [=](const Activations& to, const Activations& also, bool is_read) {
        return gpu::add_rms_norm(to, also, x, y, weight, eps, rows, is_read ? out : nullptr, marks);
      });
}

void GpuBackend::add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                                int64_t dim, float* out, const FaultMarks& marks) {
  add_source(gpu::add_layer_norm(x, y, weight, eps, rows, dim, out, marks), rows, dim, out,
             [=](const Activations& to, bool is_read) {
               return gpu::add_layer_norm(to, x, y, weight, eps, rows, is_read ? out : nullptr, marks);
             });
}

void GpuBackend::add_bias(float* x, const float* bias, int64_t rows, int64_t width) {
  add(gpu::add_bias(x, bias, rows, width), rows);
}

void GpuBackend::take_rows(const float* x, std::span<const int32_t> rows, int64_t width, float* out) {
  if (rows.empty()) return;
  const auto count = static_cast<int64_t>(rows.size());
  add(gpu::take_rows(x, staged(rows), count, width, out), count);
}

void GpuBackend::copy_rows(std::span<const RowCopy> rows, const float* from, int64_t from_stride,
                           int64_t width, float* to, int64_t to_stride) {
  if (rows.empty()) return;
  const auto count = static_cast<int64_t>(rows.size());
  add(gpu::copy_rows(staged(rows), count, from, from_stride, width, to, to_stride), count);
}

void GpuBackend::take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns,
                              int64_t count, float missing, float* out) {
  add(gpu::take_columns(x, rows, width, columns, count, missing, out), rows);
}

void GpuBackend::silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  add_source(gpu::silu_mul(gate_up, rows, width, out), rows, width, out,
             [=](const Activations& to, bool is_read) {
               return gpu::silu_mul(to, gate_up, rows, is_read ? out : nullptr);
             });
}

void GpuBackend::gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  add_source(gpu::gelu_mul(gate_up, rows, width, out), rows, width, out,
             [=](const Activations& to, bool is_read) {
               return gpu::gelu_mul(to, gate_up, rows, is_read ? out : nullptr);
             });
}

void GpuBackend::erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  add_source(gpu::erf_gelu_mul(gate_up, rows, width, out), rows, width, out,
             [=](const Activations& to, bool is_read) {
               return gpu::erf_gelu_mul(to, gate_up, rows, is_read ? out : nullptr);
             });
}

void GpuBackend::scale(float* x, int64_t count, float factor) { add(gpu::scale(x, count, factor), 0); }

void GpuBackend::cap(float* x, int64_t count, float limit) { add(gpu::cap(x, count, limit), 0); }

void GpuBackend::sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) {
  if (gate_attention(x, {gate, gate_stride}, rows, width)) return;
  add_source(gpu::sigmoid_mul(x, gate, gate_stride, rows, width), rows, width, x,
             [=](const Activations& to, bool) { return gpu::sigmoid_mul(to, x, gate, gate_stride, rows); });
}

void GpuBackend::add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  add(gpu::add_gated(out, y, gate, rows, width), rows);
}

void GpuBackend::rope_angles(std::span<const int32_t> positions, const float* frequencies, int64_t count,
                             float factor, float* cos, float* sin) {
  if (count == 0) return;
  const auto rows = static_cast<int64_t>(positions.size());
  add(gpu::rope_angles(staged(positions), rows, frequencies, count, factor, cos, sin), rows);
}

}  // namespace llmservice::gpu
