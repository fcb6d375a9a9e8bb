// A checkpoint of Qwen3-0.6B's shape with random weights, written to a temporary folder that goes with the
// object.
#pragma once

#include <cstdint>
#include <filesystem>

namespace llmservice::bench {

enum class WeightFormat : uint8_t { kBf16, kFp8 };

class RandomCheckpoint {
 public:
  explicit RandomCheckpoint(WeightFormat format);
  ~RandomCheckpoint();
  RandomCheckpoint(const RandomCheckpoint&) = delete;
  RandomCheckpoint& operator=(const RandomCheckpoint&) = delete;

  const std::filesystem::path& dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
};

}  // namespace llmservice::bench
