// Mixture of experts: (row, expert) pairs are sorted by expert, so that each expert's weights are read once
// for all its rows, in passes of as many experts as the workspace has room for. A row adds up its experts in
// ascending order whatever the passes, so that its bits depend on nothing else in the step.
#include <algorithm>
#include <vector>

#include "backends/cpu/backend.h"

namespace llmservice::cpu {
namespace {

// The pairs of a step, sorted by expert and within one by row.
struct SortedPairs {
  std::vector<int64_t> begin;  // (experts + 1): where each expert's pairs begin
  std::vector<int32_t> row;    // (T · top_k): of each sorted pair
  std::vector<int64_t> place;  // (T · top_k): of pair (t, i) among the sorted ones
};

SortedPairs sort_pairs(const RoutingShape& shape, const int32_t* ids, int64_t rows) {
  const int64_t pairs = rows * shape.top_k;
  SortedPairs sorted{std::vector<int64_t>(shape.experts + 1), std::vector<int32_t>(pairs),
                     std::vector<int64_t>(pairs)};
  for (int64_t i = 0; i < pairs; ++i) ++sorted.begin[ids[i] + 1];
  for (int32_t e = 0; e < shape.experts; ++e) sorted.begin[e + 1] += sorted.begin[e];
  std::vector<int64_t> next = sorted.begin;
  for (int64_t i = 0; i < pairs; ++i) {
    sorted.place[i] = next[ids[i]]++;
    sorted.row[sorted.place[i]] = static_cast<int32_t>(i / shape.top_k);
  }
  return sorted;
}

// The experts after `first` (itself included) whose pairs together fit in `room`.
int32_t end_of_pass(const SortedPairs& sorted, int32_t first, int64_t room) {
  const auto past =
      std::upper_bound(sorted.begin.begin() + first, sorted.begin.end(), sorted.begin[first] + room);
  return static_cast<int32_t>(past - sorted.begin.begin()) - 1;
}

// Tiles of experts [first, end), rows counted from the pass's first pair.
std::vector<ExpertTile> cut(const SortedPairs& sorted, int32_t first, int32_t end) {
  std::vector<ExpertTile> tiles;
  for (int32_t e = first; e < end; ++e) {
    for (int64_t pair = sorted.begin[e]; pair < sorted.begin[e + 1]; pair += kTileRows) {
      tiles.push_back({e, pair - sorted.begin[first], std::min(kTileRows, sorted.begin[e + 1] - pair)});
    }
  }
  return tiles;
}

}  // namespace

void CpuBackend::route(const RoutingShape& shape, const float* logits, int64_t rows, const Routing& routing) {
  for_rows(rows, int64_t{shape.experts} * shape.top_k, [&](int64_t t) {
    kernels_.route_row(shape, logits + t * shape.experts, routing.ids + t * shape.top_k,
                       routing.weights + t * shape.top_k);
  });
}

void CpuBackend::route_by_sigmoid(const RoutingShape& shape, const SigmoidRouting& rule,
                                  const float* correction, float* logits, int64_t rows,
                                  const Routing& routing) {
  for_rows(rows, int64_t{shape.experts} * shape.top_k, [&](int64_t t) {
    kernels_.route_row_by_sigmoid(shape, rule, correction, logits + t * shape.experts,
                                  routing.ids + t * shape.top_k, routing.weights + t * shape.top_k);
  });
}

void CpuBackend::scale_routes(const RoutingShape& shape, const float* scales, int64_t rows,
                              const Routing& routing) {
  for_rows(rows, shape.top_k, [&](int64_t t) {
    for (int64_t i = t * shape.top_k; i < (t + 1) * shape.top_k; ++i)
      routing.weights[i] *= scales[routing.ids[i]];
  });
}

void CpuBackend::multiply_grouped(std::span<const ExpertMatrix> matrices, std::span<const ExpertTile> tiles,
                                  const float* x, float* out) {
  if (tiles.empty()) return;
  const int64_t panels = static_cast<const PackedMatrix&>(*matrices.front()).panels();
  RowForms forms;
  for (const auto& each : matrices) forms.add(static_cast<const PackedMatrix&>(*each).row_forms());
  const ProductRows input =
      rows_for(x, tiles.back().first + tiles.back().rows, matrices.front()->cols, forms);
  pool_.run(static_cast<int64_t>(tiles.size()) * panels, [&](int64_t index, int worker) {
    const ExpertTile& tile = tiles[index / panels];
    const auto& matrix = static_cast<const PackedMatrix&>(*matrices[tile.expert]);
    multiply_tile(matrix, index % panels, input.from(tile.first), tile.rows, out + tile.first * matrix.rows,
                  worker);
  });
}

void CpuBackend::add_expert_biases(std::span<const ExpertTile> tiles, const float* biases, int64_t width,
                                   float* x) {
  if (biases == nullptr) return;
  for_rows(static_cast<int64_t>(tiles.size()), kTileRows * width, [&](int64_t i) {
    const ExpertTile& tile = tiles[i];
    for (int64_t row = tile.first; row < tile.first + tile.rows; ++row) {
      kernels_.add(x + row * width, biases + tile.expert * width, width);
    }
  });
}

void CpuBackend::clamped_swiglu(const ClampedSwiglu& form, const float* gate_up, int64_t rows, int64_t width,
                                float* out) {
  for_spans(rows, width, [&](int64_t t, int64_t first, int64_t n) {
    const float* gate = gate_up + t * 2 * width + first;
    kernels_.clamped_swiglu(gate, gate + width, n, form, out + t * width + first);
  });
}

void CpuBackend::run_experts(const Experts& experts, const RoutingShape& shape, const Routing& routing,
                             const float* x, int64_t rows, const ExpertWorkspace& workspace, float* out) {
  const int64_t hidden = experts.gate_up.front()->cols;
  const int64_t width = experts.down.front()->cols;
  const SortedPairs sorted = sort_pairs(shape, routing.ids, rows);
  for_spans(rows, hidden,
            [&](int64_t t, int64_t first, int64_t n) { std::fill_n(out + t * hidden + first, n, 0.0f); });
  for (int32_t first = 0, end = 0; first < shape.experts; first = end) {
    end = end_of_pass(sorted, first, workspace.rows);
    const int64_t begin = sorted.begin[first];
    const int64_t pairs = sorted.begin[end] - begin;
    const std::vector<ExpertTile> tiles = cut(sorted, first, end);
    take_rows(x, std::span(sorted.row).subspan(begin, pairs), hidden, workspace.hidden);
    multiply_grouped(experts.gate_up, tiles, workspace.hidden, workspace.wide);
    add_expert_biases(tiles, experts.gate_up_bias, 2 * width, workspace.wide);
    if (experts.clamped) {
      clamped_swiglu(*experts.clamped, workspace.wide, pairs, width, workspace.mixed);
    } else if (experts.gelu) {
      gelu_mul(workspace.wide, pairs, width, workspace.mixed);
    } else {
      silu_mul(workspace.wide, pairs, width, workspace.mixed);
    }
    multiply_grouped(experts.down, tiles, workspace.mixed, workspace.hidden);
    add_expert_biases(tiles, experts.down_bias, hidden, workspace.hidden);
    for_rows(rows, shape.top_k * hidden, [&](int64_t t) {
      for (int64_t i = t * shape.top_k; i < (t + 1) * shape.top_k; ++i) {
        const int64_t pair = sorted.place[i] - begin;
        if (pair < 0 || pair >= pairs) continue;  // another pass's
        kernels_.add_scaled(out + t * hidden, workspace.hidden + pair * hidden, routing.weights[i], hidden);
      }
    });
  }
}

}  // namespace llmservice::cpu
