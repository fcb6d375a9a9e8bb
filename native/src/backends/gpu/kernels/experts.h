// Mixtures of experts: routing, and the experts' products grouped by expert.
#pragma once

#include <span>

#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/launch.h"

namespace llmservice::gpu {

Launch route(const RoutingShape&, const float* logits, int64_t rows, const Routing&);

// The routed experts of one layer: arrays (experts) of matrices on the device, all of one shape and type.
struct DeviceExperts {
  const DeviceMatrix* gate_up;
  const DeviceMatrix* down;
  DeviceMatrix gate_up_shape;  // the first of each, for the host
  DeviceMatrix down_shape;
};

// Bytes of workspace that run_experts() needs for `rows` rows of the step.
int64_t experts_workspace(const DeviceExperts&, const RoutingShape&, int64_t rows);

Launches run_experts(const DeviceExperts&, const RoutingShape&, const Routing&, const float* x, int64_t rows,
                     std::byte* workspace, float* out);

}  // namespace llmservice::gpu
