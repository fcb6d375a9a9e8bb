#include "backends/gpu/kernels/all_reduce.h"
#include "backends/gpu/kernels/norm_row.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;

struct Begins {
  int64_t of[kMaxDeviceRanks + 1];
};

__device__ __forceinline__ float* bank(const DeviceRanks& ranks, int32_t rank, uint32_t turn) {
  return ranks.memory[rank].data + turn % 2 * ranks.capacity;
}

// Tells all ranks that this block's shared values are there, and waits for the same block of each.
__device__ __forceinline__ void meet_ranks(const DeviceRanks& ranks, uint32_t turn, int phase) {
  publish_to_ranks();
  sync_block();
  if (static_cast<int>(threadIdx.x) < ranks.size) {
    const int other = static_cast<int>(threadIdx.x);
    const auto place = (phase * kReduceBlocks + blockIdx.x) * kMaxDeviceRanks;
    signal(&ranks.memory[other].signals[place + ranks.rank], turn + 1);
    const uint32_t* const mine = &ranks.memory[ranks.rank].signals[place + other];
    // A rank may be one launch ahead; numbers may wrap.
    while (static_cast<int32_t>(look(mine) - (turn + 1)) < 0 && look(ranks.lost) == 0) pause();
  }
  sync_block();
}

// The last block to end begins the next turn.
__device__ __forceinline__ void end_turn(const DeviceRanks& ranks, uint32_t turn) {
  sync_block();
  if (threadIdx.x > 0) return;
  publish_block();
  if (count_up(ranks.ended) + 1 < static_cast<int32_t>(gridDim.x)) return;
  *ranks.ended = 0;
  *ranks.turn = turn + 1;
}

__device__ __forceinline__ float sum_of(const DeviceRanks& ranks, uint32_t turn, int64_t i) {
  float sum = bank(ranks, 0, turn)[i];
  for (int32_t rank = 1; rank < ranks.size; ++rank) sum += bank(ranks, rank, turn)[i];
  return sum;
}

// Blocks take equal parts of x.
template <bool kTwoShots>
__global__ void __launch_bounds__(kThreads) all_reduce_kernel(DeviceRanks ranks, float* x, int64_t count) {
  wait_for_previous();
  const uint32_t turn = *ranks.turn;
  const int64_t begin = count * blockIdx.x / gridDim.x;
  const int64_t end = count * (blockIdx.x + 1) / gridDim.x;
  float* const own = bank(ranks, ranks.rank, turn);
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) own[i] = x[i];
  meet_ranks(ranks, turn, 0);
  if constexpr (kTwoShots) {
    const auto part = [&](int32_t rank) { return begin + (end - begin) * rank / ranks.size; };
    for (int64_t i = part(ranks.rank) + threadIdx.x; i < part(ranks.rank + 1); i += kThreads) {
      own[i] = sum_of(ranks, turn, i);  // nobody else reads this part of it before the next meeting
    }
    meet_ranks(ranks, turn, 1);
    for (int32_t rank = 0; rank < ranks.size; ++rank) {
      const float* const sums = bank(ranks, rank, turn);
      for (int64_t i = part(rank) + threadIdx.x; i < part(rank + 1); i += kThreads) x[i] = sums[i];
    }
  } else {
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) x[i] = sum_of(ranks, turn, i);
  }
  let_next_start();
  end_turn(ranks, turn);
}

// A block takes every gridDim-th row.
__global__ void __launch_bounds__(kThreads)
    all_reduce_add_rms_norm_kernel(DeviceRanks ranks, const float* update, float* residual,
                                   const float* weight, float eps, int64_t rows, int64_t dim, float* out,
                                   FaultMarks marks) {
  wait_for_previous();
  const uint32_t turn = *ranks.turn;
  float* const own = bank(ranks, ranks.rank, turn);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int64_t i = threadIdx.x; i < dim; i += kThreads) own[row * dim + i] = update[row * dim + i];
  }
  meet_ranks(ranks, turn, 0);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float squares = 0;
    for (int64_t i = threadIdx.x; i < dim; i += kThreads) {
      const float value = sum_of(ranks, turn, row * dim + i) + residual[row * dim + i];
      residual[row * dim + i] = value;
      squares = fmaf(value, value, squares);
    }
    norm_row(residual + row * dim, squares, weight, eps, dim, out + row * dim, RowMark(marks, row));
  }
  let_next_start();
  end_turn(ranks, turn);
}

__global__ void __launch_bounds__(kThreads)
    gather_columns_kernel(DeviceRanks ranks, const float* mine, int64_t rows, Begins begins, float* out) {
  wait_for_previous();
  const uint32_t turn = *ranks.turn;
  // A block takes the same part of every rank's values, so that it waits for one block of each.
  const auto part = [&](int32_t rank, uint32_t block) {
    return rows * (begins.of[rank + 1] - begins.of[rank]) * block / gridDim.x;
  };
  float* const own = bank(ranks, ranks.rank, turn);
  const int64_t end = part(ranks.rank, blockIdx.x + 1);
  for (int64_t i = part(ranks.rank, blockIdx.x) + threadIdx.x; i < end; i += kThreads) own[i] = mine[i];
  meet_ranks(ranks, turn, 0);
  for (int32_t rank = 0; rank < ranks.size && ranks.rank == 0; ++rank) {
    const int64_t columns = begins.of[rank + 1] - begins.of[rank];
    const float* const from = bank(ranks, rank, turn);
    const int64_t last = part(rank, blockIdx.x + 1);
    for (int64_t i = part(rank, blockIdx.x) + threadIdx.x; i < last; i += kThreads) {
      out[i / columns * begins.of[ranks.size] + begins.of[rank] + i % columns] = from[i];
    }
  }
  let_next_start();
  end_turn(ranks, turn);
}

uint32_t blocks_for(int64_t count) {
  const int64_t blocks = (count + 4 * kThreads - 1) / (4 * kThreads);
  return static_cast<uint32_t>(blocks < kReduceBlocks ? (blocks > 0 ? blocks : 1) : kReduceBlocks);
}

}  // namespace

Launch all_reduce(const DeviceRanks& ranks, float* x, int64_t count) {
  const bool one_shot = count <= kOneShotFloats || ranks.size == 2;
  return make_launch(one_shot ? "all_reduce_one_shot" : "all_reduce_two_shot",
                     one_shot ? all_reduce_kernel<false> : all_reduce_kernel<true>, {blocks_for(count)},
                     kThreads, 0, ranks, x, count);
}

Launch all_reduce_add_rms_norm(const DeviceRanks& ranks, const float* update, float* residual,
                               const float* weight, float eps, int64_t rows, int64_t dim, float* out,
                               const FaultMarks& marks) {
  const auto blocks = static_cast<uint32_t>(rows < kReduceBlocks ? rows : kReduceBlocks);
  return make_launch("all_reduce_add_rms_norm", all_reduce_add_rms_norm_kernel, {blocks}, kThreads, 0, ranks,
                     update, residual, weight, eps, rows, dim, out, marks);
}

Launch gather_columns(const DeviceRanks& ranks, const float* mine, int64_t rows, const int64_t* begins,
                      float* out) {
  Begins all{};
  for (int32_t rank = 0; rank <= ranks.size; ++rank) all.of[rank] = begins[rank];
  const int64_t widest = rows * (begins[ranks.size] / ranks.size + 1);
  return make_launch("gather_columns", gather_columns_kernel, {blocks_for(widest)}, kThreads, 0, ranks, mine,
                     rows, all, out);
}

}  // namespace llmservice::gpu
