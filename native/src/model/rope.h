// Angles of the rotary embedding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/checkpoint.h"
#include "model/config.h"

namespace llmservice {

// Frequencies (rotary / 2), in float32 as the reference implementations compute them.
std::vector<float> rope_frequencies(const RopeConfig& rope);

// Makes what tensor rope_freqs.weight holds the scaling, where there is one: GGUF files of Llama 3.1 and
// later have worked theirs out. Throws CheckpointCorrupt when it does not hold a positive number per
// frequency.
void read_rope_divisors(const Checkpoint& checkpoint, RopeConfig& rope);

// The angles of a step's rows. Computed anew for each step, as tables of all positions would grow with the
// longest context.
class RopeAngles {
 public:
  RopeAngles(const RopeConfig& rope, int32_t max_rows);

  // From now on row i is at positions[i]; at most max_rows.
  void set(std::span<const int32_t> positions);
  // (rows, rotary / 2), times the scaling's attention factor.
  std::span<const float> cos() const { return cos_; }
  std::span<const float> sin() const { return sin_; }

 private:
  std::vector<float> frequencies_;
  float factor_;
  std::vector<float> cos_;
  std::vector<float> sin_;
};

}  // namespace llmservice
