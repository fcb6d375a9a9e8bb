#include "backends/gpu/rank_trial.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace llmservice::gpu {
namespace {

constexpr int32_t kTrials = 2;  // one of each bank of memory that ranks share

// Sums of small integers are exact in any order.
float value_of(int32_t rank, int64_t i, int32_t trial) {
  return static_cast<float>((rank + 1) * (i % 97 + 1) + trial);
}

// Calls `late` unless it goes before the time is up.
class Deadline {
 public:
  Deadline(const std::function<void()>& late, std::chrono::milliseconds limit)
      : thread_([this, &late, limit] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, limit, [this] { return met_; })) late();
        }) {}
  ~Deadline() {
    {
      const std::scoped_lock lock(mutex_);
      met_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool met_ = false;
  std::thread thread_;
};

}  // namespace

bool adds_up(Device& device, const RankTrial& trial) {
  const DeviceMemory memory(device, trial.count * sizeof(float));
  auto* const x = reinterpret_cast<float*>(memory.data());
  std::vector<float> values(trial.count);
  for (int32_t time = 0; time < kTrials; ++time) {
    for (int64_t i = 0; i < trial.count; ++i) values[i] = value_of(trial.rank, i, time);
    device.upload(std::as_bytes(std::span(values)), x);
    {
      const Deadline deadline(trial.give_up, trial.patience);
      device.run(trial.all_reduce(x));
      device.finish();
    }
    trial.check();
    device.download(x, std::as_writable_bytes(std::span(values)));
    for (int64_t i = 0; i < trial.count; ++i) {
      float sum = 0;
      for (int32_t rank = 0; rank < trial.size; ++rank) sum += value_of(rank, i, time);
      if (values[i] != sum) return false;
    }
  }
  return true;
}

}  // namespace llmservice::gpu
