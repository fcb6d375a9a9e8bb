#include "transfer/kv_transfer.h"

#include <algorithm>

#include "ops/error.h"
#include "parallel/wire_loader.h"

namespace llmservice {
namespace {

constexpr std::chrono::milliseconds kSleep{50};
// Of the wire, before it is seen who is gone.
constexpr int kTurns = 64;

}  // namespace

KvTransfer::KvTransfer(std::optional<int32_t> port, const std::string& layout, KvParts parts,
                       MakeCopies make_copies, const TransferLimits& limits)
    : parts_(std::move(parts)),
      make_copies_(std::move(make_copies)),
      offers_(layout, limits.caller_silence),
      fetches_(layout, limits),
      wire_(open_wire()) {
  wire_->on_message([this](Wire::Peer from, Wire::Bytes message) { hear(from, message); });
  try {
    if (port) wire_->listen(static_cast<uint16_t>(*port));
  } catch (const std::runtime_error& error) {
    throw EngineError(FailureReason::kEngineFault,
                      std::string("KV cannot be offered to other engines: ") + error.what() + ".");
  }
  thread_ = std::thread([this] { run(); });
}

KvTransfer::~KvTransfer() {
  stopping_.store(true);
  wire_->wake();
  thread_.join();
}

void KvTransfer::offer(const std::string& ticket, KvSet set, int64_t snapshot_at) {
  const std::scoped_lock lock(mutex_);
  offers_.add(ticket, std::move(set), snapshot_at);
}

void KvTransfer::withdraw(const std::string& ticket) {
  const std::scoped_lock lock(mutex_);
  offers_.remove(ticket);
}

void KvTransfer::begin(int32_t id, const OfferPlace& from, KvSet set) {
  {
    const std::scoped_lock lock(mutex_);
    fetches_.add(id, from, std::move(set));
  }
  wire_->wake();
}

FetchState KvTransfer::state(int32_t id) const {
  const std::scoped_lock lock(mutex_);
  return fetches_.state(id);
}

void KvTransfer::end(int32_t id) {
  {
    const std::scoped_lock lock(mutex_);
    fetches_.remove(id);
  }
  wire_->wake();
}

void KvTransfer::run() {
  try {
    copies_ = make_copies_();
  } catch (const EngineError&) {
    copies_ = nullptr;
  }
  while (!stopping_.load()) {
    connect();
    bool busy = true;
    for (int turn = 0; busy && turn < kTurns; ++turn) {
      busy = wire_->progress();
      busy |= send_part();
    }
    look();
    if (!busy) wire_->sleep(kSleep);
  }
  copies_.reset();
}

// The lock is free between two of them.
bool KvTransfer::send_part() {
  const std::scoped_lock lock(mutex_);
  if (!copies_) return false;
  try {
    return offers_.send_part(*wire_, parts_, *copies_);
  } catch (const EngineError&) {
    copies_.reset();
    return false;
  }
}

// A host's name is looked up without the lock.
void KvTransfer::connect() {
  std::unique_lock lock(mutex_);
  const auto found = fetches_.to_connect();
  for (const auto& [id, from] : found) {
    lock.unlock();
    std::optional<Wire::Peer> peer;
    std::string trouble;
    try {
      peer = wire_->dial(from.host, static_cast<uint16_t>(from.port));
    } catch (const std::runtime_error& error) {
      trouble = error.what();
    }
    lock.lock();
    if (peer) {
      fetches_.connected(*wire_, id, *peer);
    } else {
      fetches_.fail(id, FetchFailure::kUnreachable, trouble);
    }
  }
}

void KvTransfer::look() {
  std::unique_lock lock(mutex_);
  std::vector<Wire::Peer> leaving = fetches_.look(*wire_);
  for (const Wire::Peer peer : wire_->peers()) {
    if (fetches_.has(peer) || std::ranges::find(leaving, peer) != leaving.end()) continue;
    if (offers_.gives_up(*wire_, peer)) leaving.push_back(peer);
  }
  for (const Wire::Peer peer : leaving) offers_.forget(peer);
  // The wire may hear of others while it drops one.
  lock.unlock();
  for (const Wire::Peer peer : leaving) wire_->drop(peer);
}

void KvTransfer::hear(Wire::Peer from, Wire::Bytes message) {
  const std::scoped_lock lock(mutex_);
  if (!copies_) return;
  try {
    if (fetches_.has(from)) {
      fetches_.hear(*wire_, parts_, *copies_, from, message);
    } else {
      offers_.hear(*wire_, parts_, from, message);
    }
  } catch (const EngineError&) {
    copies_.reset();
  }
}

}  // namespace llmservice
