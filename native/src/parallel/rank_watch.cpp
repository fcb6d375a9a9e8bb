#include "parallel/rank_watch.h"

#include <cerrno>

#include "parallel/shared_wait.h"

namespace llmservice {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{100};

}  // namespace

void declare_loss(GroupState& state, int32_t ranks, int32_t rank, Loss loss) {
  const auto doing = static_cast<uint32_t>(state.ranks[rank].doing.load());
  const uint32_t failure = static_cast<uint32_t>(rank) | static_cast<uint32_t>(loss) << 8 | doing << 16;
  adopt_loss(state, ranks, failure);
}

void adopt_loss(GroupState& state, int32_t ranks, uint32_t failure) {
  uint32_t none = 0;
  if (!state.failure.compare_exchange_strong(none, failure)) return;
  for (int32_t each = 0; each < ranks; ++each) {
    shared_wake(state.ranks[each].turn);
    shared_wake(state.ranks[each].stage_turn);
  }
}

RankWatch::RankWatch(GroupState& state, int32_t rank, int32_t first, int32_t end, int32_t ranks,
                     std::chrono::milliseconds silence)
    : state_(state),
      rank_(rank),
      first_(first),
      end_(end),
      ranks_(ranks),
      silent_looks_(static_cast<int32_t>(silence / kBetweenChecks)),
      thread_([this] { run(); }) {
  while (started_.load() == 0) shared_wait(started_, 0, kBetweenChecks);
}

RankWatch::~RankWatch() {
  stopping_.store(1);
  shared_wake(stopping_);
  thread_.join();
}

void RankWatch::mark(uint32_t* word) {
  const std::scoped_lock lock(marking_);
  word_ = word;
}

void RankWatch::run() {
  RankState& self = state_.ranks[rank_];
  pthread_mutex_lock(&self.alive);
  started_.store(1);
  shared_wake(started_);
  while (stopping_.load() == 0) {
    self.beat.fetch_add(1);
    for (int32_t rank = first_; rank < end_; ++rank) {
      if (rank != rank_ && state_.failure.load() == 0) check_rank(rank);
    }
    if (state_.failure.load() != 0) {
      const std::scoped_lock lock(marking_);
      if (word_ != nullptr) std::atomic_ref(*word_).store(1);
    }
    shared_wait(stopping_, 0, kBetweenChecks);
  }
  pthread_mutex_unlock(&self.alive);
}

void RankWatch::check_rank(int32_t rank) {
  RankState& other = state_.ranks[rank];
  if (other.joined.load() == 0) return;
  const int held = pthread_mutex_trylock(&other.alive);
  if (held != EBUSY) {
    if (held == EOWNERDEAD) pthread_mutex_consistent(&other.alive);
    if (held == 0 || held == EOWNERDEAD) pthread_mutex_unlock(&other.alive);
    // A rank that leaves in peace says so before it lets go.
    if (other.joined.load() != 0) declare_loss(state_, ranks_, rank, Loss::kDied);
    return;
  }
  const uint32_t beat = other.beat.load();
  looks_[rank] = beat == beats_[rank] ? looks_[rank] + 1 : 0;
  beats_[rank] = beat;
  if (looks_[rank] > silent_looks_) declare_loss(state_, ranks_, rank, Loss::kSilent);
}

}  // namespace llmservice
