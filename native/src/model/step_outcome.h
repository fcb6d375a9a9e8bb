// How what a step leaves to be processed lies in memory, in floats: a fault of each row, then samples.
#pragma once

#include <cstdint>

#include "ops/sample_request.h"

namespace llmservice {

// Faults, up to where samples can begin.
constexpr int64_t faults_floats(int64_t rows) { return (rows + 15) / 16 * 16; }

constexpr int64_t outcome_floats(int64_t rows, int64_t samples) {
  return faults_floats(rows) + samples * static_cast<int64_t>(sizeof(SampleResult) / sizeof(float));
}

}  // namespace llmservice
