// Sums over ranks as launches among the others (kernels/all_reduce.h), so that they lie in graphs and nobody
// waits on the host. The launches of a step repeat: which turn it is, devices count themselves.
#pragma once

#include <functional>

#include "backends/gpu/rank_memory.h"

namespace llmservice::gpu {

class DeviceCollective final : public Collective {
 public:
  // Floats of one launch: a step of 256 rows of 8,192, and 16 MiB of memory in all.
  static constexpr int64_t kCapacity = 2 << 20;

  // `add` takes launches in the order of the backend's ops.
  DeviceCollective(Device& device, RankChannel& channel, std::function<void(const Launch&)> add,
                   int64_t capacity = kCapacity)
      : memories_(device, channel, capacity), add_(std::move(add)) {}

  void all_reduce(float* x, int64_t count) override;
  void all_reduce_add_rms_norm(Backend& backend, float* x, float* y, const float* weight, float eps,
                               int64_t rows, int64_t dim, float* out, const FaultMarks& marks) override;
  void gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) override;

  // When the device's work has ended: throws if it did because a rank was lost.
  void check() const { memories_.check(); }

 private:
  RankMemories memories_;
  std::function<void(const Launch&)> add_;
};

}  // namespace llmservice::gpu
