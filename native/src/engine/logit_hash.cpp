#include "engine/logit_hash.h"

#include <bit>

namespace llmservice {

uint64_t logit_hash(std::span<const float> logits) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const float logit : logits) {
    hash = (hash ^ std::bit_cast<uint32_t>(logit)) * 0x100000001b3;
    hash ^= hash >> 32;  // brings high bits back down, where the next word meets them
  }
  return hash;
}

}  // namespace llmservice
