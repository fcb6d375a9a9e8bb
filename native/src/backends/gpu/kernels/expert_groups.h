// The pairs of a row and one of its experts, sorted by expert and then by row, on the device: no size of it
// is known on the host.
#pragma once

#include "backends/gpu/kernels/experts.h"

namespace llmservice::gpu {

// The pairs of one expert. Groups that no expert needs have no pairs.
struct ExpertGroup {
  int32_t expert;
  int32_t first;  // of its pairs among the sorted
  int32_t count;
};

struct ExpertGroups {
  ExpertGroup* groups;         // (max_groups), in ascending order of experts
  int32_t* rows;               // (pairs) of each sorted pair
  int32_t* places;             // (T, top_k) of each pair among the sorted
  int32_t* experts = nullptr;  // (pairs) of each sorted pair; null: nobody asks
};

// Groups that `rows` rows can have.
int32_t max_groups(const RoutingShape&, int64_t rows);

Launch group_pairs(const RoutingShape&, const int32_t* ids, int64_t rows, const ExpertGroups&);

// out (T, D) = sum over a row's pairs, in order, of weight · (y (pairs, D) + its expert's bias (experts, D);
// null: none).
Launch combine(const RoutingShape&, const ExpertGroups&, const Routing&, const float* y, const float* bias,
               int64_t rows, int64_t width, float* out);

}  // namespace llmservice::gpu
