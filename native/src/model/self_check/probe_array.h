// Floats on the device for the self-check, with the same on the host.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ops/ops.h"

namespace llmservice {

// What a backend brings and gives back at once: less than it plans for, of any model.
constexpr int64_t kProbePiece = 1024;

class ProbeArray {
 public:
  ProbeArray(Backend& backend, std::vector<float> values)
      : backend_(backend), host_(std::move(values)), buffer_(room(backend, host_.size())) {
    const std::span<const float> all = host_;
    for (size_t first = 0; first < all.size(); first += kProbePiece) {
      const auto piece = all.subspan(first, std::min<size_t>(kProbePiece, all.size() - first));
      backend_.upload(std::as_bytes(piece), data() + first);
    }
  }

  // Room for what an operation puts out.
  ProbeArray(Backend& backend, int64_t count)
      : backend_(backend), host_(count), buffer_(room(backend, host_.size())) {}

  float* data() { return static_cast<float*>(buffer_->data()); }
  // As it was sent, for the reference to work on.
  float* host() { return host_.data(); }
  size_t size() const { return host_.size(); }

  std::vector<float> read() {
    std::vector<float> values;
    for (size_t first = 0; first < host_.size(); first += kProbePiece) {
      const auto count = static_cast<int64_t>(std::min<size_t>(kProbePiece, host_.size() - first));
      const std::span<const float> piece = backend_.to_host(data() + first, count);
      values.insert(values.end(), piece.begin(), piece.end());
    }
    return values;
  }

 private:
  static std::unique_ptr<Buffer> room(Backend& backend, size_t count) {
    return backend.allocate(std::max<size_t>(count, 1) * sizeof(float));
  }

  Backend& backend_;
  std::vector<float> host_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace llmservice
