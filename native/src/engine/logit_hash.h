// One number that stands for the bits of a row of logits, so that tests can compare whole rows of many runs.
#pragma once

#include <cstdint>
#include <span>

namespace llmservice {

// FNV-1a over the 32-bit words; -0 and 0 differ.
uint64_t logit_hash(std::span<const float> logits);

}  // namespace llmservice
