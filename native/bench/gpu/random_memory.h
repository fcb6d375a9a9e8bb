// Device memory full of random values, so that the device draws the power that real ones cost it.
#pragma once

#include <span>

#include "backends/gpu/device.h"

namespace llmservice::bench {

enum class Values : uint8_t {
  kF32,       // in ±[0.125, 0.25)
  kBF16,      // in ±[0.008, 0.03)
  kF8E4M3,    // below 2, no NaN
  kF32Scale,  // near 0.01
};

class RandomMemory {
 public:
  RandomMemory(gpu::Device& device, Values values, int64_t bytes);

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(memory_.data());
  }

 private:
  gpu::DeviceMemory memory_;
};

// A copy of a list.
template <class T>
class DeviceList {
 public:
  DeviceList(gpu::Device& device, std::span<const T> values) : memory_(device, values.size_bytes()) {
    device.upload(std::as_bytes(values), memory_.data());
  }
  const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }

 private:
  gpu::DeviceMemory memory_;
};

}  // namespace llmservice::bench
