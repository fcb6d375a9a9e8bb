#include "transfer/kv_offers.h"

#include <algorithm>

namespace llmservice {

void KvOffers::hear(Wire& wire, const KvParts& parts, SideCopies& copies, Wire::Peer from,
                    Wire::Bytes message) {
  const auto request = read_request(message);
  const auto wanted = request ? std::nullopt : read_wanted(message);
  if (!request && !wanted) return;
  Caller& caller = callers_[from];
  caller.heard = Clock::now();
  if (request) {
    wire.post(from, to_message(answer(*request, caller)));
  } else {
    send(wire, parts, copies, from, *wanted);
  }
}

OfferAnswer KvOffers::answer(const FetchRequest& request, Caller& caller) const {
  caller.number = 0;
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
  caller.takes_snapshot = request.snapshot;
  return {.snapshot_at = request.snapshot ? snapshot_at : 0};
}

void KvOffers::send(Wire& wire, const KvParts& parts, SideCopies& copies, Wire::Peer to,
                    const PartsWanted& wanted) {
  Caller& caller = callers_[to];
  const auto found = offers_.find(caller.ticket);
  if (found == offers_.end() || found->second.number != caller.number) {
    return wire.post(to, to_message(OfferAnswer{.refusal = FetchFailure::kUnknownTicket,
                                                .why = "the offer was withdrawn meanwhile"}));
  }
  KvSet set = found->second.set;
  if (!caller.takes_snapshot) set.state = std::nullopt;
  const int64_t count = parts.count(set);
  const bool there =
      wanted.first >= 0 && wanted.first <= count && wanted.count >= 0 && wanted.count <= count - wanted.first;
  for (int64_t part = wanted.first; there && part < wanted.first + wanted.count; ++part) {
    if (wire.unsent(to) > kMaxUnsent) break;
    const std::vector<Region> regions = parts.regions(set, part);
    size_t bytes = 0;
    for (const Region& region : regions) bytes += region.bytes;
    std::vector<std::byte> message = part_message(part, bytes);
    copies.read(regions, content_of(message));
    seal(message);
    wire.post(to, std::move(message));
  }
  caller.unwanted = !there || wire.unsent(to) > kMaxUnsent;
}

bool KvOffers::gives_up(const Wire& wire, Wire::Peer peer) {
  const Caller& caller = callers_[peer];
  const bool in_room = callers_.size() <= kMaxCallers || caller.number != 0;
  const bool in_time = Clock::now() - caller.heard < silence_;
  if (in_room && in_time && !caller.unwanted && wire.trouble(peer).empty()) return false;
  callers_.erase(peer);
  return true;
}

}  // namespace llmservice
