// Ops that treat each row, or each head of a row, by itself.
#include <algorithm>

#include "backends/cpu/backend.h"

namespace llmservice::cpu {

void CpuBackend::rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                          float* out) {
  for_rows(rows, dim, [&](int64_t t) { kernels_.rms_norm(x + t * dim, weight, eps, dim, out + t * dim); });
}

void CpuBackend::add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                              int64_t dim, float* out, const FaultMarks& marks) {
  add_norm(x, y, kernels_.rms_norm, weight, eps, rows, dim, out, marks);
}

void CpuBackend::add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                                int64_t dim, float* out, const FaultMarks& marks) {
  add_norm(x, y, kernels_.layer_norm, weight, eps, rows, dim, out, marks);
}

void CpuBackend::add_norm(float* x, const float* y, decltype(Kernels::rms_norm) norm, const float* weight,
                          float eps, int64_t rows, int64_t dim, float* out, const FaultMarks& marks) {
  for_rows(rows, dim, [&](int64_t t) {
    float* const row = x + t * dim;
    if (y != nullptr) kernels_.add(row, y + t * dim, dim);
    norm(row, weight, eps, dim, out + t * dim);
    if (marks.first == nullptr || marks.first[t] != 0) return;
    if (!kernels_.all_finite(row, dim)) {
      marks.first[t] = marks.place;
    } else if (!kernels_.all_finite(out + t * dim, dim)) {
      marks.first[t] = marks.place + 1;
    }
  });
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

void CpuBackend::take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns,
                              int64_t count, float missing, float* out) {
  for_rows(rows, count, [&](int64_t t) {
    std::transform(columns, columns + count, out + t * count,
                   [&](int32_t column) { return column == kNoRow ? missing : x[t * width + column]; });
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

void CpuBackend::scale(float* x, int64_t count, float factor) {
  for_spans(1, count, [&](int64_t, int64_t first, int64_t n) { kernels_.scale(x + first, n, factor); });
}

void CpuBackend::gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    const float* gate = gate_up + t * 2 * width + first;
    kernels_.gelu_mul(gate, gate + width, n, out + t * width + first);
  });
}

void CpuBackend::erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    const float* gate = gate_up + t * 2 * width + first;
    kernels_.erf_gelu_mul(gate, gate + width, n, out + t * width + first);
  });
}

void CpuBackend::cap(float* x, int64_t count, float limit) {
  for_spans(1, count, [&](int64_t, int64_t first, int64_t n) { kernels_.cap(x + first, n, limit); });
}

void CpuBackend::add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    if (gate == nullptr) {
      kernels_.add(out + t * width + first, y + t * width + first, n);
    } else {
      kernels_.add_gated(out + t * width + first, y + t * width + first, gate[t], n);
    }
  });
}

}  // namespace llmservice::cpu
