// KV transfer of one rank: its offers and its fetches on a thread of their own, over a wire of their own.
// Steps run beside it: it reads blocks that are offered and writes those that are fetched, one part at a
// time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "transfer/kv_fetches.h"
#include "transfer/kv_offers.h"

namespace llmservice {

class KvTransfer {
 public:
  // Called once, on the thread of the transfer.
  using MakeCopies = std::function<std::unique_ptr<SideCopies>()>;

  // `port`: of this rank; none: it offers nothing. `layout`: as EngineInfo has it. Throws EngineFault.
  KvTransfer(std::optional<int32_t> port, const std::string& layout, KvParts parts, MakeCopies make_copies,
             const TransferLimits& limits = {});
  ~KvTransfer();

  // These wait for the copy of one part at most. What they say holds once they return: after withdraw()
  // nobody reads the offer, after end() nobody writes to the fetch's set.
  void offer(const std::string& ticket, KvSet set, int64_t snapshot_at);
  void withdraw(const std::string& ticket);
  void begin(int32_t id, const OfferPlace& from, KvSet set);
  // Throws EngineFault where there is no such fetch.
  FetchState state(int32_t id) const;
  void end(int32_t id);

 private:
  void run();
  void connect();
  bool send_part();
  void look();
  void hear(Wire::Peer from, Wire::Bytes message);

  const KvParts parts_;
  const MakeCopies make_copies_;
  mutable std::mutex mutex_;  // of the next two
  KvOffers offers_;
  KvFetches fetches_;
  std::atomic<bool> stopping_{false};
  // Of the thread, but for wake().
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<SideCopies> copies_;  // null: the device has failed, which the engine meets itself
  std::thread thread_;
};

}  // namespace llmservice
