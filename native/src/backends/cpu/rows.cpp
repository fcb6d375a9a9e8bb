// Ops that treat each row, or each head of a row, by itself.
#include <algorithm>

#include "backends/cpu/backend.h"

namespace llmservice::cpu {

void CpuBackend::rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                          float* out) {
  for_rows(rows, dim, [&](int64_t t) { kernels_.rms_norm(x + t * dim, weight, eps, dim, out + t * dim); });
}

void CpuBackend::head_rms_norm(float* x, int64_t stride, int64_t rows, int32_t heads, int32_t head_dim,
                               const float* weight, float eps) {
  for_rows(rows * heads, head_dim, [&](int64_t i) {
    float* head = x + i / heads * stride + i % heads * head_dim;
    kernels_.rms_norm(head, weight, eps, head_dim, head);
  });
}

void CpuBackend::gated_rms_norm(const float* x, const float* z, int64_t z_stride, const float* weight,
                                float eps, int64_t rows, int32_t heads, int32_t dim, float* out) {
  for_rows(rows * heads, dim, [&](int64_t i) {
    const float* gate = z + i / heads * z_stride + i % heads * dim;
    kernels_.gated_rms_norm(x + i * dim, gate, weight, eps, dim, out + i * dim);
  });
}

void CpuBackend::add(float* x, const float* y, int64_t count) {
  for_spans(1, count, [&](int64_t, int64_t first, int64_t n) { kernels_.add(x + first, y + first, n); });
}

void CpuBackend::add_bias(float* x, const float* bias, int64_t rows, int64_t width) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    kernels_.add(x + t * width + first, bias + first, n);
  });
}

void CpuBackend::take_rows(const float* x, std::span<const int32_t> rows, int64_t width, float* out) {
  for_rows(static_cast<int64_t>(rows.size()), width, [&](int64_t i) {
    if (rows[i] == kNoRow) {
      std::fill_n(out + i * width, width, 0.0f);
    } else {
      std::copy_n(x + rows[i] * width, width, out + i * width);
    }
  });
}

void CpuBackend::copy_rows(std::span<const RowCopy> rows, const float* from, int64_t from_stride,
                           int64_t width, float* to, int64_t to_stride) {
  for_rows(static_cast<int64_t>(rows.size()), width, [&](int64_t i) {
    std::copy_n(from + rows[i].from * from_stride, width, to + rows[i].to * to_stride);
  });
}

void CpuBackend::silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    const float* gate = gate_up + t * 2 * width + first;
    kernels_.silu_mul(gate, gate + width, n, out + t * width + first);
  });
}

void CpuBackend::sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    kernels_.sigmoid_mul(x + t * width + first, gate + t * gate_stride + first, n);
  });
}

void CpuBackend::add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    kernels_.add_gated(out + t * width + first, y + t * width + first, gate[t], n);
  });
}

void CpuBackend::mark_faults(const float* x, const float* input, int64_t rows, int64_t width, int32_t place,
                             int32_t* first) {
  for_rows(rows, width, [&](int64_t t) {
    if (first[t] != 0 || kernels_.all_finite(x + t * width, width)) return;
    const bool came_in = input == nullptr || !kernels_.all_finite(input + t * width, width);
    first[t] = came_in ? place : place + 1;
  });
}

void CpuBackend::rope(float* x, int64_t stride, int64_t rows, int32_t heads, int32_t head_dim, int32_t rotary,
                      const float* cos, const float* sin) {
  const int64_t half = rotary / 2;
  for_rows(rows, int64_t{heads} * rotary, [&](int64_t t) {
    for (int32_t h = 0; h < heads; ++h) {
      kernels_.rotate(x + t * stride + h * head_dim, half, cos + t * half, sin + t * half);
    }
  });
}

}  // namespace llmservice::cpu
