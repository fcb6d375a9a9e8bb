#include "backends/gpu/launch_list.h"

namespace llmservice::gpu {

void LaunchList::add(const Launch& launch) {
  launches_.push_back(launch);
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
