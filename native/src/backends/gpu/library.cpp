#include "backends/gpu/library.h"

#include <cstdio>

#include "backends/gpu/backend.h"

#define ENTRY_POINT __attribute__((visibility("default")))

namespace llmservice::gpu {
namespace {

// Domain, bus, device and function as sysfs spells them. Runtimes report no function: GPUs have theirs at 0.
std::string pci_address_of(const gpuDeviceProp_t& properties) {
  char address[32];
  std::snprintf(address, sizeof address, "%04x:%02x:%02x.0", properties.pciDomainID, properties.pciBusID,
                properties.pciDeviceID);
  return address;
}

// By what needs no context: one takes some hundred MiB, and ranks on other devices ask as well.
gpuError_t describe(int index, DeviceFacts& facts) {
  gpuDeviceProp_t properties;
  const gpuError_t error = gpuGetDeviceProperties(&properties, index);
  if (error != gpuSuccess) return error;
  facts.name = properties.name;
  facts.architecture = architecture_of(properties);
  facts.pci_address = pci_address_of(properties);
  facts.memory_bytes = properties.totalGlobalMem;
  facts.multiprocessors = properties.multiProcessorCount;
  return gpuSuccess;
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
