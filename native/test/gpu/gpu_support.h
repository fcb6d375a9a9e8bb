// For tests of kernels, on a device or its emulator: arrays on the device, and launches run to their end.
#pragma once

#include "backends/gpu/device.h"
#include "ops_support.h"

namespace llmservice::testing {

inline gpu::Device& device() {
  static gpu::Device only(0);
  return only;
}

// A copy of host values in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::span<const T> values)
      : size_(values.size()), data_(static_cast<T*>(device().allocate(values.size_bytes() + 1))) {
    device().upload(std::as_bytes(values), data_);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(std::span<const T>(values)) {}
  DeviceArray(size_t size, T value) : DeviceArray(std::vector<T>(size, value)) {}
  ~DeviceArray() { device().release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(size_);
    device().download(data_, std::as_writable_bytes(std::span<T>(values)));
    return values;
  }

 private:
  size_t size_;
  T* data_;
};

inline void run(const gpu::Launch& launch) {
  device().run(launch);
  device().finish();
}

}  // namespace llmservice::testing
