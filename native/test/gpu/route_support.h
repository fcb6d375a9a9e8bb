// Routing on the device: which experts rows choose.
#pragma once

#include "backends/gpu/kernels/experts.h"
#include "gpu_support.h"

namespace llmservice::testing {

struct Choice {
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

inline Choice route_on_device(const RoutingShape& shape, const std::vector<float>& logits) {
  const auto rows = static_cast<int64_t>(logits.size()) / shape.experts;
  const DeviceArray<float> in(logits), weights(rows * shape.top_k, NAN);
  const DeviceArray<int32_t> ids(rows * shape.top_k, -1);
  run(gpu::route(shape, in.data(), rows, {ids.data(), weights.data()}));
  return {ids.host(), weights.host()};
}

}  // namespace llmservice::testing
