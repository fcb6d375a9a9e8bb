// Sums over the ranks of one machine, through memory that all of them can read. Each rank copies its values
// to its own shared memory, notifies the others, waits for theirs, and adds all in rank order: the bits
// depend on nothing else. Above kOneShotFloats each rank adds up one part for all, which moves 2/ranks of the
// bytes at the price of a second wait. All ranks must make the same launches in the same order.
//
// Why two banks suffice: a rank writes bank t % 2 in launch t + 2 after every rank signalled in launch t + 1,
// which begins only when its launch t, the last to read that bank, has ended.
#pragma once

#include "backends/gpu/launch.h"
#include "ops/ops.h"

namespace llmservice::gpu {

constexpr int32_t kMaxDeviceRanks = 8;
constexpr int64_t kOneShotFloats = 48 << 10;  // 192 KiB: what a second wait costs, links move in that time
constexpr uint32_t kReduceBlocks = 64;

// What ranks read of each other: one rank's shared memory. Signals are (2, kReduceBlocks, kMaxDeviceRanks).
struct RankMemory {
  uint32_t* signals;
  float* data;  // (2, capacity)
};

constexpr size_t kSignalBytes = size_t{2} * kReduceBlocks * kMaxDeviceRanks * sizeof(uint32_t);

// Bytes of a rank's shared memory, signals first, zeroed before anybody uses it.
constexpr size_t rank_memory_bytes(int64_t capacity) { return kSignalBytes + 2 * capacity * sizeof(float); }

struct DeviceRanks {
  int32_t rank;
  int32_t size;
  int64_t capacity;  // floats of one bank
  RankMemory memory[kMaxDeviceRanks];
  // This rank's own, on its device, zeroed: launches so far, and blocks of this one that have ended.
  uint32_t* turn;
  int32_t* ended;
  // Host memory that the device reads: not 0 once a rank was lost. Then nobody waits and sums are undefined.
  const uint32_t* lost;
};

// x (count) = the sum of all ranks' x. `count` is at most the capacity.
Launch all_reduce(const DeviceRanks&, float* x, int64_t count);

// The same for update (rows, dim), then residual += update, then out = rms_norm(residual): the bits of the
// three launches. rows · dim is at most kOneShotFloats.
Launch all_reduce_add_rms_norm(const DeviceRanks&, const float* update, float* residual, const float* weight,
                               float eps, int64_t rows, int64_t dim, float* out, const FaultMarks& marks);

// Rank r holds columns [begins[r], begins[r + 1]) of a matrix as `mine` (rows, its columns); rank 0 gets all
// of it as `out` (rows, begins[size]). rows · the widest is at most the capacity.
Launch gather_columns(const DeviceRanks&, const float* mine, int64_t rows, const int64_t* begins, float* out);

}  // namespace llmservice::gpu
