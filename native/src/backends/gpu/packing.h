// Stored matrices on their way to the device: read through two pinned windows, so that one is sent while the
// other fills, and laid out there by a kernel. Takes F8_E4M3 with scales per block or row, BF16, F16, F32
// that is to be held as BF16, I8 and NVFP4 with scales per row, and the block types, those of integers with
// columns in any order; throws UnsupportedQuantization or InvalidEngineConfig for all others.
#pragma once

#include <array>

#include "backends/gpu/device.h"
#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/window_readers.h"

namespace llmservice::gpu {

// Neighbouring parts that are held as one type.
struct DeviceBand {
  DeviceMatrix matrix;
  std::unique_ptr<DeviceMemory> tiles;
  std::unique_ptr<DeviceMemory> scales;  // kF8E4M3, kI8, kF4E2M1

  size_t bytes() const { return tiles->bytes() + (scales ? scales->bytes() : 0); }
};

struct DeviceWeights final : Matrix {
  std::vector<DeviceBand> bands;        // their outputs one after the other
  std::unique_ptr<DeviceMemory> order;  // (K) int32, the columns of x that theirs are; null: all, in order

  const int32_t* columns() const { return order ? reinterpret_cast<const int32_t*>(order->data()) : nullptr; }
};

// Two windows, each in pinned memory and on the device, for as long as a model is loaded: to take and free
// such memory waits for the device.
class PackingWindows {
 public:
  explicit PackingWindows(Device& device) : device_(device) {}
  ~PackingWindows();

  // The one to fill next, of `bytes`. It is free: of the two, only the other may still be on its way.
  std::span<std::byte> window(int64_t bytes);
  // Where the first `bytes` of it will be when launches that come next run.
  const std::byte* send(int64_t bytes);

 private:
  void settle();

  Device& device_;
  std::unique_ptr<PinnedMemory> pinned_;
  std::unique_ptr<DeviceMemory> memory_;
  int64_t bytes_ = 0;  // of one
  int64_t turn_ = 0;
};

class Packer {
 public:
  explicit Packer(Device& device) : device_(device), windows_(device) {}

  std::unique_ptr<DeviceWeights> pack(std::span<const MatrixPart> parts, DType keep, TileOrder order,
                                      const std::function<void(uint64_t)>& on_bytes);
  // A copy in FP8, one scale for 64 outputs and 128 columns, of a matrix of 16 bits that is on the device.
  std::unique_ptr<DeviceWeights> narrow(const DeviceMatrix& wide);

 private:
  DeviceBand pack_band(std::span<const MatrixPart> parts, DType held, TileOrder order,
                       const std::function<void(uint64_t)>& on_bytes);
  // Stored rows go as they are, the scales of their groups behind them.
  void pack_coded(std::span<const MatrixPart> parts, DeviceBand& band,
                  const std::function<void(uint64_t)>& on_bytes);
  void pack_codes(std::span<const MatrixPart> parts, DeviceBand& band,
                  const std::function<void(uint64_t)>& on_bytes);

  // Rows [row, row + count) of the part, as the device wants them, into `out`, by several readers.
  void read_rows(const MatrixPart& part, DType held, int64_t row, int64_t count, std::span<std::byte> out);

  Device& device_;
  PackingWindows windows_;
  std::array<std::vector<std::byte>, kWindowReaders> stored_;  // of each reader, where values are converted
};

}  // namespace llmservice::gpu
