// One rank's end of a group of NCCL's: made by all ranks together, and ended by a thread that watches once a
// rank is lost or the library has failed, since what waits for others in a kernel of the library continues by
// nothing but ncclCommAbort.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "backends/gpu/nccl_library.h"
#include "backends/gpu/shared_memory.h"

namespace llmservice::gpu {

class NcclCommunicator {
 public:
  // Returns once all ranks are connected. Throws NoNccl, or the error of the group.
  NcclCommunicator(Device& device, RankChannel& channel);
  // What runs has ended, or abort() was called.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  const std::string& name() const { return library_.name; }
  int32_t rank() const { return channel_.rank(); }
  int32_t size() const { return channel_.size(); }

  static bool failed(NcclResult result) {
    return result != NcclResult::kSuccess && result != NcclResult::kInProgress;
  }
  // One group of calls, whose work is on its stream afterwards. Nothing happens once the communicator has
  // ended; a failure ends it, and check() reports it.
  template <class Calls>
  void run(const Calls& calls) noexcept {
    std::unique_lock lock(using_);
    if (ended_) return;
    library_.functions.GroupStart();
    const NcclResult called = calls(library_.functions, comm_);
    const NcclResult result = library_.functions.GroupEnd();
    settle(failed(called) ? called : result, lock);
  }
  // Whatever waits for other ranks continues, and nothing it says means anything.
  void abort();
  // Throws if the work that ended did so because a rank was lost or the library failed.
  void check() const;

 private:
  void agree(int device);
  void connect();
  // What became of the calls so far.
  NcclResult ask() const;
  void settle(NcclResult result, std::unique_lock<std::mutex>& lock) noexcept;
  std::string text_of(NcclResult result) const;
  // Throws if the group hears of a loss now.
  void let_others_report() const;
  void watch();
  bool must_end();

  RankChannel& channel_;
  NcclLibrary library_;
  NcclId id_{};
  NcclComm* comm_ = nullptr;
  LossWord loss_;
  mutable std::mutex using_;  // comm_ in calls, and failure_
  std::atomic<bool> ended_ = false;
  std::string failure_;  // of the library, the first one
  std::mutex waking_;
  std::condition_variable woken_;
  bool stopping_ = false;
  std::thread watch_;
};

}  // namespace llmservice::gpu
