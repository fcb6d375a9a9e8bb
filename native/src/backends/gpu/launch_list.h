// The launches of a step in the order that they are asked for, and a hash by which the same step is known
// again.
#pragma once

#include <cstdint>
#include <span>

#include "backends/gpu/launch.h"

namespace llmservice::gpu {

class LaunchList {
 public:
  void add(const Launch& launch);
  void add(std::span<const Launch> launches) {
    for (const Launch& launch : launches) add(launch);
  }
  // In place of the last, after which nothing was added.
  void replace_last(const Launch& launch);
  // In place of any.
  void replace(size_t index, const Launch& launch);
  void clear() {
    launches_.clear();
    hash_ = 0;
    has_calls_ = false;
  }

  bool empty() const { return launches_.empty(); }
  uint64_t hash() const { return hash_; }
  // Calls to a library among them.
  bool has_calls() const { return has_calls_; }
  const Launches& launches() const { return launches_; }
  bool operator==(const LaunchList& other) const {
    return hash_ == other.hash_ && launches_ == other.launches_;
  }

 private:
  void mix(const Launch& launch);
  void mix(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 32;
  }

  Launches launches_;
  uint64_t hash_ = 0;
  uint64_t hash_before_last_ = 0;
  bool has_calls_ = false;
};

}  // namespace llmservice::gpu
