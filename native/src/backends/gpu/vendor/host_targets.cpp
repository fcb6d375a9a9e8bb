// What targets.cpp of a vendor's library says, of the emulator.
#include "backends/gpu/vendor/vendor.h"

extern "C" __attribute__((visibility("default"))) const char* llmservice_gpu_targets() {
  static const std::string name = llmservice::gpu::architecture_of({});
  return name.c_str();
}
