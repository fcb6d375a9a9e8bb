// KV that goes to other engines and comes from them, between steps: what is read or written meanwhile no plan
// writes to. Of several ranks each sends and fetches its own part; a fetch has come when all have.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/engine.h"
#include "engine/plan_rules.h"
#include "engine/plan_wire.h"
#include "transfer/weight_samples.h"

namespace llmservice {
namespace {

// What a rank says of its part of a fetch.
struct Part {
  bool ended;
  FetchFailure failure;
  int32_t snapshot_at;
  int64_t bytes;
  std::array<char, 1000> message;  // cut short where it is longer; ends with 0
};
static_assert(std::is_trivially_copyable_v<Part>);

Part part_of(const FetchState& state) {
  Part part{};
  part.ended = state.ended;
  part.failure = state.failure;
  part.snapshot_at = state.snapshot_at.value_or(0);
  part.bytes = state.bytes;
  std::strncpy(part.message.data(), state.message.c_str(), part.message.size() - 1);
  return part;
}

// A failure of one is a failure of all, at once.
FetchState joined(std::span<const std::byte> all) {
  FetchState state{.ended = true};
  for (size_t at = 0; at < all.size(); at += sizeof(Part)) {
    Part part;
    std::memcpy(&part, all.data() + at, sizeof(part));
    if (part.failure != FetchFailure::kNone) {
      return {.ended = true, .failure = part.failure, .message = part.message.data()};
    }
    state.bytes += part.bytes;
    state.ended = state.ended && part.ended;
    if (part.snapshot_at == 0) continue;
    if (state.snapshot_at.value_or(part.snapshot_at) != part.snapshot_at) {
      return {.ended = true,
              .failure = FetchFailure::kCorrupt,
              .message = "the ranks fetched states of different positions"};
    }
    state.snapshot_at = part.snapshot_at;
  }
  return state;
}

}  // namespace

void Engine::open_transfer(const EngineOptions& o) {
  if (!o.transfer) return;
  const int32_t rank = o.place ? o.place->rank : 0;
  const int32_t ranks = o.place ? o.place->size : 1;
  std::vector<CacheLine> blocks = model_->block_lines();
  if (models_.draft_model) {
    const std::vector<CacheLine> drafts = models_.draft_model->block_lines();
    blocks.insert(blocks.end(), drafts.begin(), drafts.end());
  }
  KvParts parts(std::move(blocks), model_->state_lines());
  uint64_t weights = weight_samples(*o.checkpoint);
  if (o.head) weights ^= weight_samples(*o.head) << 1;
  info_.kv_layout = o.transfer->identity + " " + std::to_string(weights) + " " + info_.architecture + " on " +
                    info_.isa + ", " + std::to_string(ranks) + " ranks, blocks of " +
                    std::to_string(o.block_size) + " tokens and " + std::to_string(parts.block_bytes()) +
                    " bytes, states of " + std::to_string(parts.state_bytes());
  const auto port = o.transfer->port ? std::optional(*o.transfer->port + rank) : std::nullopt;
  transfer_ = std::make_unique<KvTransfer>(
      port, *info_.kv_layout + ", rank " + std::to_string(rank), std::move(parts),
      [this] { return backend_->side_copies(kPartBytes); }, o.transfer_limits);
}

KvSet Engine::kv_set(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot) const {
  return {.blocks = blocks, .state = snapshot ? std::optional(first_snapshot_ + *snapshot) : std::nullopt};
}

void Engine::refuse_to_move() const {
  if (!transfer_) throw EngineError(FailureReason::kEngineFault, "The engine was loaded without transfer.");
  refuse_half_done();
}

void Engine::lead(const std::vector<std::byte>& message) {
  if (group_ && group_->rank() == 0) group_->send(message);
}

void Engine::offer_kv(const KvOffer& offer) {
  refuse_to_move();
  slots_.check_kv(offer.blocks, offer.snapshot, true);
  lead(encode_offer(offer));
  drop_offer(offer.ticket);
  slots_.hold(offer.blocks);
  kv_offers_[offer.ticket] = offer;
  transfer_->offer(offer.ticket, kv_set(offer.blocks, offer.snapshot),
                   offer.snapshot ? slots_.snapshot_position(*offer.snapshot) : 0);
}

void Engine::withdraw_kv(const std::string& ticket) {
  refuse_to_move();
  lead(encode_withdraw(ticket));
  drop_offer(ticket);
}

void Engine::drop_offer(const std::string& ticket) {
  const auto found = kv_offers_.find(ticket);
  if (found == kv_offers_.end()) return;
  transfer_->withdraw(ticket);
  slots_.let_go(found->second.blocks);
  kv_offers_.erase(found);
}

void Engine::fetch_kv(const KvFetch& fetch) {
  refuse_to_move();
  const int32_t rank = group_ ? group_->rank() : 0;
  const int32_t last = group_ ? group_->size() - 1 : 0;
  if (kv_fetches_.contains(fetch.id)) broken("fetch.id", "is that of a fetch that has not ended.");
  if (fetch.port < 1 || fetch.port > UINT16_MAX - last)
    broken("fetch.port", "is " + std::to_string(fetch.port) + ", which leaves no port for each rank.");
  slots_.check_kv(fetch.blocks, fetch.snapshot, false);
  lead(encode_fetch(fetch));
  slots_.hold(fetch.blocks);
  slots_.empty(fetch.blocks, fetch.snapshot);
  kv_fetches_[fetch.id] = fetch;
  transfer_->begin(fetch.id, {fetch.host, fetch.port + rank, fetch.ticket},
                   kv_set(fetch.blocks, fetch.snapshot));
}

FetchState Engine::fetched_kv(int32_t id) {
  refuse_to_move();
  const auto found = kv_fetches_.find(id);
  if (found == kv_fetches_.end()) broken("fetchedKv", "names a fetch that is not there or has ended.");
  lead(encode_fetch_id(MessageKind::kFetched, id));
  const Part own = part_of(transfer_->state(id));
  const auto bytes = std::as_bytes(std::span(&own, 1));
  const FetchState state = joined(group_ ? group_->exchange(bytes) : std::vector(bytes.begin(), bytes.end()));
  if (!state.ended) return state;
  const KvFetch fetch = found->second;
  drop_fetch(id);
  if (state.failure == FetchFailure::kNone)
    slots_.fill(fetch.blocks, fetch.snapshot, state.snapshot_at.value_or(0));
  return state;
}

void Engine::end_fetch(int32_t id) {
  refuse_to_move();
  lead(encode_fetch_id(MessageKind::kEndFetch, id));
  drop_fetch(id);
}

void Engine::drop_fetch(int32_t id) {
  const auto found = kv_fetches_.find(id);
  if (found == kv_fetches_.end()) return;
  transfer_->end(id);
  slots_.let_go(found->second.blocks);
  kv_fetches_.erase(found);
}

}  // namespace llmservice
