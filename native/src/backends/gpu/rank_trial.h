// Whether ranks add up what they should, found out before a model says nonsense or hangs: drivers give access
// over links that then lose writes.
#pragma once

#include <chrono>
#include <functional>

#include "backends/gpu/device.h"

namespace llmservice::gpu {

constexpr int64_t kTrialFloats = 4096;

struct RankTrial {
  int32_t rank;
  int32_t size;
  int64_t count;  // floats to add up
  std::chrono::milliseconds patience;
  // The launch that adds up x (count).
  std::function<Launch(float* x)> all_reduce;
  // From another thread, when the sum has not come in time: has the device continue without.
  std::function<void()> give_up;
  // After each sum, before it is checked: throws if the ranks were not all there.
  std::function<void()> check;
};

// All ranks at once. False: the sums are wrong.
bool adds_up(Device& device, const RankTrial& trial);

}  // namespace llmservice::gpu
