#include "transfer/kv_offers.h"

#include <algorithm>

namespace llmservice {

void KvOffers::hear(Wire& wire, const KvParts& parts, Wire::Peer from, Wire::Bytes message) {
  const auto request = read_request(message);
  const auto wanted = request ? std::nullopt : read_wanted(message);
  if (!request && !wanted) return;
  Caller& caller = callers_[from];
  caller.heard = Clock::now();
  if (request) {
    wire.post(from, to_message(answer(*request, caller)));
  } else {
    want(parts, caller, *wanted);
  }
}

OfferAnswer KvOffers::answer(const FetchRequest& request, Caller& caller) const {
  caller.number = 0;
  caller.wanted.clear();
  caller.set = {};
  if (request.layout != layout_) {
    return {.refusal = FetchFailure::kLayoutDiffers,
            .why = "its blocks are laid out otherwise: " + layout_ + ", and here " + request.layout};
  }
  const auto found = offers_.find(request.ticket);
  if (found == offers_.end())
    return {.refusal = FetchFailure::kUnknownTicket, .why = "it has no offer of that ticket"};
  const auto& [set, snapshot_at, number] = found->second;
  if (request.blocks != std::ssize(set.blocks) || (request.snapshot && !set.state)) {
    return {.refusal = FetchFailure::kUnknownTicket,
            .why = "its offer has " + std::to_string(set.blocks.size()) + " blocks" +
                   (set.state ? " and a snapshot" : "") + ", and " + std::to_string(request.blocks) +
                   (request.snapshot ? " with a snapshot" : "") + " were asked for"};
  }
  caller.ticket = request.ticket;
  caller.number = number;
  caller.set = set;
  if (!request.snapshot) caller.set.state = std::nullopt;
  return {.snapshot_at = request.snapshot ? snapshot_at : 0};
}

void KvOffers::want(const KvParts& parts, Caller& caller, const PartsWanted& wanted) {
  const int64_t count = parts.count(caller.set);
  const bool there =
      wanted.first >= 0 && wanted.first <= count && wanted.count >= 1 && wanted.count <= count - wanted.first;
  caller.unwanted = !there || caller.wanted.size() >= kMaxWanted;
  if (!caller.unwanted) caller.wanted.push_back(wanted);
}

bool KvOffers::has_offer_of(const Caller& caller) const {
  const auto found = offers_.find(caller.ticket);
  return found != offers_.end() && found->second.number == caller.number;
}

bool KvOffers::send_part(Wire& wire, const KvParts& parts, SideCopies& copies) {
  const auto next = std::ranges::find_if(callers_, [&](const auto& each) {
    return !each.second.wanted.empty() && wire.unsent(each.first) < kMaxUnsent;
  });
  if (next == callers_.end()) return false;
  auto& [peer, caller] = *next;
  if (!has_offer_of(caller)) {
    caller.wanted.clear();
    wire.post(peer, to_message(OfferAnswer{.refusal = FetchFailure::kUnknownTicket,
                                           .why = "the offer was withdrawn meanwhile"}));
    return true;
  }
  const int64_t part = caller.wanted.front().first++;
  if (--caller.wanted.front().count == 0) caller.wanted.pop_front();
  const std::vector<Region> regions = parts.regions(caller.set, part);
  size_t bytes = 0;
  for (const Region& region : regions) bytes += region.bytes;
  std::vector<std::byte> message = part_message(part, bytes);
  copies.read(regions, content_of(message));
  seal(message);
  wire.post(peer, std::move(message));
  return true;
}

bool KvOffers::gives_up(const Wire& wire, Wire::Peer peer) {
  const Caller& caller = callers_[peer];
  const bool in_room = callers_.size() <= kMaxCallers || caller.number != 0;
  const bool in_time = Clock::now() - caller.heard < silence_;
  return !in_room || !in_time || caller.unwanted || !wire.trouble(peer).empty();
}

}  // namespace llmservice
