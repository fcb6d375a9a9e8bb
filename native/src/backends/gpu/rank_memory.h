// What the ranks of a group share on their devices: each its own memory, the others' opened in it, and the
// word by which kernels that wait for a lost rank end. To make one all ranks must, and it returns once every
// one has read what the others wrote, or throws, naming rank, device and peer: NoPeerAccess,
// DeviceUnavailable where what is written does not arrive, else the error of the group.
#pragma once

#include <string>
#include <vector>

#include "backends/gpu/kernels/all_reduce.h"
#include "backends/gpu/shared_memory.h"
#include "ops/error.h"

namespace llmservice::gpu {

// Devices cannot use each other's memory: every rank of the group says so, each by its own or another's
// words, and no other error is to be feared from its peers.
class NoPeerAccess final : public EngineError {
 public:
  explicit NoPeerAccess(const std::string& message)
      : EngineError(FailureReason::kDeviceUnavailable, message) {}
};

class RankMemories {
 public:
  // Ranks exchange `capacity` floats in one launch at most.
  RankMemories(Device& device, RankChannel& channel, int64_t capacity);
  // leave(), and where the group has ended in peace, lets the others close what they opened.
  ~RankMemories();
  RankMemories(const RankMemories&) = delete;
  RankMemories& operator=(const RankMemories&) = delete;

  const DeviceRanks& ranks() const { return ranks_; }
  // When the device's work has ended: throws if it did because a rank was lost.
  void check() const;
  // What waits for others ends.
  void leave() { loss_.set(); }

 private:
  // Empty, or what is in the way.
  std::string open_peers();
  std::string open_peer(int32_t rank, const gpuIpcMemHandle_t& handle, int32_t device);
  void agree(const std::string& problem);
  void try_out();
  std::string name_of(int32_t rank) const;
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void name_silent() const;

  Device& device_;
  RankChannel& channel_;
  LossWord loss_;
  SharedMemory own_;
  DeviceMemory counters_;  // turn and ended of DeviceRanks
  std::vector<std::string> names_;
  std::vector<PeerMemory> peers_;
  DeviceRanks ranks_{};
};

}  // namespace llmservice::gpu
