// What nodes say while they meet: JSON objects, read as a stranger may have written them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace llmservice {

std::vector<std::byte> to_message(const nlohmann::json& message);
// An object, or null of whatever else it is: no object, too long, or deeper than any plan.
nlohmann::json from_message(std::span<const std::byte> message);

// A node's address in a message, which is hexadecimal there.
std::string address_text(std::span<const std::byte> address);
// Throws nlohmann::json::exception where the member is no text. Empty: it is no address.
std::vector<std::byte> address_of(const nlohmann::json& text);

}  // namespace llmservice
