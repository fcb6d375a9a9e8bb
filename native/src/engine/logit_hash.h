// One number that stands for the bits of a row of logits: to see that a row is the one before it, and for
// tests to compare whole rows of many runs.
#pragma once

#include <cstdint>
#include <span>

namespace llmservice {

// A polynomial of the 32-bit words in each of 16 lanes, so that it vectorizes; rows that differ in one value
// have different hashes, and -0 differs from 0.
uint64_t logit_hash(std::span<const float> logits);

}  // namespace llmservice
