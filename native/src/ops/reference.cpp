// Reference norms, activations and element-wise operations.
#include "ops/reference.h"

#include <algorithm>
#include <cmath>

namespace llmservice {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double inverse_rms(const float* x, int64_t dim, double eps) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) sum += static_cast<double>(x[i]) * x[i];
  return 1.0 / std::sqrt(sum / static_cast<double>(dim) + eps);
}

void rms_norm_row(const float* x, const float* weight, double eps, int64_t dim, float* out) {
  const double scale = inverse_rms(x, dim, eps);
  for (int64_t i = 0; i < dim; ++i) out[i] = static_cast<float>(x[i] * scale * weight[i]);
}

bool all_finite(const float* x, int64_t count) {
  return std::all_of(x, x + count, [](float value) { return std::isfinite(value); });
}

}  // namespace

void ReferenceBackend::rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                                float* out) {
  for (int64_t t = 0; t < rows; ++t) rms_norm_row(x + t * dim, weight, eps, dim, out + t * dim);
}

void ReferenceBackend::add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                                    int64_t dim, float* out, const FaultMarks& marks) {
  for (int64_t i = 0; y != nullptr && i < rows * dim; ++i) x[i] += y[i];
  rms_norm(x, weight, eps, rows, dim, out);
  for (int64_t t = 0; t < rows && marks.first != nullptr; ++t) {
    if (marks.first[t] != 0) continue;
    if (!all_finite(x + t * dim, dim)) {
      marks.first[t] = marks.place;
    } else if (!all_finite(out + t * dim, dim)) {
      marks.first[t] = marks.place + 1;
    }
  }
}

void ReferenceBackend::head_rms_norm(float* x, int64_t stride, int64_t rows, int32_t heads, int32_t head_dim,
                                     const float* weight, float eps) {
  for (int64_t t = 0; t < rows; ++t) {
    for (int32_t h = 0; h < heads; ++h) {
      float* head = x + t * stride + h * head_dim;
      rms_norm_row(head, weight, eps, head_dim, head);
    }
  }
}

void ReferenceBackend::add_bias(float* x, const float* bias, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows * width; ++i) x[i] += bias[i % width];
}

void ReferenceBackend::silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* gate = gate_up + t * 2 * width;
    for (int64_t i = 0; i < width; ++i) {
      out[t * width + i] = static_cast<float>(gate[i] * sigmoid(gate[i]) * gate[width + i]);
    }
  }
}

void ReferenceBackend::sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows,
                                   int64_t width) {
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      x[t * width + i] = static_cast<float>(x[t * width + i] * sigmoid(gate[t * gate_stride + i]));
    }
  }
}

void ReferenceBackend::add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows * width; ++i) {
    out[i] = static_cast<float>(out[i] + sigmoid(gate[i / width]) * y[i]);
  }
}

void ReferenceBackend::rope(float* x, int64_t stride, int64_t rows, int32_t heads, int32_t head_dim,
                            int32_t rotary, const float* cos, const float* sin) {
  const int32_t half = rotary / 2;
  for (int64_t t = 0; t < rows; ++t) {
    const float* c = cos + t * half;
    const float* s = sin + t * half;
    for (int32_t h = 0; h < heads; ++h) {
      float* head = x + t * stride + h * head_dim;
      for (int32_t i = 0; i < half; ++i) {
        const double a = head[i];
        const double b = head[i + half];
        head[i] = static_cast<float>(a * c[i] - b * s[i]);
        head[i + half] = static_cast<float>(b * c[i] + a * s[i]);
      }
    }
  }
}

void ReferenceBackend::gated_rms_norm(const float* x, const float* z, int64_t z_stride, const float* weight,
                                      float eps, int64_t rows, int32_t heads, int32_t dim, float* out) {
  const int64_t width = static_cast<int64_t>(heads) * dim;
  for (int64_t t = 0; t < rows; ++t) {
    for (int32_t h = 0; h < heads; ++h) {
      const float* head = x + t * width + h * dim;
      const float* gate = z + t * z_stride + h * dim;
      const double scale = inverse_rms(head, dim, eps);
      for (int32_t i = 0; i < dim; ++i) {
        out[t * width + h * dim + i] =
            static_cast<float>(head[i] * scale * weight[i] * gate[i] * sigmoid(gate[i]));
      }
    }
  }
}

}  // namespace llmservice
