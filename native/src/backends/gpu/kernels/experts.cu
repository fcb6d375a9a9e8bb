// The experts' products, grouped: a block multiplies one expert's strips by the tokens that chose it, found
// through the sorted pairs. For few rows bound by the bytes of the experts that are chosen, each read once.
#include "backends/gpu/kernels/expert_groups.h"
#include "backends/gpu/kernels/experts.h"
#include "backends/gpu/kernels/fragment_launch.h"
#include "backends/gpu/kernels/rows.h"

namespace llmservice::gpu {
namespace {

// Rows taken at once: they bound the workspace, and are enough for experts' weights to be used many times.
constexpr int64_t kRowsAtOnce = 2048;

// Token j of a group, among the records: its row, or where `rows` is null its own place among the sorted.
struct GroupRow {
  const int32_t* rows;
  int32_t first;

  __device__ __forceinline__ int32_t operator()(int32_t j) const {
    return rows == nullptr ? first + j : rows[first + j];
  }
};

// multiply(w, tokens, row_of, store) for the block's share of its group's tokens, as many as it takes at
// once. Tokens x, outputs y, groups z; a group with more tokens than the x have is gone through again.
template <int32_t kTokens, class Multiply>
__device__ __forceinline__ void multiply_group(const DeviceMatrix* matrices, const ExpertGroup* groups,
                                               const int32_t* rows, float* out, Multiply multiply) {
  wait_for_previous();
  let_next_start();
  const ExpertGroup group = groups[blockIdx.z];
  const auto begin = static_cast<int32_t>(blockIdx.x) * kTokens;
  if (begin >= group.count) return;
  const DeviceMatrix w = matrices[group.expert];
  const auto step = static_cast<int32_t>(gridDim.x) * kTokens;
  for (int32_t first = begin; first < group.count; first += step) {
    if (first > begin) sync_block();
    const int32_t at = group.first + first;
    multiply(w, group.count - first, GroupRow{rows, at},
             StoreRows{out + int64_t{at} * w.rows, w.rows, w.rows});
  }
}

template <DType kType, bool kRowScales, int kStrips, int kFragments>
__global__ void __launch_bounds__(kSlicedThreads)
    sliced_experts_kernel(const DeviceMatrix* matrices, const ExpertGroup* groups, const int32_t* rows,
                          TokenRecords x, float* out) {
  const auto strip = static_cast<int32_t>(blockIdx.y) * kStrips;
  multiply_group<kFragments * kFragmentTokens>(
      matrices, groups, rows, out,
      [&](const DeviceMatrix& w, int32_t tokens, const GroupRow& row_of, const StoreRows& store) {
        multiply_sliced<kType, kRowScales, kStrips, kFragments>(w, strip, x, tokens, row_of, store,
                                                                dynamic_shared<float>());
      });
}

template <DType kType, bool kRowScales>
__global__ void __launch_bounds__(kWalkThreads, kCoded<kType> ? 1 : 2)
    walked_experts_kernel(const DeviceMatrix* matrices, const ExpertGroup* groups, const int32_t* rows,
                          TokenRecords x, float* out) {
  const auto strip = static_cast<int32_t>(blockIdx.y) * kWalkWarps * kWalkStrips;
  multiply_group<kWalkTokens>(
      matrices, groups, rows, out,
      [&](const DeviceMatrix& w, int32_t tokens, const GroupRow& row_of, const StoreRows& store) {
        multiply_walked<kType, kRowScales>(w, strip, x, tokens, row_of, store, dynamic_shared<std::byte>());
      });
}

using Shape =
    FragmentShape<void (*)(const DeviceMatrix*, const ExpertGroup*, const int32_t*, TokenRecords, float*)>;

template <DType kType, bool kRowScales, int kStrips, int kFragments>
Shape sliced() {
  return sliced_shape<kStrips, kFragments>(sliced_experts_kernel<kType, kRowScales, kStrips, kFragments>);
}

// By the tokens that an expert has on average. All shapes give the same bits.
//
// On Hopper these products are mma.sync's, at no more than half of what wgmma does with FP8 (990 of 1,979
// TFLOP/s on H200, whose 4.8 TB/s bring an expert's weights in the time that 100 tokens take at that rate).
// So wgmma could gain up to twice where an expert has more tokens than that, as in steps of over 1,600 rows
// of 8 experts out of 128, and nothing below. It would have to run decodes too, as the instruction may not
// follow the number of rows, and would want each group's tokens in blocks of their own among the records, as
// its operands lie in shared memory as whole tiles.
template <DType kType, bool kRowScales>
Shape choose_shape(int64_t tokens) {
  if (tokens <= kFragmentTokens / 2) return sliced<kType, kRowScales, 1, 1>();
  if constexpr (kWalks<kType>) {
    if (tokens > 4 * kFragmentTokens) return walked_shape<kType>(walked_experts_kernel<kType, kRowScales>);
  }
  return sliced<kType, kRowScales, 1, 2>();
}

Launch product(const char* name, const DeviceMatrix* matrices, const DeviceMatrix& w,
               const RoutingShape& routing, int64_t rows, const ExpertGroup* groups,
               const int32_t* sorted_rows, const std::byte* records, float* out) {
  const int64_t average = divide_up(rows * routing.top_k, routing.experts);
  const Shape shape = choose_by_type(
      w, [&]<DType kType, bool kRowScales> { return choose_shape<kType, kRowScales>(average); });
  // No group has more tokens than there are rows; few have many times the average.
  const int64_t most = divide_up(rows, shape.tokens);
  const int64_t usual = divide_up(2 * average, shape.tokens);
  const Grid grid{static_cast<uint32_t>(most < usual ? most : usual), shape.blocks_of(w),
                  static_cast<uint32_t>(max_groups(routing, rows))};
  return make_launch(name, shape.kernel, grid, shape.threads, shape.shared_bytes, matrices, groups,
                     sorted_rows, TokenRecords{records, k_tiles(w.dtype, w.cols)}, out);
}

struct Room {
  int64_t groups = 0;
  int64_t rows = 0;
  int64_t places = 0;
  int64_t experts = 0;  // of the pairs, where they have biases
  int64_t records = 0;  // of the rows, then of the pairs
  int64_t wide = 0;     // (pairs, 2F), then (pairs, D)
  int64_t end = 0;
};

Room room_of(const DeviceExperts& experts, const RoutingShape& shape, int64_t rows) {
  if (rows > kRowsAtOnce) rows = kRowsAtOnce;
  const int64_t pairs = rows * shape.top_k;
  const int64_t width = experts.down_shape.cols;
  const int64_t hidden = experts.down_shape.rows;
  Room room;
  const auto put = [&](int64_t bytes) {
    const int64_t at = room.end;
    room.end = divide_up(at + bytes, 256) * 256;
    return at;
  };
  const auto floats = [](int64_t count) { return count * static_cast<int64_t>(sizeof(float)); };
  const int64_t row_records = activation_bytes(fragment_layout(experts.gate_up_shape), rows);
  const int64_t pair_records = activation_bytes(fragment_layout(experts.down_shape), pairs);
  room.groups = put(max_groups(shape, rows) * static_cast<int64_t>(sizeof(ExpertGroup)));
  room.rows = put(pairs * static_cast<int64_t>(sizeof(int32_t)));
  room.places = put(pairs * static_cast<int64_t>(sizeof(int32_t)));
  const bool biased = experts.gate_up_bias != nullptr;
  room.experts = put(biased ? pairs * static_cast<int64_t>(sizeof(int32_t)) : 0);
  room.records = put(row_records > pair_records ? row_records : pair_records);
  room.wide = put(floats(pairs * (2 * width > hidden ? 2 * width : hidden)));
  return room;
}

}  // namespace

int64_t experts_workspace(const DeviceExperts& experts, const RoutingShape& shape, int64_t rows) {
  return room_of(experts, shape, rows).end;
}

Launches run_experts(const DeviceExperts& experts, const RoutingShape& shape, const Routing& routing,
                     const float* x, int64_t rows, std::byte* workspace, float* out) {
  const Room room = room_of(experts, shape, rows);
  const ExpertGroups groups{.groups = reinterpret_cast<ExpertGroup*>(workspace + room.groups),
                            .rows = reinterpret_cast<int32_t*>(workspace + room.rows),
                            .places = reinterpret_cast<int32_t*>(workspace + room.places),
                            .experts = experts.gate_up_bias == nullptr
                                           ? nullptr
                                           : reinterpret_cast<int32_t*>(workspace + room.experts)};
  const ExpertGates gates{experts.gate_up_bias, groups.experts, experts.clamped};
  std::byte* const records = workspace + room.records;
  auto* const wide = reinterpret_cast<float*>(workspace + room.wide);
  const int64_t hidden = experts.down_shape.rows;
  Launches launches;
  for (int64_t first = 0; first < rows; first += kRowsAtOnce) {
    const int64_t count = rows - first < kRowsAtOnce ? rows - first : kRowsAtOnce;
    const int64_t pairs = count * shape.top_k;
    const Routing own{routing.ids + first * shape.top_k, routing.weights + first * shape.top_k};
    const Activations mixed{fragment_layout(experts.down_shape), records};
    launches.push_back(group_pairs(shape, own.ids, count, groups));
    launches.push_back(
        quantize({fragment_layout(experts.gate_up_shape), records}, x + first * hidden, count));
    launches.push_back(product("experts_gate_up", experts.gate_up, experts.gate_up_shape, shape, count,
                               groups.groups, groups.rows, records, wide));
    launches.push_back(experts.gelu      ? gelu_mul(mixed, wide, pairs, nullptr)
                       : experts.plain() ? silu_mul(mixed, wide, pairs, nullptr)
                                         : gate_experts(mixed, gates, wide, pairs));
    launches.push_back(product("experts_down", experts.down, experts.down_shape, shape, count, groups.groups,
                               nullptr, records, wide));
    launches.push_back(
        combine(shape, groups, own, wide, experts.down_bias, count, hidden, out + first * hidden));
  }
  return launches;
}

}  // namespace llmservice::gpu
