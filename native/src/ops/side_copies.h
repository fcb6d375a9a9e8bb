// Copies of device memory beside the steps that a backend runs.
#pragma once

#include <cstddef>
#include <span>

namespace llmservice {

// A piece of device memory.
struct Region {
  std::byte* first;
  size_t bytes;
};

// Copies between memory of the host and a device's beside the ops of its backend, on another thread: the one
// that made it. What is copied no op touches meanwhile. They return when the copy is made.
class SideCopies {
 public:
  virtual ~SideCopies() = default;
  // The pieces one after the other; `host` has as many bytes as they.
  virtual void read(std::span<const Region> pieces, std::span<std::byte> host) = 0;
  virtual void write(std::span<const std::byte> host, std::span<const Region> pieces) = 0;
};

// Where device memory is the host's.
class HostCopies final : public SideCopies {
 public:
  void read(std::span<const Region> pieces, std::span<std::byte> host) override;
  void write(std::span<const std::byte> host, std::span<const Region> pieces) override;
};

}  // namespace llmservice
