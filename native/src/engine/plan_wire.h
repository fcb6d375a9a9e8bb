// A step plan as bytes, for the ranks that follow rank 0. Both ends are the same build on the same machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/plan.h"

namespace llmservice {

std::vector<std::byte> encode_plan(const StepPlan& plan);
// Throws EngineFault when the bytes are not exactly one plan.
StepPlan decode_plan(std::span<const std::byte> bytes);

}  // namespace llmservice
