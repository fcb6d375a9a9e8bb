#include "transfer/transfer_message.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "parallel/node_message.h"

namespace llmservice {
namespace {

using nlohmann::json;

// JSON begins otherwise.
constexpr uint32_t kPartMark = 0x3156'4b01;
constexpr size_t kLongestText = 4096;

struct PartHead {
  uint32_t mark;
  uint32_t index;
  uint64_t checksum;
};

// Of its content in its place.
uint64_t checksum_of(uint32_t index, std::span<const std::byte> content) {
  return XXH3_64bits_withSeed(content.data(), content.size(), index);
}

// `read` throws json::exception at what it does not find.
template <class Read>
auto read_json(std::span<const std::byte> message, const Read& read)
    -> std::optional<decltype(read(json()))> {
  try {
    const json said = from_message(message);
    if (!said.is_object()) return std::nullopt;
    return read(said);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string text_at(const json& said, const char* name) {
  return said.at(name).get<std::string>().substr(0, kLongestText);
}

// A refusal that this build does not know is one all the same.
FetchFailure failure_named(const std::string& name) {
  const auto& names = kNames<FetchFailure>;
  const auto found = std::ranges::find_if(names, [&](const char* each) { return name == each; });
  if (found == names.end() || found == names.begin()) return FetchFailure::kUnknownTicket;
  return static_cast<FetchFailure>(found - names.begin());
}

}  // namespace

std::vector<std::byte> to_message(const FetchRequest& request) {
  return to_message(json{{"layout", request.layout},
                         {"ticket", request.ticket},
                         {"blocks", request.blocks},
                         {"snapshot", request.snapshot}});
}

std::vector<std::byte> to_message(const PartsWanted& wanted) {
  return to_message(json{{"first", wanted.first}, {"count", wanted.count}});
}

std::vector<std::byte> to_message(const OfferAnswer& answer) {
  if (answer.refusal == FetchFailure::kNone) return to_message(json{{"snapshotAt", answer.snapshot_at}});
  return to_message(json{{"refused", name_of(answer.refusal)}, {"why", answer.why}});
}

std::vector<std::byte> part_message(int64_t index, size_t bytes) {
  std::vector<std::byte> part(sizeof(PartHead) + bytes);
  const PartHead head{.mark = kPartMark, .index = static_cast<uint32_t>(index), .checksum = 0};
  std::memcpy(part.data(), &head, sizeof(head));
  return part;
}

std::span<std::byte> content_of(std::vector<std::byte>& part) {
  return std::span(part).subspan(sizeof(PartHead));
}

void seal(std::vector<std::byte>& part) {
  PartHead head;
  std::memcpy(&head, part.data(), sizeof(head));
  head.checksum = checksum_of(head.index, content_of(part));
  std::memcpy(part.data(), &head, sizeof(head));
}

std::optional<FetchRequest> read_request(std::span<const std::byte> message) {
  return read_json(message, [](const json& said) {
    return FetchRequest{.layout = text_at(said, "layout"),
                        .ticket = text_at(said, "ticket"),
                        .blocks = said.at("blocks").get<int64_t>(),
                        .snapshot = said.at("snapshot").get<bool>()};
  });
}

std::optional<PartsWanted> read_wanted(std::span<const std::byte> message) {
  return read_json(message, [](const json& said) {
    return PartsWanted{said.at("first").get<int64_t>(), said.at("count").get<int64_t>()};
  });
}

std::optional<OfferAnswer> read_answer(std::span<const std::byte> message) {
  return read_json(message, [](const json& said) {
    if (said.contains("refused"))
      return OfferAnswer{.refusal = failure_named(text_at(said, "refused")), .why = text_at(said, "why")};
    return OfferAnswer{.snapshot_at = said.at("snapshotAt").get<int64_t>()};
  });
}

std::optional<ReceivedPart> read_part(std::span<const std::byte> message) {
  PartHead head;
  if (message.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, message.data(), sizeof(head));
  if (head.mark != kPartMark) return std::nullopt;
  const auto content = message.subspan(sizeof(head));
  return ReceivedPart{
      .index = head.index, .intact = checksum_of(head.index, content) == head.checksum, .content = content};
}

}  // namespace llmservice
