// What rank 0 sends to the ranks that follow it, as bytes. Both ends are the same build on the same machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/plan.h"

namespace llmservice {

enum class MessageKind : uint8_t { kPlan, kAdapter, kUnload };

std::vector<std::byte> encode_plan(const StepPlan& plan);
std::vector<std::byte> encode_part(const AdapterPart& part);
std::vector<std::byte> encode_unload(int32_t number);

// Of a message that is not empty.
MessageKind kind_of(std::span<const std::byte> message);
// These throw EngineFault when the bytes are not exactly one message.
StepPlan decode_plan(std::span<const std::byte> message);
AdapterPart decode_part(std::span<const std::byte> message);
int32_t decode_unload(std::span<const std::byte> message);

}  // namespace llmservice
