#include "backends/gpu/vendor/host_runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "backends/gpu/vendor/emulator.h"
#include "backends/gpu/vendor/host.h"
#include "backends/gpu/vendor/watch.h"

namespace llmservice::gpu {

struct HostGraph {
  std::vector<std::function<void()>> work;
  void* memory = nullptr;  // from its upload or its first launch on
};

struct HostEvent {
  std::chrono::steady_clock::time_point at;
};

struct HostStream {
  HostGraph* capturing = nullptr;

  gpuError_t take(std::function<void()> work) {
    if (capturing != nullptr) {
      capturing->work.push_back(std::move(work));
    } else {
      work();
    }
    return gpuSuccess;
  }
};

namespace {

// As on a device, whose allocations begin on such borders.
constexpr size_t kAlignment = 256;
std::mutex allocating;  // ranks may be threads
// Of each allocation, so that freeing it gives back what it took.
std::map<void*, size_t> allocations;
size_t allocated = 0;

size_t free_bytes() {
  const EmulatedDevice& device = emulated_device();
  return device.memory - std::min(device.memory, allocated + device.taken_by_others);
}

// As on a device, what a kernel did wrong shows when its work is waited for, and stays.
bool failed() { return emulated_device().launches_until_fault == 0; }

// By the limits of Hopper, or of CDNA 3 where warps have 64 lanes: beyond them drivers refuse.
bool is_launchable(const Launch& launch) {
  constexpr uint32_t kShared = kWarpSize == 64 ? 64 << 10 : 227 << 10;
  constexpr uint32_t kAcross = 65535;
  const Grid& grid = launch.grid;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.y <= kAcross && grid.z <= kAcross &&
         launch.threads > 0 && launch.threads <= 1024 && launch.shared_bytes <= kShared;
}

}  // namespace

EmulatedDevice& emulated_device() {
  static EmulatedDevice only = [] {
    EmulatedDevice device;
    if (const char* const major = std::getenv("EMULATED_MAJOR")) device.major = std::atoi(major);
    if (const char* const devices = std::getenv("EMULATED_DEVICES")) device.devices = std::atoi(devices);
    return device;
  }();
  return only;
}

bool take_emulated(size_t bytes) {
  const std::scoped_lock lock(allocating);
  const bool fits = bytes <= free_bytes();
  if (fits) allocated += bytes;
  return fits;
}

void give_back_emulated(size_t bytes) {
  const std::scoped_lock lock(allocating);
  allocated -= bytes;
}

const char* gpuGetErrorName(gpuError_t error) {
  constexpr const char* kNames[] = {"gpuSuccess", "gpuErrorMemoryAllocation", "gpuErrorInvalidValue",
                                    "gpuErrorNotReady", "gpuErrorLaunchFailure"};
  return kNames[error];
}

const char* gpuGetErrorString(gpuError_t error) {
  constexpr const char* kTexts[] = {"no error", "out of memory", "invalid argument", "device not ready",
                                    "unspecified launch failure"};
  return kTexts[error];
}

gpuError_t gpuGetLastError() { return gpuSuccess; }

gpuError_t gpuGetDeviceCount(int* count) {
  *count = emulated_device().devices;
  return gpuSuccess;
}

gpuError_t gpuSetDevice(int device) {
  return device >= 0 && device < emulated_device().devices ? gpuSuccess : gpuErrorInvalidValue;
}

gpuError_t gpuGetDeviceProperties(gpuDeviceProp_t* properties, int device) {
  if (device < 0 || device >= emulated_device().devices) return gpuErrorInvalidValue;
  *properties = {.name = "kernel emulator",
                 .totalGlobalMem = emulated_device().memory,
                 .sharedMemPerBlockOptin = 227 << 10,
                 .multiProcessorCount = 4,
                 .warpSize = kWarpSize,
                 .major = emulated_device().major,
                 .minor = emulated_device().minor,
                 .pciDomainID = 1,
                 .pciBusID = 0xc1,
                 .pciDeviceID = 2};
  return gpuSuccess;
}

gpuError_t gpuMemGetInfo(size_t* free, size_t* total) {
  const std::scoped_lock lock(allocating);
  *total = emulated_device().memory;
  *free = free_bytes();
  return gpuSuccess;
}

// Not zeroed, as on a device: every byte 0xff is a NaN in each format.
gpuError_t gpuMalloc(void** memory, size_t bytes) {
  const std::scoped_lock lock(allocating);
  if (bytes > free_bytes()) return gpuErrorMemoryAllocation;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return gpuErrorMemoryAllocation;
  std::memset(*memory, 0xff, bytes);
  allocations[*memory] = bytes;
  allocated += bytes;
  watch::memory_begins(*memory, bytes);
  return gpuSuccess;
}

gpuError_t gpuFree(void* memory) {
  const std::scoped_lock lock(allocating);
  const auto found = allocations.find(memory);
  if (found != allocations.end()) {
    allocated -= found->second;
    allocations.erase(found);
    watch::memory_ends(memory);
  }
  std::free(memory);
  return gpuSuccess;
}

gpuError_t gpuMallocHostForDevice(void** memory, size_t bytes) { return gpuMallocHost(memory, bytes); }

gpuError_t gpuMallocHost(void** memory, size_t bytes) {
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? gpuErrorMemoryAllocation : gpuSuccess;
}

gpuError_t gpuFreeHost(void* memory) {
  std::free(memory);
  return gpuSuccess;
}

gpuError_t gpuMemcpyAsync(void* to, const void* from, size_t bytes, gpuMemcpyKind, gpuStream_t stream) {
  return stream->take([=] {
    watch::stream_waits();
    std::memcpy(to, from, bytes);
  });
}

gpuError_t gpuMemsetAsync(void* memory, int value, size_t bytes, gpuStream_t stream) {
  return stream->take([=] {
    watch::stream_waits();
    std::memset(memory, value, bytes);
  });
}

gpuError_t gpuStreamCreateWithFlags(gpuStream_t* stream, unsigned) {
  *stream = new HostStream;
  return gpuSuccess;
}

gpuError_t gpuStreamDestroy(gpuStream_t stream) {
  delete stream;
  return gpuSuccess;
}

gpuError_t gpuStreamSynchronize(gpuStream_t) {
  watch::stream_waits();
  return failed() ? gpuErrorLaunchFailure : gpuSuccess;
}
gpuError_t gpuStreamQuery(gpuStream_t) { return gpuSuccess; }

gpuError_t gpuEventCreate(gpuEvent_t* event) {
  *event = new HostEvent;
  return gpuSuccess;
}

gpuError_t gpuEventDestroy(gpuEvent_t event) {
  delete event;
  return gpuSuccess;
}

gpuError_t gpuEventRecord(gpuEvent_t event, gpuStream_t) {
  event->at = std::chrono::steady_clock::now();
  return gpuSuccess;
}

gpuError_t gpuEventSynchronize(gpuEvent_t) { return failed() ? gpuErrorLaunchFailure : gpuSuccess; }

gpuError_t gpuEventElapsedTime(float* milliseconds, gpuEvent_t from, gpuEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return gpuSuccess;
}

namespace {

gpuError_t take_room(HostGraph& graph) {
  const size_t bytes = emulated_device().graph;
  return bytes == 0 || graph.memory != nullptr ? gpuSuccess : gpuMalloc(&graph.memory, bytes);
}

}  // namespace

gpuError_t gpuStreamBeginCapture(gpuStream_t stream, gpuStreamCaptureMode) {
  stream->capturing = new HostGraph;
  return gpuSuccess;
}

gpuError_t gpuStreamEndCapture(gpuStream_t stream, gpuGraph_t* graph) {
  *graph = stream->capturing;
  stream->capturing = nullptr;
  return gpuSuccess;
}

gpuError_t gpuGraphInstantiate(gpuGraphExec_t* exec, gpuGraph_t graph) {
  *exec = new HostGraph(*graph);
  return gpuSuccess;
}

gpuError_t gpuGraphUpload(gpuGraphExec_t exec, gpuStream_t) {
  // As AMD's, which leaves it to the first launch.
  return kWarpSize == 64 ? gpuSuccess : take_room(*exec);
}

gpuError_t gpuGraphLaunch(gpuGraphExec_t exec, gpuStream_t) {
  if (take_room(*exec) != gpuSuccess) return gpuErrorMemoryAllocation;
  watch::stream_waits();
  for (const auto& work : exec->work) work();
  watch::stream_waits();
  return failed() ? gpuErrorLaunchFailure : gpuSuccess;
}

gpuError_t gpuGraphDestroy(gpuGraph_t graph) {
  delete graph;
  return gpuSuccess;
}

gpuError_t gpuGraphExecDestroy(gpuGraphExec_t exec) {
  static_cast<void>(gpuFree(exec->memory));
  delete exec;
  return gpuSuccess;
}

gpuError_t gpuFuncSetAttribute(const void*, gpuFuncAttribute, int) { return gpuSuccess; }

gpuError_t enqueue(const Launch& launch, gpuStream_t stream) {
  if (!is_launchable(launch)) return gpuErrorInvalidValue;
  return stream->take([launch] {
    if (failed()) return;
    int& left = emulated_device().launches_until_fault;
    if (left > 0 && --left == 0) return;
    emulator::run(launch.name, {launch.grid.x, launch.grid.y, launch.grid.z}, launch.threads,
                  launch.shared_bytes, [&launch] { launch.call(launch.kernel, launch); });
  });
}

}  // namespace llmservice::gpu
