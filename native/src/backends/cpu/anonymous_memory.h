// Zeroed, page-aligned anonymous memory that asks for huge pages: packed weights, caches, states, scratch.
#pragma once

#include <cstddef>

#include "ops/ops.h"

namespace llmservice::cpu {

class AnonymousMemory final : public Buffer {
 public:
  AnonymousMemory() = default;
  // Throws EngineError (InsufficientMemory) if the machine refuses.
  explicit AnonymousMemory(size_t bytes);
  ~AnonymousMemory() override;
  AnonymousMemory(AnonymousMemory&& other) noexcept;
  AnonymousMemory& operator=(AnonymousMemory&& other) noexcept;

  void* data() override { return data_; }
  size_t bytes() const override { return bytes_; }
  std::byte* at(size_t offset) const { return static_cast<std::byte*>(data_) + offset; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace llmservice::cpu
