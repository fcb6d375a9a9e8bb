#include "backends/gpu_loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

namespace llmservice {
namespace {

// Graphs to keep: steps of up to 256 rows repeat by their number of sequences and rows and the power of two
// of their longest sequence. A warm-up (runtime/src/warmup) leaves 192 at most, and the rest to what comes.
constexpr size_t kGraphs = 256;

std::string library_path(const std::string& vendor) {
  Dl_info own;
  dladdr(reinterpret_cast<const void*>(&library_path), &own);
  return (std::filesystem::absolute(own.dli_fname).parent_path() / ("llmservice_" + vendor + ".so")).string();
}

struct Library {
  decltype(&llmservice_gpu_targets) targets = nullptr;
  decltype(&llmservice_gpu_devices) devices = nullptr;
  decltype(&llmservice_gpu_backend) backend = nullptr;
  std::string problem;  // why it is not to be had
};

// It stays open: its code runs until the process ends.
Library open_library(const std::string& vendor) {
  const std::string path = library_path(vendor);
  Library library;
  if (!std::filesystem::exists(path)) {
    library.problem = "this build has no " + path;
    return library;
  }
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    library.problem = dlerror();
    return library;
  }
  const auto find = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(opened, name));
    if (function == nullptr) library.problem = path + " has no " + name;
  };
  decltype(&llmservice_gpu_abi) abi = nullptr;
  find(abi, "llmservice_gpu_abi");
  if (abi != nullptr && abi() != gpu::kLibraryAbi) {
    library.problem = path + " is of another build: its interface has number " + std::to_string(abi()) +
                      ", expected " + std::to_string(gpu::kLibraryAbi);
  }
  if (!library.problem.empty()) return library;
  find(library.targets, "llmservice_gpu_targets");
  find(library.devices, "llmservice_gpu_devices");
  find(library.backend, "llmservice_gpu_backend");
  return library;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// For tests: ranks beyond the last device take the first ones again.
bool ranks_share_devices() {
  const char* const wish = std::getenv("LLMSERVICE_RANKS_SHARE_DEVICES");
  return wish != nullptr && std::string(wish) == "1";
}

// sm_80, sm_90a and compute_100 as 80, 90 and 100.
int version_of(const std::string& target) { return std::atoi(target.c_str() + target.find('_') + 1); }

gpu::DeviceList list_devices(const Library& library) {
  gpu::DeviceList list;
  if (!library.problem.empty()) {
    list.problem = library.problem;
    return list;
  }
  library.devices(list);
  return list;
}

}  // namespace

bool is_gpu(const std::string& device) { return device != "cpu"; }

bool has_code_for(const std::string& targets, const std::string& architecture) {
  return std::ranges::any_of(words_of(targets), [&](const std::string& target) {
    if (target == architecture || target == architecture + "a") return true;
    if (!architecture.starts_with("sm_")) return false;
    const int version = version_of(architecture);
    if (target.starts_with("compute_")) return version >= version_of(target);
    return target.starts_with("sm_") && !target.ends_with("a") && version / 10 == version_of(target) / 10 &&
           version >= version_of(target);
  });
}

gpu::DeviceList gpu_devices(const std::string& vendor) { return list_devices(open_library(vendor)); }

std::unique_ptr<Backend> make_gpu_backend(const std::string& vendor, int index) {
  const auto refuse = [&](const std::string& why) {
    throw EngineError(FailureReason::kDeviceUnavailable,
                      "No " + vendor + " device can be used: " + why + ".");
  };
  const Library library = open_library(vendor);
  const gpu::DeviceList list = list_devices(library);
  if (list.devices.empty()) refuse(list.problem);
  const auto count = static_cast<int>(list.devices.size());
  if (index >= count && ranks_share_devices()) index %= count;
  if (index >= count) {
    refuse("device " + std::to_string(index) + " is wanted, and there are " + std::to_string(count) +
           "; each rank of spec.parallelism.tensor takes one of its own");
  }
  const gpu::DeviceFacts& device = list.devices[index];
  if (!has_code_for(library.targets(), device.architecture)) {
    refuse(device.name + " is " + device.architecture + ", and this build has code for " + library.targets());
  }
  return std::unique_ptr<Backend>(library.backend(index, kGraphs));
}

}  // namespace llmservice
