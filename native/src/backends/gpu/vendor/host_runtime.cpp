#include "backends/gpu/vendor/host_runtime.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "backends/gpu/vendor/emulator.h"
#include "backends/gpu/vendor/host.h"

namespace llmservice::gpu {

struct HostGraph {
  std::vector<std::function<void()>> work;
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
// Of the device that is not there.
constexpr size_t kMemory = size_t{8} << 30;

}  // namespace

const char* gpuGetErrorName(gpuError_t error) {
  constexpr const char* kNames[] = {"gpuSuccess", "gpuErrorMemoryAllocation", "gpuErrorInvalidValue",
                                    "gpuErrorNotReady"};
  return kNames[error];
}

const char* gpuGetErrorString(gpuError_t error) {
  constexpr const char* kTexts[] = {"no error", "out of memory", "invalid argument", "device not ready"};
  return kTexts[error];
}

gpuError_t gpuGetLastError() { return gpuSuccess; }

gpuError_t gpuGetDeviceCount(int* count) {
  *count = 1;
  return gpuSuccess;
}

gpuError_t gpuSetDevice(int device) { return device == 0 ? gpuSuccess : gpuErrorInvalidValue; }

gpuError_t gpuGetDeviceProperties(gpuDeviceProp_t* properties, int device) {
  if (device != 0) return gpuErrorInvalidValue;
  *properties = {.name = "kernel emulator",
                 .totalGlobalMem = kMemory,
                 .sharedMemPerBlockOptin = 227 << 10,
                 .multiProcessorCount = 4,
                 .warpSize = kWarpSize,
                 .major = 0,
                 .minor = 0};
  return gpuSuccess;
}

gpuError_t gpuMemGetInfo(size_t* free, size_t* total) {
  *free = *total = kMemory;
  return gpuSuccess;
}

// Not zeroed, as on a device: every byte 0xff is a NaN in each format.
gpuError_t gpuMalloc(void** memory, size_t bytes) {
  if (bytes > kMemory) return gpuErrorMemoryAllocation;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return gpuErrorMemoryAllocation;
  std::memset(*memory, 0xff, bytes);
  return gpuSuccess;
}

gpuError_t gpuFree(void* memory) {
  std::free(memory);
  return gpuSuccess;
}

gpuError_t gpuMallocForRanks(void** memory, size_t bytes) { return gpuMalloc(memory, bytes); }
gpuError_t gpuMallocHost(void** memory, size_t bytes) { return gpuMalloc(memory, bytes); }
gpuError_t gpuFreeHost(void* memory) { return gpuFree(memory); }

gpuError_t gpuMemcpyAsync(void* to, const void* from, size_t bytes, gpuMemcpyKind, gpuStream_t stream) {
  return stream->take([=] { std::memcpy(to, from, bytes); });
}

gpuError_t gpuMemsetAsync(void* memory, int value, size_t bytes, gpuStream_t stream) {
  return stream->take([=] { std::memset(memory, value, bytes); });
}

gpuError_t gpuStreamCreateWithFlags(gpuStream_t* stream, unsigned) {
  *stream = new HostStream;
  return gpuSuccess;
}

gpuError_t gpuStreamDestroy(gpuStream_t stream) {
  delete stream;
  return gpuSuccess;
}

gpuError_t gpuStreamSynchronize(gpuStream_t) { return gpuSuccess; }
gpuError_t gpuStreamQuery(gpuStream_t) { return gpuSuccess; }

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

gpuError_t gpuGraphLaunch(gpuGraphExec_t exec, gpuStream_t) {
  for (const auto& work : exec->work) work();
  return gpuSuccess;
}

gpuError_t gpuGraphDestroy(gpuGraph_t graph) {
  delete graph;
  return gpuSuccess;
}

gpuError_t gpuGraphExecDestroy(gpuGraphExec_t exec) {
  delete exec;
  return gpuSuccess;
}

gpuError_t gpuFuncSetAttribute(const void*, gpuFuncAttribute, int) { return gpuSuccess; }

gpuError_t enqueue(const Launch& launch, gpuStream_t stream) {
  return stream->take([launch] {
    emulator::run({launch.grid.x, launch.grid.y, launch.grid.z}, launch.threads, launch.shared_bytes,
                  [&launch] { launch.call(launch.kernel, launch); });
  });
}

}  // namespace llmservice::gpu
