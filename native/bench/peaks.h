// Loops of multiply-adds on registers alone: what one core gives at most. For machines of the avx512bf16
// family.
#pragma once

#include <cstdint>

namespace llmservice::bench {

// Multiply-adds of one step: 16 independent sums of 16 lanes, or of 16 lanes of pairs.
constexpr int64_t kFloat32Adds = 16 * 16;
constexpr int64_t kBf16Adds = 16 * 16 * 2;

// Return a sum, so that the compiler keeps the loop.
float run_float32_adds(int64_t steps);
float run_bf16_adds(int64_t steps);

}  // namespace llmservice::bench
