// Which accesses of a block happen before which, by vector clocks. A thread's clock advances with whatever
// lets others see what it did. Barriers of the block and of a warp are kept as what all of it saw at the
// last, since they are many; mbarriers, and the copies that each counts (agents, numbered after the threads),
// in clocks of each thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace llmservice::access {

// Of every thread, then of every agent; what is missing is 0.
using Clock = std::vector<uint32_t>;

// Something that a thread did.
struct Moment {
  uint32_t thread;
  uint32_t clock;
};

class BlockClocks {
 public:
  void begin(uint32_t threads);

  uint32_t threads() const { return threads_; }
  Moment now(uint32_t thread) const { return {thread, clocks_[thread]}; }
  bool is_before(Moment moment, uint32_t thread) const;
  // All that happened before now in this block, as `thread` knows it.
  Clock known_to(uint32_t thread) const;

  void block_met();
  void warp_met(uint32_t warp);
  void advance(uint32_t thread) { ++clocks_[thread]; }

  // What is asynchronous sees what was stored up to now by the thread.
  void fence(uint32_t thread);
  bool is_fenced(Moment moment) const { return moment.clock <= fenced_[moment.thread]; }
  bool is_agent(uint32_t thread) const { return thread >= threads_; }

  // An mbarrier by its address, of a copy the moment of its end.
  void barrier_made(const void* barrier, uint32_t thread);
  Moment barrier_made_at(const void* barrier) { return at(barrier).made; }
  void arrive(const void* barrier, uint32_t thread);
  Moment copy(const void* barrier);
  void copies_landed(const void* barrier);
  void phase_over(const void* barrier);
  void phase_seen(const void* barrier, uint32_t thread);

 private:
  struct Barrier {
    uint32_t agent;
    uint32_t copies = 0;
    Moment made{};
    Clock arrived;  // in this phase
    Clock seen;     // by whoever saw the last phase end
  };
  Barrier& at(const void* barrier);
  void share_known(uint32_t first, uint32_t end);

  uint32_t threads_ = 0;
  std::vector<uint32_t> clocks_, block_seen_, warp_seen_, fenced_;
  std::vector<Clock> known_;  // by mbarriers, empty without
  bool any_known_ = false;
  std::map<const void*, Barrier> barriers_;
};

}  // namespace llmservice::access
