// A thread has a column of a row's result, whichever head it belongs to, so that a block has whole tiles of
// what a product reads. Bound by the latency of reading the splits, of which eight are under way at once.
#include <type_traits>

#include "backends/gpu/kernels/attention_combine.h"
#include "backends/gpu/kernels/gates.h"
#include "backends/gpu/kernels/quantize_record.h"

namespace llmservice::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kQuads = kThreads / 4;
static_assert(kQuads % kWarpSize == 0);

// One feature of a row's head.
__device__ __forceinline__ float combined(const AttentionWork& work, const Segment& segment, int32_t row,
                                          int32_t head, int32_t feature) {
  const AttentionShape& shape = work.shape;
  const int32_t position = segment.position + row;
  const int64_t slot = (int64_t{blockIdx.z} * work.max_rows + row) * shape.heads + head;
  const float* const partial = work.partial + slot * work.splits * shape.head_dim + feature;
  const float* const tops = work.tops + slot * work.splits * 2;
  const int32_t last = split_of(work.rules.visible_end(position, segment.position + segment.count) - 1);
  Running running;
  float sum = 0;
#pragma unroll 8
  for (int32_t split = split_of(first_visible(shape, position)); split <= last; ++split) {
    const Fold fold(running, tops[2 * split], tops[2 * split + 1]);
    sum = fold(sum, partial[int64_t{split} * shape.head_dim]);
  }
  return sum * (1.0f / work.rules.with_sink(running.total, running.top, head));
}

// Grid (blocks over a row's columns, rows, segments).
template <class Record>
__global__ void __launch_bounds__(kThreads)
    combine_kernel(AttentionWork work, HeadGates gates, Record record) {
  __shared__ Float4 values[kQuads];
  let_next_start();
  wait_for_previous();
  const Segment segment = work.segment(blockIdx.z);
  const auto row = static_cast<int32_t>(blockIdx.y);
  if (segment.count > work.max_rows || row >= segment.count) return;
  const int64_t step_row = segment.first + row;
  const int32_t dim = work.shape.head_dim;
  const int32_t width = work.shape.heads * dim;
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const int32_t column = static_cast<int32_t>(blockIdx.x) * kThreads + thread;
  float value = 0;
  if (column < width) {
    value = combined(work, segment, row, column / dim, column % dim);
    if (gates.gate != nullptr) value *= sigmoid(gates.gate[step_row * gates.stride + column]);
    work.out[step_row * width + column] = value;
  }
  if constexpr (!std::is_same_v<Record, Unrecorded>) {
    values[thread / 4].v[thread % 4] = value;
    sync_block();
    if (thread >= kQuads) return;
    record.write(static_cast<uint32_t>(step_row), blockIdx.x * kQuads + threadIdx.x, values[thread]);
  }
}

template <class Record>
Launch launch(const char* name, const AttentionWork& work, int32_t segments, const HeadGates& gates,
              const Record& record) {
  const int64_t width = int64_t{work.shape.heads} * work.shape.head_dim;
  const Grid grid{static_cast<uint32_t>(divide_up(width, kThreads)), static_cast<uint32_t>(work.max_rows),
                  static_cast<uint32_t>(segments)};
  return make_launch(name, combine_kernel<Record>, grid, kThreads, 0, work, gates, record);
}

}  // namespace

Launch combine_splits(const AttentionWork& work, int32_t segments, const HeadGates& gates,
                      const Activations* to) {
  if (to == nullptr) return launch("attention_combine", work, segments, gates, Unrecorded{});
  return choose_by_type(to->layout.dtype, [&]<DType dtype> {
    return launch("attention_combine_quantize", work, segments, gates, OneRecord<dtype>{records_of(*to)});
  });
}

}  // namespace llmservice::gpu
