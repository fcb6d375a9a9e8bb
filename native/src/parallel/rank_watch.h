// A rank's sign of life and its look at the others': one thread per rank that holds the rank's robust mutex,
// beats, and declares the group failed when another rank has died or stalls. It checks processes, not
// at progress: a long computation is no silence.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#include "parallel/shared_segment.h"

namespace llmservice {

// Declares that `rank` was lost, unless another loss was first, and wakes every wait.
void declare_loss(GroupState& state, int32_t ranks, int32_t rank, Loss loss);

// The same of what another node has declared: GroupState::failure there.
void adopt_loss(GroupState& state, int32_t ranks, uint32_t failure);

class RankWatch {
 public:
  // Watches ranks [first, end) of `ranks`, which are on this node. Returns once the rank's sign of life is
  // there. Without a beat for `silence` a rank stalls.
  RankWatch(GroupState& state, int32_t rank, int32_t first, int32_t end, int32_t ranks,
            std::chrono::milliseconds silence);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  int32_t silent_looks() const { return silent_looks_; }
  // From now on `word` is set to 1 once any rank is lost; null: no word any more.
  void mark(uint32_t* word);

 private:
  void run();
  void check_rank(int32_t rank);

  GroupState& state_;
  const int32_t rank_;
  const int32_t first_;
  const int32_t end_;
  const int32_t ranks_;
  const int32_t silent_looks_;
  // Of each other rank: the beat last seen, and how many looks ago it changed. Looks and not clock time: when
  // the whole machine was frozen, nobody was silent.
  uint32_t beats_[kMaxRanks] = {};
  int32_t looks_[kMaxRanks] = {};
  std::atomic<uint32_t> started_{0};
  std::atomic<uint32_t> stopping_{0};
  std::mutex marking_;
  uint32_t* word_ = nullptr;
  std::thread thread_;
};

}  // namespace llmservice
