// Choice of a row's experts: softmax over all of them, the best top_k, in ascending order.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/lanes_math.h"
#include "backends/cpu/row_kernels.h"

namespace llmservice::cpu {

// Places the indices of the top_k largest logits in `ids`, best first, equal ones by lower index. Logits that
// are not numbers still give top_k different experts.
inline void choose_experts(const RoutingShape& shape, const float* logits, int32_t* ids) {
  int32_t chosen = 0;
  for (int32_t expert = 0; expert < shape.experts; ++expert) {
    int32_t place = chosen;
    while (place > 0 && logits[expert] > logits[ids[place - 1]]) --place;
    if (place == shape.top_k) continue;
    if (chosen < shape.top_k) ++chosen;
    for (int32_t i = chosen - 1; i > place; --i) ids[i] = ids[i - 1];
    ids[place] = expert;
  }
}

inline void sort_ascending(int32_t* ids, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    const int32_t id = ids[i];
    int32_t place = i;
    for (; place > 0 && ids[place - 1] > id; --place) ids[place] = ids[place - 1];
    ids[place] = id;
  }
}

// The choice compares logits: softmax keeps their order, and rounding cannot make two of them equal.
template <class L>
void route_row(const RoutingShape& shape, const float* logits, int32_t* ids, float* weights) {
  choose_experts(shape, logits, ids);
  const L top = L::set(logits[ids[0]]);
  L sums = L::zero();
  for_lanes<L>(shape.experts,
               [&](int64_t i, int n) { sums = sums + exp(L::load(logits + i, n) - top).first(n); });
  float total = sum(sums);
  sort_ascending(ids, shape.top_k);
  float chosen = 0;
  for (int32_t i = 0; i < shape.top_k; ++i) {
    float value[L::kCount];
    exp(L::set(logits[ids[i]]) - top).store(value);
    weights[i] = value[0];
    chosen += value[0];
  }
  if (shape.normalize) total = chosen;
  for (int32_t i = 0; i < shape.top_k; ++i) weights[i] /= total;
}

}  // namespace llmservice::cpu
