#include "parallel/node_message.h"

#include <charconv>

namespace llmservice {
namespace {

using nlohmann::json;

// All nodes' names and addresses have a tenth of it; a node's address some hundred bytes.
constexpr size_t kLongest = size_t{1} << 20;
constexpr size_t kLongestAddress = size_t{16} << 10;
// Whoever writes JSON of objects out calls himself for each level.
constexpr int kDeepest = 16;

constexpr char kDigits[] = "0123456789abcdef";

}  // namespace

std::vector<std::byte> to_message(const json& message) {
  const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

json from_message(std::span<const std::byte> message) {
  if (message.size() > kLongest) return {};
  const auto* const first = reinterpret_cast<const char*>(message.data());
  bool deep = false;
  const auto look = [&](int depth, json::parse_event_t, const json&) { return !(deep |= depth > kDeepest); };
  json object = json::parse(first, first + message.size(), look, false);
  return object.is_object() && !deep ? object : json();
}

std::string address_text(std::span<const std::byte> address) {
  std::string text;
  for (const std::byte each : address) {
    text += kDigits[std::to_integer<unsigned>(each >> 4)];
    text += kDigits[std::to_integer<unsigned>(each & std::byte{15})];
  }
  return text;
}

std::vector<std::byte> address_of(const json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  if (digits.size() % 2 != 0 || digits.size() / 2 > kLongestAddress) return {};
  std::vector<std::byte> address;
  for (size_t i = 0; i < digits.size(); i += 2) {
    uint8_t value = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(end - 2, end, value, 16).ptr != end) return {};
    address.push_back(std::byte{value});
  }
  return address;
}

}  // namespace llmservice
