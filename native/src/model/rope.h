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

// What scalings of the context multiply cosines and sines by.
float rope_factor(const RopeScaling& scaling);

}  // namespace llmservice
