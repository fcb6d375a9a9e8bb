// What rank 0 sends to the ranks that follow it, as bytes. Both ends are the same build on the same machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/plan.h"

namespace llmservice {

enum class MessageKind : uint8_t { kPlan, kAdapter, kUnload, kOffer, kWithdraw, kFetch, kFetched, kEndFetch };

std::vector<std::byte> encode_plan(const StepPlan& plan);
std::vector<std::byte> encode_part(const AdapterPart& part);
std::vector<std::byte> encode_unload(int32_t number);
std::vector<std::byte> encode_offer(const KvOffer& offer);
std::vector<std::byte> encode_withdraw(const std::string& ticket);
std::vector<std::byte> encode_fetch(const KvFetch& fetch);
// kFetched or kEndFetch.
std::vector<std::byte> encode_fetch_id(MessageKind kind, int32_t id);

// Of a message that is not empty.
MessageKind kind_of(std::span<const std::byte> message);
// These throw EngineFault when the bytes are not exactly one message.
StepPlan decode_plan(std::span<const std::byte> message);
AdapterPart decode_part(std::span<const std::byte> message);
int32_t decode_unload(std::span<const std::byte> message);
KvOffer decode_offer(std::span<const std::byte> message);
std::string decode_withdraw(std::span<const std::byte> message);
KvFetch decode_fetch(std::span<const std::byte> message);
int32_t decode_fetch_id(std::span<const std::byte> message);

}  // namespace llmservice
