#include "backends/gpu/kernels/all_reduce.h"
#include "backends/gpu/kernels/norm_row.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = kRowThreads;

struct Begins {
  int64_t of[kMaxDeviceRanks + 1];
};

__device__ __forceinline__ float* bank(const DeviceRanks& ranks, int32_t rank, uint32_t turn) {
  return ranks.memory[rank].data + turn % 2 * ranks.capacity;
}

// Signals all ranks that this block's shared values are there, and waits for the same block of each.
__device__ __forceinline__ void meet_ranks(const DeviceRanks& ranks, uint32_t turn, int phase) {
  publish_to_ranks();
  sync_block();
  if (static_cast<int>(threadIdx.x) < ranks.size) {
    const int other = static_cast<int>(threadIdx.x);
    const auto place = (phase * kReduceBlocks + blockIdx.x) * kMaxDeviceRanks;
    signal(&ranks.memory[other].signals[place + ranks.rank], turn + 1);
    const uint32_t* const mine = &ranks.memory[ranks.rank].signals[place + other];
    // A rank may be one launch ahead; numbers may wrap. The host's memory is far: it is read now and
    // then.
    for (uint32_t looks = 0; static_cast<int32_t>(look(mine) - (turn + 1)) < 0; ++looks) {
      if (looks % 64 == 0 && look(ranks.lost) != 0) break;
      pause();
    }
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

__device__ __forceinline__ void copy(const float* from, int64_t begin, int64_t end, float* to) {
  stream(
      begin, end, [&](int64_t i) { return from[i]; }, [&](int64_t i, float value) { to[i] = value; });
}

// The same values of every rank.
template <int kCount>
struct Values {
  Floats<kCount> of[kMaxDeviceRanks];

  __device__ __forceinline__ Floats<kCount> sum(int32_t size) const {
    Floats<kCount> total = of[0];
#pragma unroll
    for (int32_t rank = 1; rank < kMaxDeviceRanks; ++rank) {
      if (rank >= size) continue;
#pragma unroll
      for (int i = 0; i < kCount; ++i) total.v[i] += of[rank].v[i];
    }
    return total;
  }
};

// load(a rank's bank) for every rank.
template <int kCount, class Load>
__device__ __forceinline__ Values<kCount> values_of(const DeviceRanks& ranks, uint32_t turn,
                                                    const Load& load) {
  Values<kCount> values;
#pragma unroll
  for (int32_t rank = 0; rank < kMaxDeviceRanks; ++rank) {
    if (rank < ranks.size) values.of[rank] = load(bank(ranks, rank, turn));
  }
  return values;
}

// Blocks take equal parts of x.
template <bool kTwoShots>
__global__ void __launch_bounds__(kThreads) all_reduce_kernel(DeviceRanks ranks, float* x, int64_t count) {
  wait_for_previous();
  let_next_start();
  const uint32_t turn = *ranks.turn;
  const int64_t begin = count * blockIdx.x / gridDim.x;
  const int64_t end = count * (blockIdx.x + 1) / gridDim.x;
  float* const own = bank(ranks, ranks.rank, turn);
  const auto load = [&](int64_t i) {
    return values_of<1>(ranks, turn, [&](const float* from) { return load_floats<1>(from + i); });
  };
  copy(x, begin, end, own);
  meet_ranks(ranks, turn, 0);
  if constexpr (kTwoShots) {
    const auto part = [&](int32_t rank) { return begin + (end - begin) * rank / ranks.size; };
    // Nobody else reads this part of it before the next meeting.
    stream(part(ranks.rank), part(ranks.rank + 1), load,
           [&](int64_t i, const Values<1>& values) { own[i] = values.sum(ranks.size).v[0]; });
    meet_ranks(ranks, turn, 1);
    for (int32_t rank = 0; rank < ranks.size; ++rank) {
      copy(bank(ranks, rank, turn), part(rank), part(rank + 1), x);
    }
  } else {
    stream(begin, end, load, [&](int64_t i, const Values<1>& values) { x[i] = values.sum(ranks.size).v[0]; });
  }
  end_turn(ranks, turn);
}

// A block takes every gridDim-th row.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
    all_reduce_add_rms_norm_kernel(DeviceRanks ranks, const float* update, float* residual,
                                   const float* weight, float eps, int64_t rows, int64_t dim, float* out,
                                   FaultMarks marks) {
  struct Summands {
    Values<4> update;
    Float4 residual;
  };
  RowNormer<kWhole, 2> normer(weight, eps, dim);
  wait_for_previous();
  let_next_start();
  const uint32_t turn = *ranks.turn;
  float* const own = bank(ranks, ranks.rank, turn);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    copy(update, row * dim, (row + 1) * dim, own);
  }
  meet_ranks(ranks, turn, 0);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t at = row * dim;
    const auto load = [&](int64_t col) {
      const auto quad = [&](const float* from) { return load_quad<kWhole>(from + at, col, dim); };
      return Summands{values_of<4>(ranks, turn, quad), quad(residual)};
    };
    const auto add = [&](int64_t col, const Summands& summands) {
      Float4 values = summands.update.sum(ranks.size);
#pragma unroll
      for (int i = 0; i < 4; ++i) values.v[i] += summands.residual.v[i];
      store_quad<kWhole>(residual + at, col, dim, values);
      return values;
    };
    normer.norm(residual + at, RowMark(marks, row), load, add,
                [&](int64_t col, const Float4& values) { store_quad<kWhole>(out + at, col, dim, values); });
  }
  end_turn(ranks, turn);
}

__global__ void __launch_bounds__(kThreads)
    gather_columns_kernel(DeviceRanks ranks, const float* mine, int64_t rows, Begins begins, float* out) {
  wait_for_previous();
  let_next_start();
  const uint32_t turn = *ranks.turn;
  // A block takes the same part of every rank's values, so that it waits for one block of each.
  const auto part = [&](int32_t rank, uint32_t block) {
    return rows * (begins.of[rank + 1] - begins.of[rank]) * block / gridDim.x;
  };
  float* const own = bank(ranks, ranks.rank, turn);
  const int64_t end = part(ranks.rank, blockIdx.x + 1);
  copy(mine, part(ranks.rank, blockIdx.x), end, own);
  meet_ranks(ranks, turn, 0);
  for (int32_t rank = 0; rank < ranks.size && ranks.rank == 0; ++rank) {
    const int64_t first = begins.of[rank];
    const int64_t columns = begins.of[rank + 1] - first;
    const int64_t width = begins.of[ranks.size];
    const float* const from = bank(ranks, rank, turn);
    stream(
        part(rank, blockIdx.x), part(rank, blockIdx.x + 1), [&](int64_t i) { return from[i]; },
        [&](int64_t i, float value) { out[i / columns * width + first + i % columns] = value; });
  }
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
  const float* const banks = ranks.memory[ranks.rank].data;  // on the same border as those of the others
  const auto kernel = choose_quads(dim, {banks, banks + ranks.capacity, residual, weight, out},
                                   [&]<bool kWhole> { return all_reduce_add_rms_norm_kernel<kWhole>; });
  return make_launch("all_reduce_add_rms_norm", kernel, {blocks}, kThreads, 0, ranks, update, residual,
                     weight, eps, rows, dim, out, marks);
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
