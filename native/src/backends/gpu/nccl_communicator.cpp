#include "backends/gpu/nccl_communicator.h"

#include <chrono>
#include <cstring>

#include "ops/rank_values.h"

namespace llmservice::gpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{50};
// A call that waits for others, where a queue of the device is full, is not waited for any longer.
constexpr milliseconds kLongestCall{1000};
// A rank's end shows in the library before the group hears of it, which knows the cause.
constexpr milliseconds kOthersReport{1000};
constexpr std::chrono::microseconds kBetweenAnswers{20};

// What a rank sends the others about itself.
struct Card {
  NcclId id;  // rank 0's counts
  int32_t device;
  char problem[600];
};

std::string rank_text(int32_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

NcclCommunicator::NcclCommunicator(Device& device, RankChannel& channel)
    : channel_(channel), library_(open_nccl()), loss_(channel) {
  agree(device.index());
  connect();
  watch_ = std::thread([this] { watch(); });
}

NcclCommunicator::~NcclCommunicator() {
  const bool in_peace = channel_.ended() && !loss_.is_set();
  if (in_peace) {
    std::unique_lock lock(using_);
    if (!ended_) settle(library_.functions.CommFinalize(comm_), lock);
  } else {
    abort();
  }
  {
    const std::scoped_lock lock(waking_);
    stopping_ = true;
  }
  woken_.notify_one();
  watch_.join();
  if (!ended_) library_.functions.CommDestroy(comm_);
}

// All know the same afterwards, and so all continue or none does.
void NcclCommunicator::agree(int device) {
  Card card{.id = {}, .device = device, .problem = {}};
  if (channel_.rank() == 0 && library_.problem.empty()) {
    const NcclResult made = library_.functions.GetUniqueId(&card.id);
    if (made != NcclResult::kSuccess) library_.problem = library_.name + " does not start, " + text_of(made);
  }
  std::strncpy(card.problem, library_.problem.c_str(), sizeof(card.problem) - 1);
  const std::vector<Card> cards = values_of_all(channel_, card);
  id_ = cards[0].id;
  if (!library_.problem.empty()) throw NoNccl(library_.problem + ".");
  for (int32_t rank = 0; rank < size(); ++rank) {
    if (cards[rank].problem[0] != 0)
      throw NoNccl("Of " + rank_text(rank) + ": " + std::string(cards[rank].problem) + ".");
    for (int32_t other = 0; other < rank; ++other) {
      if (cards[other].device != cards[rank].device) continue;
      throw NoNccl(library_.name + " takes one rank of a device, and " + rank_text(other) + " and " +
                   rank_text(rank) + " are both on device " + std::to_string(cards[rank].device) + ".");
    }
  }
}

void NcclCommunicator::connect() {
  const auto deadline = Clock::now() + channel_.patience();
  const NcclFunctions& nccl = library_.functions;
  NcclConfig config;
  NcclResult result = nccl.CommInitRankConfig(&comm_, size(), id_, rank(), &config);
  try {
    while (result == NcclResult::kInProgress) {
      std::this_thread::sleep_for(kBetweenAnswers);
      channel_.check();
      if (Clock::now() >= deadline) {
        throw NoNccl(library_.name + " did not connect the ranks within " +
                     std::to_string(channel_.patience().count()) +
                     " ms. NCCL_DEBUG=INFO in spec.env makes it say why.");
      }
      result = ask();
    }
    if (failed(result)) {
      let_others_report();
      throw NoNccl(library_.name + " does not connect the ranks, " + text_of(result) +
                   ". NCCL_DEBUG=INFO in spec.env makes it say more.");
    }
  } catch (const EngineError&) {
    if (comm_ != nullptr) nccl.CommAbort(comm_);
    throw;
  }
}

NcclResult NcclCommunicator::ask() const {
  NcclResult result = NcclResult::kSuccess;
  const NcclResult asked = library_.functions.CommGetAsyncError(comm_, &result);
  return asked == NcclResult::kSuccess ? result : asked;
}

// Until the calls have put their work on the stream; meanwhile the watch may end it all.
void NcclCommunicator::settle(NcclResult result, std::unique_lock<std::mutex>& lock) noexcept {
  while (result == NcclResult::kInProgress) {
    lock.unlock();
    std::this_thread::sleep_for(kBetweenAnswers);
    lock.lock();
    if (ended_) return;
    result = ask();
  }
  if (failed(result) && failure_.empty()) failure_ = text_of(result);
}

std::string NcclCommunicator::text_of(NcclResult result) const {
  const char* const last = library_.functions.GetLastError(comm_);
  const std::string text = library_.functions.GetErrorString(result);
  return last == nullptr || *last == 0 ? text : text + " (" + last + ")";
}

void NcclCommunicator::abort() {
  loss_.set();
  woken_.notify_one();
}

void NcclCommunicator::check() const {
  if (loss_.is_set()) channel_.check();
  std::unique_lock lock(using_);
  if (failure_.empty()) return;
  const std::string failure = failure_;
  lock.unlock();
  let_others_report();
  throw EngineError(FailureReason::kDeviceFault, library_.name + " failed: " + failure + ".");
}

void NcclCommunicator::let_others_report() const {
  for (const auto end = Clock::now() + kOthersReport; Clock::now() < end;) {
    channel_.check();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

bool NcclCommunicator::must_end() {
  if (loss_.is_set()) return true;
  const std::unique_lock lock(using_, std::try_to_lock);
  if (!lock.owns_lock()) return false;  // calls report failures themselves
  const NcclResult result = ask();
  if (failed(result) && failure_.empty()) failure_ = text_of(result);
  return !failure_.empty();
}

void NcclCommunicator::watch() {
  std::unique_lock waking(waking_);
  while (!must_end()) {
    if (stopping_) return;
    woken_.wait_for(waking, kBetweenLooks);
  }
  waking.unlock();
  {
    std::unique_lock lock(using_, std::try_to_lock);
    for (const auto end = Clock::now() + kLongestCall; !lock.owns_lock() && Clock::now() < end;) {
      std::this_thread::sleep_for(kBetweenLooks);
      static_cast<void>(lock.try_lock());
    }
    ended_ = true;
  }
  library_.functions.CommAbort(comm_);
}

}  // namespace llmservice::gpu
