// A checkpoint of random weights, as config.json and one safetensors file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "model_shape.h"

namespace llmservice::bench {

enum class WeightFormat : uint8_t { kBf16, kFp8 };

// Throws std::runtime_error when the disk has no room.
void write_random_checkpoint(const std::filesystem::path& dir, const ModelShape& shape, WeightFormat format);

// One in a temporary folder that goes with the object.
class RandomCheckpoint {
 public:
  RandomCheckpoint(const ModelShape& shape, WeightFormat format);
  ~RandomCheckpoint();
  RandomCheckpoint(const RandomCheckpoint&) = delete;
  RandomCheckpoint& operator=(const RandomCheckpoint&) = delete;

  const std::filesystem::path& dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
};

}  // namespace llmservice::bench
