// Stored matrices on their way to the device: read through two pinned windows, so that one is sent while the
// other fills, and laid out there by a kernel. Takes F8_E4M3 with scales per block or row, BF16, F16, F32
// that is to be held as BF16, I8 and NVFP4 with scales per row, and the block types; throws
// UnsupportedQuantization or InvalidEngineConfig for all others.
#pragma once

#include "backends/gpu/device.h"
#include "backends/gpu/kernels/matrix.h"

namespace llmservice::gpu {

// Neighbouring parts that are held as one type.
struct DeviceBand {
  DeviceMatrix matrix;
  std::unique_ptr<DeviceMemory> tiles;
  std::unique_ptr<DeviceMemory> scales;  // kF8E4M3, kI8, kF4E2M1

  size_t bytes() const { return tiles->bytes() + (scales ? scales->bytes() : 0); }
};

struct DeviceWeights final : Matrix {
  std::vector<DeviceBand> bands;  // their outputs one after the other
};

std::unique_ptr<DeviceWeights> pack_matrix(Device& device, std::span<const MatrixPart> parts, DType keep,
                                           TileOrder order, const std::function<void(uint64_t)>& on_bytes);

}  // namespace llmservice::gpu
