// The fetches of an engine, each with a connection of its own: a peer that dies, stalls, lies or is too slow
// ends one.
// Used under its owner's lock.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "nodes/wire.h"
#include "transfer/kv_parts.h"
#include "transfer/transfer_message.h"

namespace llmservice {

// Of another engine, its rank that answers to this one.
struct OfferPlace {
  std::string host;
  int32_t port;
  std::string ticket;
};

struct TransferLimits {
  std::chrono::milliseconds silence{10'000};         // of the engine that is fetched from
  std::chrono::milliseconds caller_silence{30'000};  // of one that fetches
  // A whole fetch may take `start`, and the time of its bytes at that rate, a sixth of 1 Gbit/s: a prompt of
  // which less comes is computed in less time.
  std::chrono::milliseconds start{20'000};
  int64_t bytes_per_ms = 20'000;
};

class KvFetches {
 public:
  using Clock = std::chrono::steady_clock;

  KvFetches(std::string layout, const TransferLimits& limits) : layout_(std::move(layout)), limits_(limits) {}

  void add(int32_t id, const OfferPlace& from, KvSet set);
  // Of a fetch that is there.
  FetchState state(int32_t id) const;
  void remove(int32_t id);

  // Fetches that nobody has connected yet; then one is, unless it was removed meanwhile.
  std::vector<std::pair<int32_t, OfferPlace>> to_connect();
  void connected(Wire& wire, int32_t id, Wire::Peer peer);
  void fail(int32_t id, FetchFailure failure, const std::string& message);

  bool has(Wire::Peer peer) const;
  void hear(Wire& wire, const KvParts& parts, SideCopies& copies, Wire::Peer from, Wire::Bytes message);
  // Ends fetches whose peer is gone, silent or too slow. The peers of what has ended, which are to be
  // dropped.
  std::vector<Wire::Peer> look(const Wire& wire);

 private:
  struct Fetch {
    OfferPlace from;
    KvSet set;
    bool connecting = false;
    std::optional<Wire::Peer> peer = std::nullopt;
    Clock::time_point begun = Clock::now();
    Clock::time_point heard = {};
    bool answered = false;
    std::vector<bool> came = {};  // by part
    int64_t parts_left = 0;
    int64_t bytes = 0;  // of all parts, once it is answered
    int64_t next = 0;   // to be asked for
    FetchState state = {};

    std::string place() const { return from.host + ":" + std::to_string(from.port); }
  };

  static constexpr int64_t kPartsAhead = 8;

  static void end(Fetch& fetch, FetchFailure failure, const std::string& message);
  void take_answer(Wire& wire, const KvParts& parts, Fetch& fetch, const OfferAnswer& answer) const;
  static void take_part(Wire& wire, const KvParts& parts, SideCopies& copies, Fetch& fetch,
                        const ReceivedPart& part);

  const std::string layout_;
  const TransferLimits limits_;
  std::map<int32_t, Fetch> fetches_;
  std::vector<Wire::Peer> leaving_;  // of fetches that were removed
};

}  // namespace llmservice
