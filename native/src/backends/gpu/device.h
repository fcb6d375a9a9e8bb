// One device as its process sees it: memory and a stream of work. Every failure throws EngineError:
// DeviceFault once the device has failed, ModelTooLarge where memory does not suffice. Used on one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "backends/gpu/launch.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

// The driver's words and the name that its documentation knows the error by.
std::string error_text(gpuError_t error);

struct MemoryInfo {
  size_t free;
  size_t total;
};

// Launches that the device knows beforehand and runs as one.
class Graph {
 public:
  explicit Graph(gpuGraphExec_t exec) : exec_(exec) {}
  Graph(Graph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;
  ~Graph();

  gpuGraphExec_t exec() const { return exec_; }

 private:
  gpuGraphExec_t exec_;
};

class Device {
 public:
  explicit Device(int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int index() const { return index_; }
  const std::string& name() const { return name_; }
  // sm_90 or gfx942, for example.
  const std::string& architecture() const { return architecture_; }
  int multiprocessors() const { return multiprocessors_; }
  // Ten times the major version and the minor one.
  int compute_capability() const { return compute_capability_; }

  // What the driver reports for all processes together.
  MemoryInfo memory() const;
  // Bytes of the device that this object gave and that were not released.
  size_t held() const { return held_; }

  void* allocate(size_t bytes);
  void release(void* memory);
  // The same, for other devices to read.
  void* allocate_for_ranks(size_t bytes);
  void release_for_ranks(void* memory);
  // Memory of the host that the device copies from and to by itself.
  void* allocate_pinned(size_t bytes);
  void release_pinned(void* memory);

  // Return when the copy is made.
  void upload(std::span<const std::byte> host, void* device);
  void download(const void* device, std::span<std::byte> host);

  // In order, behind all that came before; these do not wait.
  void send(std::span<const std::byte> pinned, void* device);
  void fetch(const void* device, std::span<std::byte> pinned);
  void zero(void* device, size_t bytes);
  void run(const Launch& launch);
  // False, and nothing has run, when the device has no room for it.
  bool run(const Graph& graph);
  // Launches of kernels. Nothing when the device has no room for one more graph.
  std::optional<Graph> capture(std::span<const Launch> launches);
  void finish();
  // For events, and for work that is not a launch.
  gpuStream_t stream() const { return stream_; }

 private:
  void give_shared_memory(const Launch& launch);

  void* taken(gpuError_t error, void*& memory, size_t bytes);
  void gone(const void* memory);

  int index_;
  gpuStream_t stream_ = nullptr;
  std::string name_;
  std::string architecture_;
  int multiprocessors_ = 0;
  int compute_capability_ = 0;
  size_t held_ = 0;
  std::unordered_map<const void*, size_t> sizes_;  // of what is held
  std::map<const void*, uint32_t> shared_given_;   // by kernel
};

// A place in the order of a device's work that the host can wait for.
class Milestone {
 public:
  explicit Milestone(Device& device);
  ~Milestone();
  Milestone(const Milestone&) = delete;
  Milestone& operator=(const Milestone&) = delete;

  // Behind all that came before.
  void set();
  // Until the device has come to where it was set last.
  void wait();

 private:
  Device& device_;
  gpuEvent_t event_ = nullptr;
};

// Memory that `allocate` of a device gave, and that goes back by its `release`.
template <auto allocate, auto release>
class OwnedMemory {
 public:
  OwnedMemory(Device& device, size_t bytes)
      : device_(device), data_(static_cast<std::byte*>((device.*allocate)(bytes))), bytes_(bytes) {}
  ~OwnedMemory() { (device_.*release)(data_); }
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Device& device_;
  std::byte* data_;
  size_t bytes_;
};

using PinnedMemory = OwnedMemory<&Device::allocate_pinned, &Device::release_pinned>;

// Zeroed.
class DeviceMemory : public OwnedMemory<&Device::allocate, &Device::release> {
 public:
  DeviceMemory(Device& device, size_t bytes) : OwnedMemory(device, bytes) { device.zero(data(), bytes); }
};

}  // namespace llmservice::gpu
