// A checkpoint of random weights: config.json and one safetensors file, as other engines read it, and
// description.json, as this engine gets it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "model/checkpoint_source.h"
#include "model_shape.h"

namespace llmservice::bench {

enum class WeightFormat : uint8_t { kBf16, kFp8 };

// What description.json says in `dir`.
std::string description_of(const std::filesystem::path& dir, const ModelShape& shape, WeightFormat format);

// Throws std::runtime_error when the disk has no room.
void write_random_checkpoint(const std::filesystem::path& dir, const ModelShape& shape, WeightFormat format);

// Of the folder's description.json. Throws std::runtime_error where there is none.
std::shared_ptr<const CheckpointSource> read_description(const std::filesystem::path& dir);

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
