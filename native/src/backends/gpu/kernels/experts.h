// Mixtures of experts: routing, and the experts' products grouped by expert.
#pragma once

#include <optional>
#include <span>

#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/launch.h"

namespace llmservice::gpu {

constexpr int32_t kMaxExperts = 512;
constexpr int32_t kMaxChosen = 16;  // top_k

// At most kMaxExperts, of which top_k is at most kMaxChosen.
Launch route(const RoutingShape&, const float* logits, int64_t rows, const Routing&);
// As Backend::route_by_sigmoid(); logits stay. Groups are of two experts at least, unless all are chosen.
Launch route_by_sigmoid(const RoutingShape&, const SigmoidRouting&, const float* correction,
                        const float* logits, int64_t rows, const Routing&);

// Of experts' matrices, on every device: few tokens to an expert leave them bound by memory.
constexpr TileOrder kExpertOrder = TileOrder::kFragments;

// The routed experts of one layer: arrays (experts) of matrices on the device, all of one shape and type, in
// kExpertOrder.
struct DeviceExperts {
  const DeviceMatrix* gate_up;
  const DeviceMatrix* down;
  DeviceMatrix gate_up_shape;  // the first of each, for the host
  DeviceMatrix down_shape;
  const float* gate_up_bias = nullptr;  // (experts, 2F); null: none
  const float* down_bias = nullptr;     // (experts, D); null: none
  std::optional<ClampedSwiglu> clamped = std::nullopt;
  bool gelu = false;  // as Experts has it, without biases

  bool plain() const { return gate_up_bias == nullptr && !clamped; }
};

// Bytes of workspace that run_experts() needs for `rows` rows of the step: bounded, as it takes so many rows
// at once.
int64_t experts_workspace(const DeviceExperts&, const RoutingShape&, int64_t rows);

// A row's bits are those of matmul() with each of its experts, of silu_mul() or as Experts has it between,
// and of the weighted sum in ascending order of experts. `workspace` lies on 256 bytes.
Launches run_experts(const DeviceExperts&, const RoutingShape&, const Routing&, const float* x, int64_t rows,
                     std::byte* workspace, float* out);

}  // namespace llmservice::gpu
