// Tables of the rotary embedding.
#pragma once

#include <vector>

#include "model/config.h"

namespace llmservice {

// cos and sin, each (positions, rotary / 2), times the scaling's attention factor.
struct RopeTables {
  std::vector<float> cos;
  std::vector<float> sin;
};

// Frequencies (rotary / 2), in float32 as the reference implementations compute them.
std::vector<float> rope_frequencies(const RopeConfig& rope);
RopeTables rope_tables(const RopeConfig& rope, int32_t positions);

}  // namespace llmservice
