// The border between the addon and a vendor's library (llmservice_cuda.so, llmservice_hip.so), which is
// opened only where it is asked for: the addon runs on machines without any of them. C++ objects and
// EngineError cross it, since both sides are built together, by the same rules, against the same libstdc++;
// the number below keeps a library of another build out.
#pragma once

#include <string>
#include <vector>

#include "ops/ops.h"

namespace llmservice::gpu {

// Goes up with every change of this file, of ops/collective.h, or of what ops/ops.h includes and declares.
constexpr int kLibraryAbi = 7;

struct DeviceFacts {
  std::string name;
  std::string architecture;  // sm_90 or gfx942, for example
  std::string pci_address;   // 0000:c1:00.0; partitions of a card share it
  uint64_t memory_bytes = 0;
  int multiprocessors = 0;
};

// What the driver says of its devices.
struct DeviceList {
  std::vector<DeviceFacts> devices;
  std::string problem;  // why there are none; empty when there are some
};

}  // namespace llmservice::gpu

extern "C" {
int llmservice_gpu_abi();
// Processors that the library has code for: "sm_80 sm_90a compute_100" or "gfx90a gfx942".
const char* llmservice_gpu_targets();
void llmservice_gpu_devices(llmservice::gpu::DeviceList& list);
// The caller owns the backend. `graphs`: of launches, to keep at most.
llmservice::Backend* llmservice_gpu_backend(int device, size_t graphs);
}
