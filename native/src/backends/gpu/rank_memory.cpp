#include "backends/gpu/rank_memory.h"

#include <algorithm>
#include <cstring>

#include "backends/gpu/rank_trial.h"
#include "ops/error.h"
#include "ops/rank_values.h"

namespace llmservice::gpu {
namespace {

// Drivers share whole blocks of this size: nothing else of this process is to lie in them.
constexpr size_t kSharedBlock = size_t{2} << 20;

// What a rank sends the others about itself.
struct Card {
  bool shares;
  gpuIpcMemHandle_t handle;
  int32_t device;
  char name[64];
};
// Empty: it has the others' memory.
struct Verdict {
  char problem[600];
};

std::string refusal(const std::string& what) {
  return "Ranks cannot exchange data: " + what + ". " + kPeerAdvice +
         ", or set spec.parallelism.tensor to 1, or spec.engine.collectives to library where " + kNccl +
         " is installed.";
}

size_t shared_bytes(int64_t capacity) {
  const size_t bytes = rank_memory_bytes(capacity);
  return (bytes + kSharedBlock - 1) / kSharedBlock * kSharedBlock;
}

RankMemory memory_at(std::byte* start) {
  return {reinterpret_cast<uint32_t*>(start), reinterpret_cast<float*>(start + kSignalBytes)};
}

RankChannel& few_enough(RankChannel& channel) {
  if (channel.size() <= kMaxDeviceRanks) return channel;
  throw EngineError(FailureReason::kParallelismInvalid,
                    "A model runs on 1 to " + std::to_string(kMaxDeviceRanks) + " GPUs; " +
                        std::to_string(channel.size()) +
                        " were asked for: set spec.parallelism.tensor to one of those.");
}

}  // namespace

RankMemories::RankMemories(Device& device, RankChannel& channel, int64_t capacity)
    : device_(device),
      channel_(few_enough(channel)),
      loss_(channel),
      own_(device, shared_bytes(capacity)),
      counters_(device, 2 * sizeof(uint32_t)) {
  auto* const counters = reinterpret_cast<uint32_t*>(counters_.data());
  ranks_ = {.rank = channel.rank(),
            .size = channel.size(),
            .capacity = capacity,
            .memory = {},
            .turn = counters,
            .ended = reinterpret_cast<int32_t*>(counters + 1),
            .lost = loss_.data()};
  agree(open_peers());  // from here on only the devices are waited for
  try_out();
}

RankMemories::~RankMemories() {
  leave();
  try {
    device_.finish();
    peers_.clear();
    // Memory must not go while others have it open.
    if (channel_.ended()) channel_.exchange({});
  } catch (const EngineError&) {  // a rank or the device is lost: so is what they share
  }
}

void RankMemories::check() const {
  if (loss_.is_set()) channel_.check();
}

std::string RankMemories::name_of(int32_t rank) const {
  return "rank " + std::to_string(rank) + "'s " + names_.at(rank);
}

void RankMemories::refuse(const std::string& what) const {
  throw EngineError(FailureReason::kDeviceUnavailable, refusal(what));
}

std::string RankMemories::open_peers() {
  Card card{.shares = false, .handle = {}, .device = device_.index(), .name = {}};
  std::strncpy(card.name, device_.name().c_str(), sizeof(card.name) - 1);
  const gpuError_t shared = gpuIpcGetMemHandle(&card.handle, own_.data());
  card.shares = shared == gpuSuccess;
  const std::vector<Card> cards = values_of_all(channel_, card);
  for (const Card& each : cards)
    names_.push_back("device " + std::to_string(each.device) + " (" + each.name + ")");
  if (!card.shares) {
    static_cast<void>(gpuGetLastError());  // it is no fault of the device
    return name_of(ranks_.rank) + " shares no memory with other processes, " + error_text(shared);
  }
  for (int32_t rank = 0; rank < ranks_.size; ++rank) {
    if (rank == ranks_.rank) {
      ranks_.memory[rank] = memory_at(own_.data());
      continue;
    }
    if (!cards[rank].shares) continue;  // as it reports itself
    const std::string problem = open_peer(rank, cards[rank].handle, cards[rank].device);
    if (!problem.empty()) {
      return name_of(ranks_.rank) + " cannot use the memory of " + name_of(rank) + ", " + problem;
    }
  }
  return "";
}

std::string RankMemories::open_peer(int32_t rank, const gpuIpcMemHandle_t& handle, int32_t device) {
  int can = 1;
  if (device != device_.index()) {
    const gpuError_t asked = gpuDeviceCanAccessPeer(&can, device_.index(), device);
    if (asked != gpuSuccess) return error_text(asked);
  }
  if (can == 0) return "the driver gives no access from one to the other";
  // The one flag that runtimes take, whatever the headers say that it is.
  static_assert(gpuIpcMemLazyEnablePeerAccess == 1);
  void* memory = nullptr;
  const gpuError_t opened = gpuIpcOpenMemHandle(&memory, handle, gpuIpcMemLazyEnablePeerAccess);
  if (opened != gpuSuccess) {
    static_cast<void>(gpuGetLastError());  // it is no fault of the device
    return error_text(opened);
  }
  peers_.emplace_back(static_cast<std::byte*>(memory));
  ranks_.memory[rank] = memory_at(static_cast<std::byte*>(memory));
  return "";
}

void RankMemories::agree(const std::string& problem) {
  Verdict own{};
  std::strncpy(own.problem, problem.c_str(), sizeof(own.problem) - 1);
  std::vector<Verdict> all = values_of_all(channel_, own);
  all.insert(all.begin(), own);  // what this rank saw itself says most
  for (const Verdict& verdict : all) {
    if (verdict.problem[0] == 0) continue;
    peers_.clear();
    channel_.exchange({});  // memory must not go while others have it open
    throw NoPeerAccess(refusal(verdict.problem));
  }
}

void RankMemories::try_out() {
  const int64_t count = std::min(kTrialFloats, ranks_.capacity);
  const bool right = adds_up(device_, {.rank = ranks_.rank,
                                       .size = ranks_.size,
                                       .count = count,
                                       .patience = channel_.patience(),
                                       .all_reduce = [&](float* x) { return all_reduce(ranks_, x, count); },
                                       .give_up = [this] { loss_.set(); },
                                       .check =
                                           [this] {
                                             check();
                                             if (loss_.is_set()) name_silent();
                                           }});
  if (!right) refuse(name_of(ranks_.rank) + " reads other values than the others wrote");
}

// Of the signals that came to this rank's memory, its own is the highest; a lower one is of a rank that is
// late.
void RankMemories::name_silent() const {
  std::vector<uint32_t> signals(kMaxDeviceRanks);
  device_.download(ranks_.memory[ranks_.rank].signals, std::as_writable_bytes(std::span(signals)));
  std::string silent;
  for (int32_t rank = 0; rank < ranks_.size; ++rank) {
    if (signals[rank] != signals[ranks_.rank]) silent += (silent.empty() ? "" : " and ") + name_of(rank);
  }
  refuse("of what " + (silent.empty() ? "another rank" : silent) + " writes to the memory of " +
         name_of(ranks_.rank) + " nothing arrived within " + std::to_string(channel_.patience().count()) +
         " ms");
}

}  // namespace llmservice::gpu
