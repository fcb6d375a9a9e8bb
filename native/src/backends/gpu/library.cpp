#include "backends/gpu/library.h"

#include "backends/gpu/backend.h"

#define ENTRY_POINT __attribute__((visibility("default")))

namespace llmservice::gpu {
namespace {

gpuError_t describe(int index, DeviceFacts& facts) {
  gpuDeviceProp_t properties;
  gpuError_t error = gpuGetDeviceProperties(&properties, index);
  if (error != gpuSuccess) return error;
  facts.name = properties.name;
  facts.architecture = architecture_of(properties);
  facts.multiprocessors = properties.multiProcessorCount;
  error = gpuSetDevice(index);
  if (error != gpuSuccess) return error;
  size_t free = 0;
  size_t total = 0;
  error = gpuMemGetInfo(&free, &total);
  facts.memory_bytes = total;
  facts.free_bytes = free;
  return error;
}

}  // namespace
}  // namespace llmservice::gpu

using namespace llmservice;
using namespace llmservice::gpu;

extern "C" {

ENTRY_POINT int llmservice_gpu_abi() { return kLibraryAbi; }

ENTRY_POINT void llmservice_gpu_devices(DeviceList& list) {
  int count = 0;
  gpuError_t error = gpuGetDeviceCount(&count);
  for (int i = 0; i < count && error == gpuSuccess; ++i) {
    DeviceFacts facts;
    error = describe(i, facts);
    if (error == gpuSuccess) list.devices.push_back(facts);
  }
  if (error != gpuSuccess) {
    list.devices.clear();
    list.problem = "the driver says: " + error_text(error);
  } else if (count == 0) {
    list.problem = "the driver shows no device";
  }
}

ENTRY_POINT Backend* llmservice_gpu_backend(int device, size_t graphs) {
  return new GpuBackend({.device = device, .graphs = graphs});
}

}  // extern "C"
