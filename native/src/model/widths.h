// The widest rows that the layers of a model work in, for its workspace.
#pragma once

#include <cstdint>

#include "model/config.h"

namespace llmservice {

// Of the fused projections.
int64_t widest_projection(const ModelConfig& config);
int64_t widest_head(const ModelConfig& config);
// Of the inputs of output projections.
int64_t widest_mixed(const ModelConfig& config);

}  // namespace llmservice
