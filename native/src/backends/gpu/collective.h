// Sums over ranks as launches among the others (kernels/all_reduce.h), so that they lie in graphs and nobody
// waits on the host. The launches of a step repeat: which turn it is, devices count themselves.
#pragma once

#include "backends/gpu/rank_collective.h"
#include "backends/gpu/rank_memory.h"

namespace llmservice::gpu {

class DeviceCollective final : public RankCollective {
 public:
  // Floats of one launch: a step of 256 rows of 8,192, and 16 MiB of memory in all.
  static constexpr int64_t kCapacity = 2 << 20;

  DeviceCollective(Device& device, RankChannel& channel, AddLaunch add, int64_t capacity = kCapacity)
      : memories_(device, channel, capacity), add_(std::move(add)) {}

  void all_reduce(float* x, int64_t count) override;
  void all_reduce_add_rms_norm(Backend& backend, float* x, float* y, const float* weight, float eps,
                               int64_t rows, int64_t dim, float* out, const FaultMarks& marks) override;
  void gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) override;

  void check() const override { memories_.check(); }
  void leave() override { memories_.leave(); }

 private:
  RankMemories memories_;
  AddLaunch add_;
};

}  // namespace llmservice::gpu
