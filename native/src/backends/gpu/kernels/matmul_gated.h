// The product with [gate F | up F] of a prompt's rows, silu_mul() of it and quantize() for the product that
// reads it, in one launch. Bits are those of three.
#pragma once

#include <optional>

#include "backends/gpu/kernels/matmul.h"

namespace llmservice::gpu {

struct GatedMultiply {
  Activations from;  // what it reads, as it reads it
  Activations to;    // where activations_of() has them for the product behind it
  Launch launch;
  int64_t bytes;  // of the workspace, `to` first
};

// With `down` behind it. Of FP8 matrices with a scale for each tile, on Hopper; else none.
std::optional<GatedMultiply> multiply_gated(const DeviceMatrix& gate_up, const DeviceMatrix& down,
                                            int64_t rows, std::byte* workspace);

}  // namespace llmservice::gpu
