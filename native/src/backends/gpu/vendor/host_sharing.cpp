// Memory that several processes see, as the runtimes of vendors give it: files in memory without a name,
// which a process opens through the one that made them. The kernel frees them with the last mapping.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "backends/gpu/vendor/host_runtime.h"
#include "backends/gpu/vendor/watch.h"

namespace llmservice::gpu {
namespace {

struct Shared {
  int descriptor;  // -1: another process's
  size_t bytes;
};

std::mutex changing;
std::map<void*, Shared> mappings;

void* map(int descriptor, size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

gpuError_t unmap(void* memory) {
  const std::scoped_lock lock(changing);
  const auto found = mappings.find(memory);
  if (found == mappings.end()) return gpuErrorInvalidValue;
  munmap(memory, found->second.bytes);
  watch::memory_ends(memory);
  if (found->second.descriptor >= 0) {
    close(found->second.descriptor);
    give_back_emulated(found->second.bytes);
  }
  mappings.erase(found);
  return gpuSuccess;
}

}  // namespace

// Not zeroed, as gpuMalloc().
gpuError_t gpuMallocForRanks(void** memory, size_t bytes) {
  const int descriptor = memfd_create("ranks", MFD_CLOEXEC);
  if (descriptor < 0) return gpuErrorMemoryAllocation;
  const bool made = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 && take_emulated(bytes);
  *memory = made ? map(descriptor, bytes) : nullptr;
  if (*memory == nullptr) {
    if (made) give_back_emulated(bytes);
    close(descriptor);
    return gpuErrorMemoryAllocation;
  }
  std::memset(*memory, 0xff, bytes);
  const std::scoped_lock lock(changing);
  mappings[*memory] = {.descriptor = descriptor, .bytes = bytes};
  watch::memory_begins(*memory, bytes);
  return gpuSuccess;
}

gpuError_t gpuFreeForRanks(void* memory) { return unmap(memory); }

gpuError_t gpuIpcGetMemHandle(gpuIpcMemHandle_t* handle, void* memory) {
  const std::scoped_lock lock(changing);
  const auto found = mappings.find(memory);
  if (found == mappings.end() || found->second.descriptor < 0) return gpuErrorInvalidValue;
  *handle = {.pid = getpid(), .descriptor = found->second.descriptor, .bytes = found->second.bytes};
  return gpuSuccess;
}

gpuError_t gpuIpcOpenMemHandle(void** memory, gpuIpcMemHandle_t handle, unsigned) {
  if (!emulated_device().peers) return gpuErrorInvalidValue;
  const std::string path = "/proc/" + std::to_string(handle.pid) + "/fd/" + std::to_string(handle.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return gpuErrorInvalidValue;
  *memory = map(descriptor, handle.bytes);
  close(descriptor);
  if (*memory == nullptr) return gpuErrorInvalidValue;
  const std::scoped_lock lock(changing);
  mappings[*memory] = {.descriptor = -1, .bytes = handle.bytes};
  return gpuSuccess;
}

gpuError_t gpuIpcCloseMemHandle(void* memory) { return unmap(memory); }

gpuError_t gpuDeviceCanAccessPeer(int* can, int, int) {
  *can = emulated_device().peers ? 1 : 0;
  return gpuSuccess;
}

}  // namespace llmservice::gpu
