// Copies beside the steps of a device, by a stream of their own and pinned memory.
#pragma once

#include "backends/gpu/device.h"
#include "ops/ops.h"

namespace llmservice::gpu {

class DeviceCopies final : public SideCopies {
 public:
  DeviceCopies(int device, size_t bytes) : device_(device), pinned_(device_, bytes) {}

  void read(std::span<const Region> pieces, std::span<std::byte> host) override;
  void write(std::span<const std::byte> host, std::span<const Region> pieces) override;

 private:
  Device device_;
  PinnedMemory pinned_;
};

}  // namespace llmservice::gpu
