#include "parallel/wire_loader.h"

#include <dlfcn.h>

#include <filesystem>

#include "ops/error.h"

namespace llmservice {
namespace {

std::string nodes_library_path() {
  Dl_info own;
  dladdr(reinterpret_cast<const void*>(&nodes_library_path), &own);
  return (std::filesystem::absolute(own.dli_fname).parent_path() / "llmservice_nodes.so").string();
}

[[noreturn]] void refuse_nodes(const std::string& why) {
  throw EngineError(FailureReason::kEngineFault,
                    "This engine cannot reach other nodes or engines: " + why +
                        ". Build it where UCX is (Debian: libucx-dev) and install libucx0, or use one node, "
                        "without disaggregation.");
}

template <class Function>
Function* find_in(void* library, const std::string& path, const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) refuse_nodes(path + " has no " + name);
  return function;
}

}  // namespace

std::unique_ptr<Wire> open_wire() {
  const std::string path = nodes_library_path();
  if (!std::filesystem::exists(path)) refuse_nodes("this build has no " + path);
  // It stays open: UCX has threads of its own.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse_nodes(dlerror());
  const uint32_t abi = find_in<decltype(llmservice_wire_abi)>(library, path, "llmservice_wire_abi")();
  if (abi != kWireAbi) refuse_nodes(path + " is of another build");
  try {
    return std::unique_ptr<Wire>(
        find_in<decltype(llmservice_open_wire)>(library, path, "llmservice_open_wire")());
  } catch (const std::runtime_error& error) {
    refuse_nodes(error.what());
  }
}

}  // namespace llmservice
