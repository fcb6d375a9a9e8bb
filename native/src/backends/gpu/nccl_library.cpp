#include "backends/gpu/nccl_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

// The first with communicators that never make their caller wait, so that a lost rank holds nobody up.
constexpr int kOldest = 21400;

// As NCCL_VERSION_CODE: the places of the numbers changed with 2.9.
std::string version_text(int code) {
  const int unit = code < 10'000 ? 1000 : 10'000;
  return std::to_string(code / unit) + "." + std::to_string(code % unit / 100) + "." +
         std::to_string(code % 100);
}

std::string advice() {
  return std::string(kNcclPackage) + ". LLMSERVICE_NCCL_LIBRARY may name the file of another";
}

}  // namespace

NcclLibrary open_nccl() {
  NcclLibrary library;
  library.name = kNccl;
  const char* const wish = std::getenv("LLMSERVICE_NCCL_LIBRARY");
  const std::string file = wish != nullptr && *wish != 0 ? wish : kNcclFile;
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    library.problem = std::string(kNccl) + " cannot be opened (" + dlerror() + "). " + advice();
    return library;
  }
  const auto find = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(opened, name));
    if (function == nullptr && library.problem.empty())
      library.problem = file + " has no " + name + ". " + advice();
  };
  NcclFunctions& nccl = library.functions;
  find(nccl.GetVersion, "ncclGetVersion");
  if (nccl.GetVersion == nullptr) return library;
  int version = 0;
  nccl.GetVersion(&version);
  library.name += " " + version_text(version);
  if (version < kOldest) {
    library.problem =
        file + " is " + library.name + "; " + version_text(kOldest) + " or newer is needed. " + advice();
    return library;
  }
  find(nccl.GetUniqueId, "ncclGetUniqueId");
  find(nccl.CommInitRankConfig, "ncclCommInitRankConfig");
  find(nccl.AllReduce, "ncclAllReduce");
  find(nccl.Send, "ncclSend");
  find(nccl.Recv, "ncclRecv");
  find(nccl.GroupStart, "ncclGroupStart");
  find(nccl.GroupEnd, "ncclGroupEnd");
  find(nccl.CommGetAsyncError, "ncclCommGetAsyncError");
  find(nccl.CommFinalize, "ncclCommFinalize");
  find(nccl.CommDestroy, "ncclCommDestroy");
  find(nccl.CommAbort, "ncclCommAbort");
  find(nccl.GetErrorString, "ncclGetErrorString");
  find(nccl.GetLastError, "ncclGetLastError");
  return library;
}

}  // namespace llmservice::gpu
