#include "backends/gpu/rank_memory.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "ops/error.h"

namespace llmservice::gpu {
namespace {

// Drivers share whole blocks of this size: nothing else of this process is to lie in them.
constexpr size_t kSharedBlock = size_t{2} << 20;
constexpr int64_t kTrialFloats = 4096;
constexpr int32_t kTrials = 2;  // one of each bank

// What a rank tells the others of itself.
struct Card {
  gpuIpcMemHandle_t handle;
  int32_t device;
  char name[64];
};
static_assert(std::is_trivially_copyable_v<Card>);

size_t shared_bytes(int64_t capacity) {
  const size_t bytes = rank_memory_bytes(capacity);
  return (bytes + kSharedBlock - 1) / kSharedBlock * kSharedBlock;
}

RankMemory memory_at(std::byte* start) {
  return {reinterpret_cast<uint32_t*>(start), reinterpret_cast<float*>(start + kSignalBytes)};
}

// Sums of small integers are exact in any order.
float trial_value(int32_t rank, int64_t i, int32_t trial) {
  return static_cast<float>((rank + 1) * (i % 97 + 1) + trial);
}

// Sets the word unless it goes before the time is up.
class Deadline {
 public:
  Deadline(LossWord& word, std::chrono::milliseconds limit)
      : thread_([this, &word, limit] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, limit, [this] { return met_; })) word.set();
        }) {}
  ~Deadline() {
    {
      const std::scoped_lock lock(mutex_);
      met_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool met_ = false;
  std::thread thread_;
};

RankChannel& few_enough(RankChannel& channel) {
  if (channel.size() <= kMaxDeviceRanks) return channel;
  throw EngineError("ParallelismInvalid",
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
  open_peers();
  channel_.exchange({});  // all have opened all: from here on only the devices are waited for
  try_out();
}

RankMemories::~RankMemories() {
  loss_.set();
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
  throw EngineError("DeviceUnavailable", "Ranks cannot exchange data: " + what + ". " + kPeerAdvice +
                                             ", or set spec.parallelism.tensor to 1.");
}

void RankMemories::refuse_peer(int32_t peer, const std::string& why) const {
  refuse(name_of(ranks_.rank) + " cannot use the memory of " + name_of(peer) + ", " + why);
}

void RankMemories::open_peers() {
  Card card{.handle = {}, .device = device_.index(), .name = {}};
  std::strncpy(card.name, device_.name().c_str(), sizeof(card.name) - 1);
  const gpuError_t shared = gpuIpcGetMemHandle(&card.handle, own_.data());
  if (shared != gpuSuccess) {
    static_cast<void>(gpuGetLastError());  // it is no fault of the device
    refuse("rank " + std::to_string(ranks_.rank) + "'s device " + std::to_string(card.device) + " (" +
           card.name + ") shares no memory with other processes, " + error_text(shared));
  }
  const std::vector<std::byte> message = channel_.exchange(std::as_bytes(std::span(&card, 1)));
  std::vector<Card> cards(ranks_.size);
  std::memcpy(cards.data(), message.data(), message.size());
  for (const Card& each : cards)
    names_.push_back("device " + std::to_string(each.device) + " (" + each.name + ")");
  for (int32_t rank = 0; rank < ranks_.size; ++rank) {
    if (rank == ranks_.rank) {
      ranks_.memory[rank] = memory_at(own_.data());
      continue;
    }
    int can = 1;
    if (cards[rank].device != card.device) {
      const gpuError_t asked = gpuDeviceCanAccessPeer(&can, card.device, cards[rank].device);
      if (asked != gpuSuccess) refuse_peer(rank, error_text(asked));
    }
    if (can == 0) refuse_peer(rank, "the driver gives no access from one to the other");
    void* memory = nullptr;
    const gpuError_t opened = gpuIpcOpenMemHandle(&memory, cards[rank].handle, gpuIpcMemLazyEnablePeerAccess);
    if (opened != gpuSuccess) {
      static_cast<void>(gpuGetLastError());  // it is no fault of the device
      refuse_peer(rank, error_text(opened));
    }
    peers_.emplace_back(static_cast<std::byte*>(memory));
    ranks_.memory[rank] = memory_at(static_cast<std::byte*>(memory));
  }
}

// Drivers give access to memory over links that then lose writes: this is found out now, and not by a model
// that says nonsense or hangs.
void RankMemories::try_out() {
  const int64_t count = std::min(kTrialFloats, ranks_.capacity);
  const DeviceMemory memory(device_, count * sizeof(float));
  auto* const x = reinterpret_cast<float*>(memory.data());
  std::vector<float> values(count);
  for (int32_t trial = 0; trial < kTrials; ++trial) {
    for (int64_t i = 0; i < count; ++i) values[i] = trial_value(ranks_.rank, i, trial);
    device_.upload(std::as_bytes(std::span(values)), x);
    {
      const Deadline deadline(loss_, channel_.patience());
      device_.run(all_reduce(ranks_, x, count));
      device_.finish();
    }
    check();
    if (loss_.is_set()) name_silent();
    device_.download(x, std::as_writable_bytes(std::span(values)));
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (int32_t rank = 0; rank < ranks_.size; ++rank) sum += trial_value(rank, i, trial);
      if (values[i] == sum) continue;
      refuse(name_of(ranks_.rank) + " reads other values than the others wrote");
    }
  }
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
