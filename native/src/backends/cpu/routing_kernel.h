// Choice of a row's experts: the best top_k by their softmax over all of them or by their sigmoids, in
// ascending order.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/lanes_math.h"
#include "backends/cpu/row_kernels.h"

namespace llmservice::cpu {

// Of experts that come in ascending order, the indices of the top_k of highest score in `ids`, best first,
// equal ones by lower index. Scores that are not numbers still give top_k different experts.
template <class Score>
struct BestExperts {
  int32_t top_k;
  const Score& score;
  int32_t* ids;
  int32_t chosen = 0;

  void meet(int32_t expert) {
    int32_t place = chosen;
    while (place > 0 && score(expert) > score(ids[place - 1])) --place;
    if (place == top_k) return;
    if (chosen < top_k) ++chosen;
    for (int32_t i = chosen - 1; i > place; --i) ids[i] = ids[i - 1];
    ids[place] = expert;
  }
};

// The two highest scores of `count` experts from `first` on, together.
template <class Score>
float sum_of_best_two(const Score& score, int32_t first, int32_t count) {
  float best = -3.4e38F, second = -3.4e38F;
  for (int32_t expert = first; expert < first + count; ++expert) {
    const float own = score(expert);
    if (own > best) {
      second = best;
      best = own;
    } else if (own > second) {
      second = own;
    }
  }
  return best + second;
}

// Whether fewer than chosen_groups groups are better than this one, equal ones by lower index.
template <class Score>
bool takes_group(const SigmoidRouting& rule, const Score& score, int32_t group, int32_t size) {
  if (rule.groups == rule.chosen_groups) return true;
  const float own = sum_of_best_two(score, group * size, size);
  int32_t better = 0;
  for (int32_t other = 0; other < rule.groups; ++other) {
    const float sum = sum_of_best_two(score, other * size, size);
    better += sum > own || (sum == own && other < group) ? 1 : 0;
  }
  return better < rule.chosen_groups;
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
  const auto score = [logits](int32_t expert) { return logits[expert]; };
  BestExperts<decltype(score)> best{shape.top_k, score, ids};
  for (int32_t expert = 0; expert < shape.experts; ++expert) best.meet(expert);
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

template <class L>
void route_row_by_sigmoid(const RoutingShape& shape, const SigmoidRouting& rule, const float* correction,
                          float* logits, int32_t* ids, float* weights) {
  for_lanes<L>(shape.experts,
               [&](int64_t i, int n) { sigmoid(L::load(logits + i, n)).store(logits + i, n); });
  const auto score = [&](int32_t expert) { return logits[expert] + correction[expert]; };
  BestExperts<decltype(score)> best{shape.top_k, score, ids};
  const int32_t size = shape.experts / rule.groups;
  for (int32_t group = 0; group < rule.groups; ++group) {
    if (!takes_group(rule, score, group, size)) continue;
    for (int32_t i = 0; i < size; ++i) best.meet(group * size + i);
  }
  sort_ascending(ids, shape.top_k);
  // As in transformers, so that scores of nothing have weights of nothing.
  float total = 1e-20F;
  for (int32_t i = 0; i < shape.top_k; ++i) total += logits[ids[i]];
  if (!shape.normalize) total = 1;
  for (int32_t i = 0; i < shape.top_k; ++i) weights[i] = logits[ids[i]] / total * rule.scale;
}

}  // namespace llmservice::cpu
