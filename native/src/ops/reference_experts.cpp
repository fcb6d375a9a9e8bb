// Reference mixture of experts: each row by itself, each expert a plain product, in double where sums are.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/reference.h"

namespace llmservice {
namespace {

void add(const float* bias, int64_t expert, std::vector<float>& values) {
  const auto width = static_cast<int64_t>(values.size());
  for (int64_t i = 0; bias != nullptr && i < width; ++i) values[i] += bias[expert * width + i];
}

void clamped_swiglu(const ClampedSwiglu& form, const std::vector<float>& gate_up, std::vector<float>& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const double gate = std::min(gate_up[i], form.limit);
    const double up = std::clamp(gate_up[out.size() + i], -form.limit, form.limit);
    out[i] = static_cast<float>((up + 1) * gate * reference_sigmoid(form.alpha * gate));
  }
}

// Of each group, whether its experts may be chosen: `chosen` are, by the sum of their two best scores.
std::vector<bool> choose_groups(const std::vector<double>& scores, int32_t groups, int32_t chosen) {
  const size_t size = scores.size() / groups;
  std::vector<double> sums;
  for (int32_t g = 0; g < groups; ++g) {
    std::vector<double> own(scores.begin() + g * size, scores.begin() + (g + 1) * size);
    std::partial_sort(own.begin(), own.begin() + 2, own.end(), std::greater<>());
    sums.push_back(own[0] + own[1]);
  }
  std::vector<int32_t> order(groups);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return sums[a] > sums[b]; });
  std::vector<bool> takes(groups, false);
  for (int32_t i = 0; i < chosen; ++i) takes[order[i]] = true;
  return takes;
}

}  // namespace

void ReferenceBackend::route_by_sigmoid(const RoutingShape& shape, const SigmoidRouting& rule,
                                        const float* correction, float* logits, int64_t rows,
                                        const Routing& routing) {
  for (int64_t t = 0; t < rows; ++t) {
    float* const row = logits + t * shape.experts;
    std::vector<double> scores(shape.experts);
    for (int32_t e = 0; e < shape.experts; ++e) {
      row[e] = static_cast<float>(reference_sigmoid(row[e]));
      scores[e] = row[e] + correction[e];
    }
    const std::vector<bool> takes = choose_groups(scores, rule.groups, rule.chosen_groups);
    std::vector<int32_t> order;
    for (int32_t e = 0; e < shape.experts; ++e) {
      if (takes[e / (shape.experts / rule.groups)]) order.push_back(e);
    }
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
    std::sort(order.begin(), order.begin() + shape.top_k);
    double total = 1e-20;
    for (int32_t i = 0; i < shape.top_k; ++i) total += row[order[i]];
    if (!shape.normalize) total = 1;
    for (int32_t i = 0; i < shape.top_k; ++i) {
      routing.ids[t * shape.top_k + i] = order[i];
      routing.weights[t * shape.top_k + i] = static_cast<float>(row[order[i]] / total * rule.scale);
    }
  }
}

void ReferenceBackend::scale_routes(const RoutingShape& shape, const float* scales, int64_t rows,
                                    const Routing& routing) {
  for (int64_t i = 0; i < rows * shape.top_k; ++i) routing.weights[i] *= scales[routing.ids[i]];
}

void ReferenceBackend::route(const RoutingShape& shape, const float* logits, int64_t rows,
                             const Routing& routing) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* row = logits + t * shape.experts;
    std::vector<int32_t> order(shape.experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
    const double top = row[order.front()];
    double total = 0;
    const auto chosen = shape.normalize ? shape.top_k : shape.experts;
    for (int32_t i = 0; i < chosen; ++i) total += std::exp(row[order[i]] - top);
    std::sort(order.begin(), order.begin() + shape.top_k);
    for (int32_t i = 0; i < shape.top_k; ++i) {
      routing.ids[t * shape.top_k + i] = order[i];
      routing.weights[t * shape.top_k + i] = static_cast<float>(std::exp(row[order[i]] - top) / total);
    }
  }
}

void ReferenceBackend::run_experts(const Experts& experts, const RoutingShape& shape, const Routing& routing,
                                   const float* x, int64_t rows, const ExpertWorkspace&, float* out) {
  const int64_t hidden = experts.gate_up.front()->cols;
  const int64_t width = experts.down.front()->cols;
  std::vector<float> gate_up(2 * width), mixed(width), y(hidden);
  for (int64_t t = 0; t < rows; ++t) {
    std::vector<double> sum(hidden, 0.0);
    for (int32_t i = 0; i < shape.top_k; ++i) {
      const int32_t expert = routing.ids[t * shape.top_k + i];
      matmul(*experts.gate_up[expert], x + t * hidden, 1, gate_up.data());
      add(experts.gate_up_bias, expert, gate_up);
      if (experts.clamped) {
        clamped_swiglu(*experts.clamped, gate_up, mixed);
      } else if (experts.gelu) {
        gelu_mul(gate_up.data(), 1, width, mixed.data());
      } else {
        silu_mul(gate_up.data(), 1, width, mixed.data());
      }
      matmul(*experts.down[expert], mixed.data(), 1, y.data());
      add(experts.down_bias, expert, y);
      for (int64_t d = 0; d < hidden; ++d) {
        sum[d] += static_cast<double>(routing.weights[t * shape.top_k + i]) * y[d];
      }
    }
    std::copy(sum.begin(), sum.end(), out + t * hidden);
  }
}

}  // namespace llmservice
