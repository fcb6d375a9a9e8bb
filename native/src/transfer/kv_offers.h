// What an engine offers, and whoever fetches of it: each caller is answered by itself, and what he does is no
// matter for others. Used under its owner's lock.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>

#include "nodes/wire.h"
#include "transfer/kv_parts.h"
#include "transfer/transfer_message.h"

namespace llmservice {

class KvOffers {
 public:
  using Clock = std::chrono::steady_clock;

  KvOffers(std::string layout, std::chrono::milliseconds silence)
      : layout_(std::move(layout)), silence_(silence) {}

  // `snapshot_at`: tokens that the state of the set is of; 0: it has none.
  void add(const std::string& ticket, KvSet set, int64_t snapshot_at) {
    offers_[ticket] = {std::move(set), snapshot_at, ++made_};
  }
  void remove(const std::string& ticket) { offers_.erase(ticket); }

  void hear(Wire& wire, const KvParts& parts, Wire::Peer from, Wire::Bytes message);
  // One that a caller waits for; false: nobody does, or those that do are slow to take what was sent.
  bool send_part(Wire& wire, const KvParts& parts, SideCopies& copies);
  // Whether the caller is to be dropped: he is gone, was silent for too long, asked for
  // what is not there, or is beyond kMaxCallers and fetches nothing.
  bool gives_up(const Wire& wire, Wire::Peer peer);
  void forget(Wire::Peer peer) { callers_.erase(peer); }

 private:
  struct Offer {
    KvSet set;
    int64_t snapshot_at;
    int64_t number;  // of all that were made: a ticket may be taken again
  };
  struct Caller {
    Clock::time_point heard = Clock::now();
    std::string ticket = {};  // of the offer that he fetches
    int64_t number = 0;       // and its number; 0: none yet
    KvSet set = {};           // of it, what he takes
    std::deque<PartsWanted> wanted = {};
    bool unwanted = false;
  };

  static constexpr size_t kMaxCallers = 256;
  // What a caller may ask for before he gets it, and bytes that may wait to be sent to him.
  static constexpr size_t kMaxWanted = 64;
  static constexpr size_t kMaxUnsent = size_t{16} << 20;

  OfferAnswer answer(const FetchRequest& request, Caller& caller) const;
  static void want(const KvParts& parts, Caller& caller, const PartsWanted& wanted);
  bool has_offer_of(const Caller& caller) const;

  const std::string layout_;
  const std::chrono::milliseconds silence_;
  std::map<std::string, Offer> offers_;
  int64_t made_ = 0;
  std::map<Wire::Peer, Caller> callers_;
};

}  // namespace llmservice
