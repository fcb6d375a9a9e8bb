// Reference norms, activations and element-wise operations.
#include "ops/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace llmservice {
namespace {

double inverse_rms(const float* x, int64_t dim, double eps) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) sum += static_cast<double>(x[i]) * x[i];
  return 1.0 / std::sqrt(sum / static_cast<double>(dim) + eps);
}

void rms_norm_row(const float* x, const float* weight, double eps, int64_t dim, float* out) {
  const double scale = inverse_rms(x, dim, eps);
  for (int64_t i = 0; i < dim; ++i) out[i] = static_cast<float>(x[i] * scale * weight[i]);
}

void layer_norm_row(const float* x, const float* weight, double eps, int64_t dim, float* out) {
  double mean = 0;
  for (int64_t i = 0; i < dim; ++i) mean += static_cast<double>(x[i]) / static_cast<double>(dim);
  double variance = 0;
  for (int64_t i = 0; i < dim; ++i) variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(dim);
  const double scale = 1.0 / std::sqrt(variance + eps);
  for (int64_t i = 0; i < dim; ++i) out[i] = static_cast<float>((x[i] - mean) * scale * weight[i]);
}

bool all_finite(const float* x, int64_t count) {
  return std::all_of(x, x + count, [](float value) { return std::isfinite(value); });
}

void mark_faults(const float* x, const float* out, int64_t rows, int64_t dim, const FaultMarks& marks) {
  for (int64_t t = 0; t < rows && marks.first != nullptr; ++t) {
    if (marks.first[t] != 0) continue;
    if (!all_finite(x + t * dim, dim)) {
      marks.first[t] = marks.place;
    } else if (!all_finite(out + t * dim, dim)) {
      marks.first[t] = marks.place + 1;
    }
  }
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
  mark_faults(x, out, rows, dim, marks);
}

// Ba, Kiros and Hinton, arXiv 1607.06450, without a bias.
void ReferenceBackend::add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                                      int64_t dim, float* out, const FaultMarks& marks) {
  for (int64_t i = 0; y != nullptr && i < rows * dim; ++i) x[i] += y[i];
  for (int64_t t = 0; t < rows; ++t) layer_norm_row(x + t * dim, weight, eps, dim, out + t * dim);
  mark_faults(x, out, rows, dim, marks);
}

void ReferenceBackend::add_bias(float* x, const float* bias, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows * width; ++i) x[i] += bias[i % width];
}

void ReferenceBackend::silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* gate = gate_up + t * 2 * width;
    for (int64_t i = 0; i < width; ++i) {
      out[t * width + i] = static_cast<float>(gate[i] * reference_sigmoid(gate[i]) * gate[width + i]);
    }
  }
}

void ReferenceBackend::sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows,
                                   int64_t width) {
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      x[t * width + i] = static_cast<float>(x[t * width + i] * reference_sigmoid(gate[t * gate_stride + i]));
    }
  }
}

void ReferenceBackend::scale(float* x, int64_t count, float factor) {
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

double reference_gelu(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

void ReferenceBackend::gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* gate = gate_up + t * 2 * width;
    for (int64_t i = 0; i < width; ++i) {
      out[t * width + i] = static_cast<float>(reference_gelu(gate[i]) * gate[width + i]);
    }
  }
}

void ReferenceBackend::erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* gate = gate_up + t * 2 * width;
    for (int64_t i = 0; i < width; ++i) {
      const double x = gate[i];
      out[t * width + i] =
          static_cast<float>(0.5 * x * std::erfc(-x / std::numbers::sqrt2) * gate[width + i]);
    }
  }
}

void ReferenceBackend::cap(float* x, int64_t count, float limit) {
  for (int64_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(limit * std::tanh(static_cast<double>(x[i]) / limit));
  }
}

void ReferenceBackend::add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows * width; ++i) {
    const double open = gate == nullptr ? 1 : reference_sigmoid(gate[i / width]);
    out[i] = static_cast<float>(out[i] + open * y[i]);
  }
}

}  // namespace llmservice
