#include "backends/gpu/device.h"

#include "ops/error.h"

namespace llmservice::gpu {
namespace {

// Above this a kernel must be told that it may have so much.
constexpr uint32_t kPlainShared = 48 << 10;

void check(gpuError_t error, const char* what) {
  if (error == gpuSuccess) return;
  throw EngineError(error == gpuErrorMemoryAllocation ? "ModelTooLarge" : "DeviceFault",
                    std::string("The device failed to ") + what + ": " + gpuGetErrorString(error) + " (" +
                        gpuGetErrorName(error) + ").");
}

}  // namespace

Device::Device(int index) {
  check(gpuSetDevice(index), "be chosen");
  gpuDeviceProp_t properties;
  check(gpuGetDeviceProperties(&properties, index), "describe itself");
  name_ = properties.name;
  multiprocessors_ = properties.multiProcessorCount;
  check(gpuStreamCreateWithFlags(&stream_, gpuStreamNonBlocking), "make a stream");
}

Device::~Device() { static_cast<void>(gpuStreamDestroy(stream_)); }

void* Device::allocate(size_t bytes) {
  void* memory = nullptr;
  check(gpuMalloc(&memory, bytes), ("allocate " + std::to_string(bytes) + " bytes").c_str());
  return memory;
}

void Device::release(void* memory) { static_cast<void>(gpuFree(memory)); }

void Device::upload(std::span<const std::byte> host, void* device) {
  check(gpuMemcpyAsync(device, host.data(), host.size(), gpuMemcpyHostToDevice, stream_), "take data");
  finish();
}

void Device::download(const void* device, std::span<std::byte> host) {
  check(gpuMemcpyAsync(host.data(), device, host.size(), gpuMemcpyDeviceToHost, stream_), "give data");
  finish();
}

void Device::zero(void* device, size_t bytes) {
  check(gpuMemsetAsync(device, 0, bytes, stream_), "clear memory");
}

void Device::run(const Launch& launch) {
  if (launch.shared_bytes > kPlainShared) {
    check(gpuFuncSetAttribute(launch.kernel, gpuFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(launch.shared_bytes)),
          "give a kernel its shared memory");
  }
  check(enqueue(launch, stream_), launch.name);
}

void Device::finish() { check(gpuStreamSynchronize(stream_), "finish its work"); }

}  // namespace llmservice::gpu
