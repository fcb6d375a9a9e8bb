// Loops over a row of logits (V), written so that the compiler can vectorize them without changing their
// result.
#pragma once

#include <cstdint>
#include <span>

namespace llmservice {

bool all_finite(std::span<const float> logits);

// Whether the logits are finite and differ: no working head gives every token the same one.
bool are_usable(std::span<const float> logits);

// Index of the largest value; of equal ones the lowest.
int32_t argmax(std::span<const float> logits);

// How many logits are at least that of `token`, its own with them: 1 for the largest.
int32_t rank_of(std::span<const float> logits, int32_t token);

// out[i] = exp((logits[i] - top) * inverse_temperature), 0 below e^-87; relative error under 3e-7.
// Needs logits[i] <= top.
void softmax_weights(std::span<const float> logits, float top, float inverse_temperature,
                     std::span<float> out);

// Sum in double, in a fixed order.
double sum(std::span<const float> values);

}  // namespace llmservice
