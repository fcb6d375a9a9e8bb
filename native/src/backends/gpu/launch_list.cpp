#include "backends/gpu/launch_list.h"

namespace llmservice::gpu {

void LaunchList::add(const Launch& launch) {
  hash_before_last_ = hash_;
  launches_.push_back(launch);
  has_calls_ = has_calls_ || launch.put_on != nullptr;
  mix(launch);
}

void LaunchList::replace_last(const Launch& launch) {
  launches_.pop_back();
  hash_ = hash_before_last_;
  add(launch);
}

// The hash follows from what was asked for, in its order: what was replaced stays in it.
void LaunchList::replace(size_t index, const Launch& launch) {
  launches_[index] = launch;
  mix(index);
  mix(launch);
}

void LaunchList::mix(const Launch& launch) {
  mix(reinterpret_cast<uintptr_t>(launch.kernel));
  mix(uint64_t{launch.grid.x} << 32 | launch.grid.y);
  mix(uint64_t{launch.grid.z} << 32 | launch.threads);
  mix(launch.shared_bytes);
  for (size_t at = 0; at < launch.used; at += sizeof(uint64_t)) {
    uint64_t word = 0;  // the bytes beyond `used` are zero
    std::memcpy(&word, launch.bytes.data() + at, sizeof word);
    mix(word);
  }
}

}  // namespace llmservice::gpu
