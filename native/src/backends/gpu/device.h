// One device as its process sees it: memory and a stream of work. Every failure throws EngineError:
// DeviceFault once the device has failed, ModelTooLarge where memory does not suffice.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backends/gpu/launch.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

class Device {
 public:
  explicit Device(int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }
  int multiprocessors() const { return multiprocessors_; }

  void* allocate(size_t bytes);
  void release(void* memory);
  // Returns when the copy is made.
  void upload(std::span<const std::byte> host, void* device);
  void download(const void* device, std::span<std::byte> host);
  void zero(void* device, size_t bytes);

  // In order, behind all that came before; does not wait.
  void run(const Launch& launch);
  void finish();

 private:
  gpuStream_t stream_ = nullptr;
  std::string name_;
  int multiprocessors_ = 0;
};

}  // namespace llmservice::gpu
