// A module for Node that spoils the device of the process that loads it: a kernel writes where there is no
// memory, so that all later work there fails, as after any illegal access. It exports nothing, and no product
// of the project is built with it. The emulator, which would die of such a write, is set so that its next
// launch fails.
#include <cstdio>

#include "backends/gpu/device.h"

#ifdef LLMSERVICE_GPU_HOST
#include <dlfcn.h>
#else
namespace {

__global__ void write_nowhere(uint32_t* address) {
  llmservice::gpu::wait_for_previous();
  *address = 1;
}

}  // namespace
#endif

// Called by Node when it has loaded the module (napi_register_module_v1 of Node-API).
extern "C" __attribute__((visibility("default"))) void* napi_register_module_v1(void*, void* exports) {
  using namespace llmservice::gpu;
#ifdef LLMSERVICE_GPU_HOST
  using Emulated = decltype(&emulated_device);
  void* const library = dlopen("llmservice_emulator.so", RTLD_NOW | RTLD_NOLOAD);
  void* const found = library == nullptr ? nullptr : dlsym(library, "_ZN10llmservice3gpu15emulated_deviceEv");
  if (found == nullptr)
    std::fputs("device_fault: this process has no emulated device\n", stderr);
  else
    reinterpret_cast<Emulated>(found)().launches_until_fault = 1;
#else
  try {
    Device device(0);
    device.run(
        make_launch("write_nowhere", write_nowhere, {}, 1, 0, reinterpret_cast<uint32_t*>(uintptr_t{4096})));
    device.finish();
  } catch (const std::exception&) {  // as it is meant to be: the engine meets it in its own next call
  }
#endif
  return exports;
}
