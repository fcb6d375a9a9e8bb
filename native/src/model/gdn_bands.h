// Which stored rows make up a rank's input projections of a Gated DeltaNet layer.
#pragma once

#include "model/config.h"
#include "model/weights.h"

namespace llmservice {

struct GdnBands {
  std::vector<Band> qkvz;  // [q | k | v | z]
  std::vector<Band> ba;    // [b | a]
};

// From in_proj_{qkv,z,b,a}, or from in_proj_{qkvz,ba} where the config says that they are interleaved; with
// `qkvz_apart`, as GGUF files have it, from in_proj_{qkv,z,ba}, of which ba alone is.
GdnBands gdn_bands(const ModelConfig& config, Shard shard, const std::string& prefix,
                   bool qkvz_apart = false);

}  // namespace llmservice
