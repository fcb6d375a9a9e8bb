// Kernels that this branch lacks.
#include "backends/gpu/kernels/experts.h"

namespace llmservice::gpu {
namespace {

[[noreturn]] void not_there_yet(const char* what) {
  throw EngineError("UnsupportedArchitecture", std::string("GPUs do not run ") + what + " yet.");
}
constexpr const char* kExperts = "mixtures of experts";

}  // namespace

Launch route(const RoutingShape&, const float*, int64_t, const Routing&) { not_there_yet(kExperts); }
int64_t experts_workspace(const DeviceExperts&, const RoutingShape&, int64_t) { return 0; }
Launches run_experts(const DeviceExperts&, const RoutingShape&, const Routing&, const float*, int64_t,
                     std::byte*, float*) {
  not_there_yet(kExperts);
}

}  // namespace llmservice::gpu
