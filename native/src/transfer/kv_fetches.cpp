#include "transfer/kv_fetches.h"

#include <algorithm>
#include <utility>

#include "ops/error.h"

namespace llmservice {

void KvFetches::add(int32_t id, const OfferPlace& from, KvSet set) {
  fetches_[id] = {.from = from, .set = std::move(set)};
}

FetchState KvFetches::state(int32_t id) const {
  const auto found = fetches_.find(id);
  if (found != fetches_.end()) return found->second.state;
  throw EngineError(FailureReason::kEngineFault, "There is no fetch " + std::to_string(id) + ".");
}

void KvFetches::remove(int32_t id) {
  const auto found = fetches_.find(id);
  if (found == fetches_.end()) return;
  if (found->second.peer) leaving_.push_back(*found->second.peer);
  fetches_.erase(found);
}

std::vector<std::pair<int32_t, OfferPlace>> KvFetches::to_connect() {
  std::vector<std::pair<int32_t, OfferPlace>> found;
  for (auto& [id, fetch] : fetches_) {
    if (fetch.connecting) continue;
    fetch.connecting = true;
    found.emplace_back(id, fetch.from);
  }
  return found;
}

void KvFetches::connected(Wire& wire, int32_t id, Wire::Peer peer) {
  const auto found = fetches_.find(id);
  if (found == fetches_.end()) return leaving_.push_back(peer);
  Fetch& fetch = found->second;
  fetch.peer = peer;
  fetch.heard = Clock::now();
  wire.post(peer, to_message(FetchRequest{.layout = layout_,
                                          .ticket = fetch.from.ticket,
                                          .blocks = std::ssize(fetch.set.blocks),
                                          .snapshot = fetch.set.state.has_value()}));
}

void KvFetches::fail(int32_t id, FetchFailure failure, const std::string& message) {
  const auto found = fetches_.find(id);
  if (found != fetches_.end()) end(found->second, failure, message);
}

void KvFetches::end(Fetch& fetch, FetchFailure failure, const std::string& message) {
  if (fetch.state.ended) return;
  fetch.state.ended = true;
  fetch.state.failure = failure;
  if (failure != FetchFailure::kNone) fetch.state.message = fetch.place() + ": " + message;
}

bool KvFetches::has(Wire::Peer peer) const {
  return std::ranges::any_of(fetches_, [&](const auto& each) { return each.second.peer == peer; });
}

void KvFetches::hear(Wire& wire, const KvParts& parts, SideCopies& copies, Wire::Peer from,
                     Wire::Bytes message) {
  const auto found =
      std::ranges::find_if(fetches_, [&](const auto& each) { return each.second.peer == from; });
  Fetch& fetch = found->second;
  if (fetch.state.ended) return;
  fetch.heard = Clock::now();
  if (const auto part = read_part(message)) {
    take_part(wire, parts, copies, fetch, *part);
  } else if (const auto answer = read_answer(message)) {
    take_answer(wire, parts, fetch, *answer);
  } else {
    end(fetch, FetchFailure::kCorrupt, "what came is no part of an answer");
  }
}

void KvFetches::take_answer(Wire& wire, const KvParts& parts, Fetch& fetch, const OfferAnswer& answer) const {
  if (answer.refusal != FetchFailure::kNone) return end(fetch, answer.refusal, answer.why);
  // A lie about the state would be found by the sequence that begins with it.
  const bool fits = fetch.set.state ? answer.snapshot_at > 0 : answer.snapshot_at == 0;
  if (fetch.answered || !fits || answer.snapshot_at > INT32_MAX)
    return end(fetch, FetchFailure::kCorrupt, "what came is no answer to the question");
  fetch.answered = true;
  if (fetch.set.state) fetch.state.snapshot_at = static_cast<int32_t>(answer.snapshot_at);
  fetch.parts_left = parts.count(fetch.set);
  fetch.bytes = parts.bytes(fetch.set);
  fetch.came.resize(fetch.parts_left);
  fetch.next = std::min(kPartsAhead, fetch.parts_left);
  if (fetch.parts_left == 0) return end(fetch, FetchFailure::kNone, "");
  wire.post(*fetch.peer, to_message(PartsWanted{0, fetch.next}));
}

void KvFetches::take_part(Wire& wire, const KvParts& parts, SideCopies& copies, Fetch& fetch,
                          const ReceivedPart& part) {
  const auto of_all = std::ssize(fetch.came);
  if (part.index < 0 || part.index >= fetch.next || fetch.came[part.index] || !part.intact)
    return end(fetch, FetchFailure::kCorrupt,
               "part " + std::to_string(part.index) + " of " + std::to_string(of_all) +
                   (part.intact ? " was not asked for" : " is not as it was sent"));
  const std::vector<Region> regions = parts.regions(fetch.set, part.index);
  size_t bytes = 0;
  for (const Region& region : regions) bytes += region.bytes;
  if (part.content.size() != bytes)
    return end(fetch, FetchFailure::kCorrupt,
               "part " + std::to_string(part.index) + " has " + std::to_string(part.content.size()) +
                   " bytes in place of " + std::to_string(bytes));
  copies.write(part.content, regions);
  fetch.came[part.index] = true;
  fetch.state.bytes += static_cast<int64_t>(bytes);
  if (--fetch.parts_left == 0) return end(fetch, FetchFailure::kNone, "");
  if (fetch.next < of_all) wire.post(*fetch.peer, to_message(PartsWanted{fetch.next++, 1}));
}

std::vector<Wire::Peer> KvFetches::look(const Wire& wire) {
  for (auto& [id, fetch] : fetches_) {
    if (!fetch.peer) continue;
    if (const std::string& trouble = wire.trouble(*fetch.peer); !trouble.empty())
      end(fetch, FetchFailure::kUnreachable, trouble);
    const auto now = Clock::now();
    const auto whole = limits_.start + std::chrono::milliseconds(fetch.bytes / limits_.bytes_per_ms);
    if (now - fetch.heard > limits_.silence)
      end(fetch, FetchFailure::kTimedOut,
          "nothing came for " + std::to_string(limits_.silence.count()) + " ms");
    if (now - fetch.begun > whole)
      end(fetch, FetchFailure::kTimedOut,
          std::to_string(fetch.state.bytes) + " of " + std::to_string(fetch.bytes) + " bytes came in " +
              std::to_string(whole.count()) + " ms, in which all should");
    if (!fetch.state.ended) continue;
    leaving_.push_back(*fetch.peer);
    fetch.peer = std::nullopt;
  }
  return std::exchange(leaving_, {});
}

}  // namespace llmservice
