// Memory that one process or device writes while another one's kernels run: what ranks share of their
// devices, and the word by which they hear of a loss.
#pragma once

#include <utility>

#include "backends/gpu/device.h"
#include "ops/collective.h"

namespace llmservice::gpu {

// This rank's part, for other devices to read: zeroed.
class SharedMemory {
 public:
  SharedMemory(Device& device, size_t bytes);
  ~SharedMemory() { device_.release_for_ranks(data_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  Device& device_;
  std::byte* data_;
};

// Another rank's part.
class PeerMemory {
 public:
  explicit PeerMemory(std::byte* data) : data_(data) {}
  PeerMemory(PeerMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PeerMemory& operator=(PeerMemory&&) = delete;
  ~PeerMemory();

 private:
  std::byte* data_;
};

// In memory of the host, read by kernels: not 0 once a rank was lost.
class LossWord {
 public:
  explicit LossWord(RankChannel& channel);
  ~LossWord();
  LossWord(const LossWord&) = delete;
  LossWord& operator=(const LossWord&) = delete;

  const uint32_t* data() const { return word_; }
  bool is_set() const;
  void set();

 private:
  RankChannel& channel_;
  uint32_t* word_ = nullptr;
};

}  // namespace llmservice::gpu
