// Reference Gated DeltaNet: S <- e^g S; d = beta (v - S^T k); S <- S + k d^T; o = S^T q, one position at a
// time.
#include <algorithm>
#include <cmath>

#include "ops/reference.h"

namespace llmservice {
namespace {

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

int64_t channels(const GdnShape& s) {
  return 2 * static_cast<int64_t>(s.k_heads) * s.k_dim + static_cast<int64_t>(s.v_heads) * s.v_dim;
}

std::vector<double> l2_normalized(const float* x, int32_t dim, double scale) {
  double sum = 0;
  for (int32_t i = 0; i < dim; ++i) sum += static_cast<double>(x[i]) * x[i];
  std::vector<double> out(dim);
  for (int32_t i = 0; i < dim; ++i) out[i] = x[i] / std::sqrt(sum + 1e-6) * scale;
  return out;
}

// One position of one V head; state (k_dim, v_dim).
void delta_step(const std::vector<double>& q, const std::vector<double>& k, const float* v, double decay,
                double beta, int32_t v_dim, float* state, float* out) {
  const auto k_dim = static_cast<int32_t>(k.size());
  for (int32_t j = 0; j < v_dim; ++j) {
    double read = 0;
    for (int32_t i = 0; i < k_dim; ++i) read += k[i] * decay * state[i * v_dim + j];
    const double delta = beta * (v[j] - read);
    double sum = 0;
    for (int32_t i = 0; i < k_dim; ++i) {
      const double next = decay * state[i * v_dim + j] + k[i] * delta;
      state[i * v_dim + j] = static_cast<float>(next);
      sum += next * q[i];
    }
    out[j] = static_cast<float>(sum);
  }
}

void norm_and_gate(const GdnNorm& norm, int64_t row, int32_t head, int32_t dim, float* x) {
  if (norm.weight == nullptr) return;
  double squares = 0;
  for (int32_t i = 0; i < dim; ++i) squares += static_cast<double>(x[i]) * x[i];
  const double scale = 1.0 / std::sqrt(squares / dim + norm.eps);
  const float* const z = norm.z + row * norm.stride + static_cast<int64_t>(head) * dim;
  for (int32_t i = 0; i < dim; ++i) {
    x[i] = static_cast<float>(x[i] * scale * norm.weight[i] * z[i] * reference_sigmoid(z[i]));
  }
}

}  // namespace

void ReferenceBackend::gdn_reset(const GdnShape& shape, std::span<const int32_t> slots,
                                 const GdnState& state) {
  const int64_t tail = channels(shape) * (shape.conv_kernel - 1);
  const int64_t matrix = static_cast<int64_t>(shape.v_heads) * shape.k_dim * shape.v_dim;
  for (const int32_t slot : slots) {
    std::fill_n(state.conv + slot * tail, tail, 0.0f);
    std::fill_n(state.s + slot * matrix, matrix, 0.0f);
  }
}

void ReferenceBackend::gdn_copy(const GdnShape& shape, std::span<const StateCopy> copies,
                                const GdnState& state) {
  const int64_t tail = channels(shape) * (shape.conv_kernel - 1);
  const int64_t matrix = static_cast<int64_t>(shape.v_heads) * shape.k_dim * shape.v_dim;
  for (const auto& [from, to] : copies) {
    std::copy_n(state.conv + from * tail, tail, state.conv + to * tail);
    std::copy_n(state.s + from * matrix, matrix, state.s + to * matrix);
  }
}

void ReferenceBackend::gdn_conv(const GdnShape& shape, std::span<const Segment> segments, const float* weight,
                                float* qkv, int64_t stride, const GdnState& state) {
  const int32_t taps = shape.conv_kernel;
  for (const Segment& segment : segments) {
    for (int64_t c = 0; c < channels(shape); ++c) {
      float* tail = state.conv + (segment.slot * channels(shape) + c) * (taps - 1);
      std::vector<float> input(tail, tail + taps - 1);
      for (int32_t r = 0; r < segment.count; ++r) {
        float& x = qkv[(segment.first + r) * stride + c];
        input.push_back(x);
        double sum = 0;
        for (int32_t j = 0; j < taps; ++j) sum += static_cast<double>(weight[c * taps + j]) * input[r + j];
        x = static_cast<float>(sum * reference_sigmoid(sum));
      }
      const auto end = input.end() - segment.drafts;
      std::copy(end - (taps - 1), end, tail);
    }
  }
}

void ReferenceBackend::gdn(const GdnShape& shape, std::span<const Segment> segments, const float* qkv,
                           int64_t qkv_stride, const float* beta_in, const float* gate_in,
                           int64_t gate_stride, const float* a_log, const float* dt_bias,
                           const GdnState& state, float* out, const GdnNorm& norm) {
  const int64_t k_width = static_cast<int64_t>(shape.k_heads) * shape.k_dim;
  const int64_t heads_state = static_cast<int64_t>(shape.v_heads) * shape.k_dim * shape.v_dim;
  for (const Segment& segment : segments) {
    float* s = state.s + segment.slot * heads_state;
    std::vector<float> passing;  // the state that drafts see and change
    for (int32_t r = 0; r < segment.count; ++r) {
      if (r == segment.count - segment.drafts) {
        passing.assign(s, s + heads_state);
        s = passing.data();
      }
      const int64_t row = segment.first + r;
      const float* x = qkv + row * qkv_stride;
      for (int32_t h = 0; h < shape.v_heads; ++h) {
        const int32_t k_head = k_head_of(shape, h);
        const auto q = l2_normalized(x + k_head * shape.k_dim, shape.k_dim, 1.0 / std::sqrt(shape.k_dim));
        const auto k = l2_normalized(x + k_width + k_head * shape.k_dim, shape.k_dim, 1.0);
        const double g = -std::exp(a_log[h]) * softplus(gate_in[row * gate_stride + h] + dt_bias[h]);
        delta_step(q, k, x + 2 * k_width + h * shape.v_dim, std::exp(g),
                   reference_sigmoid(beta_in[row * gate_stride + h]), shape.v_dim,
                   s + static_cast<int64_t>(h) * shape.k_dim * shape.v_dim,
                   out + (row * shape.v_heads + h) * shape.v_dim);
        norm_and_gate(norm, row, h, shape.v_dim, out + (row * shape.v_heads + h) * shape.v_dim);
      }
    }
  }
}

}  // namespace llmservice
