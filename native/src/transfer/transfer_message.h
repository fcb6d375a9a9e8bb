// What two engines say to each other about one fetch, each read as a stranger may have written it. Whoever
// fetches asks first, then for parts, a few at a time; whoever offers answers, or refuses and says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bridge/structs.h"

namespace llmservice {

// What is fetched, and what its taker takes it for.
struct FetchRequest {
  std::string layout;
  std::string ticket;
  int64_t blocks;
  bool snapshot;
};

// Parts [first, first + count).
struct PartsWanted {
  int64_t first;
  int64_t count;
};

struct OfferAnswer {
  FetchFailure refusal = FetchFailure::kNone;
  std::string why = {};     // of a refusal
  int64_t snapshot_at = 0;  // 0: without one
};

struct ReceivedPart {
  int64_t index;
  bool intact;  // its checksum is that of its content
  std::span<const std::byte> content;
};

std::vector<std::byte> to_message(const FetchRequest& request);
std::vector<std::byte> to_message(const PartsWanted& wanted);
std::vector<std::byte> to_message(const OfferAnswer& answer);

// A part's message of `bytes` of content, which is written to content_of() and then sealed by its checksum.
std::vector<std::byte> part_message(int64_t index, size_t bytes);
std::span<std::byte> content_of(std::vector<std::byte>& part);
void seal(std::vector<std::byte>& part);

// None: it is something else.
std::optional<FetchRequest> read_request(std::span<const std::byte> message);
std::optional<PartsWanted> read_wanted(std::span<const std::byte> message);
std::optional<OfferAnswer> read_answer(std::span<const std::byte> message);
std::optional<ReceivedPart> read_part(std::span<const std::byte> message);

}  // namespace llmservice
