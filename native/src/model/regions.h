// One allocation in regions of floats, such as all that a step works in.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ops/ops.h"

namespace llmservice {

class Regions {
 public:
  // `place` points to count · width floats, on 64 bytes, once allocate() returns.
  void reserve(float*& place, int64_t count, int64_t width) {
    places_.emplace_back(&place, floats_);
    floats_ += static_cast<size_t>((count * width + 15) / 16 * 16);
  }

  std::unique_ptr<Buffer> allocate(Backend& backend) const {
    std::unique_ptr<Buffer> memory = backend.allocate(floats_ * sizeof(float));
    for (const auto& [place, offset] : places_) *place = static_cast<float*>(memory->data()) + offset;
    return memory;
  }

 private:
  std::vector<std::pair<float**, size_t>> places_;
  size_t floats_ = 0;
};

}  // namespace llmservice
