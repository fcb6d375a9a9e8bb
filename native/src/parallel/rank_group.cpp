// Joining, meeting and losing ranks. What they exchange is in exchange.cpp.
#include "parallel/rank_group.h"

#include <unistd.h>

#include <cstring>

#include "parallel/shared_wait.h"

namespace llmservice {
namespace {

// A wake that a dying rank did not send is made up for after this.
constexpr std::chrono::milliseconds kLongestSleep{50};

const char* name_of(Doing doing) {
  switch (doing) {
    case Doing::kJoining:
      return "joining";
    case Doing::kConnecting:
      return "connecting its device with the others'";
    case Doing::kLoading:
      return "loading weights";
    case Doing::kWaiting:
      return "waiting for a step";
    case Doing::kPrefilling:
      return "computing a prefill step";
    case Doing::kDecoding:
      return "computing a decode step";
  }
  return "";
}

const char* name_of(Loss loss) {
  switch (loss) {
    case Loss::kDied:
      return "ended";
    case Loss::kSilent:
      return "stalled";
    case Loss::kMissing:
      return "did not start in time, or stalled,";
    case Loss::kGaveUp:
      return "gave up after an error of its own";
  }
  return "";
}

// Ranks that no node meets wait for the one that does.
GroupLimits with_nodes(GroupLimits limits, const RankPlace& place) {
  if (place.nodes) limits.join += std::chrono::milliseconds(place.nodes->wait_ms);
  return limits;
}

// Ranks of one stage stand together.
int32_t stage_size(const RankPlace& place) { return place.size / place.stages.value_or(1); }

}  // namespace

RankGroup::RankGroup(const RankPlace& place, const GroupLimits& limits)
    : segment_(place.segment, place.size, place.stages.value_or(1)),
      state_(segment_.state()),
      rank_(place.rank),
      size_(place.size),
      here_(ranks_here(place)),
      limits_(with_nodes(limits, place)),
      all_{.first = 0, .end = place.size, .of_stage = false},
      watch_(state_, rank_, here_.first, here_.end, size_, limits.silence) {
  if (const int32_t ranks = stage_size(place); ranks < size_) {
    const int32_t first = rank_ / ranks * ranks;
    stage_ = Turns{.first = first, .end = first + ranks, .of_stage = true};
  }
  self().pid.store(getpid());
  self().joined.store(1);
  shared_wake(self().joined);
  if (place.nodes && rank_ == here_.first) reach_nodes(place);
  join();
}

void RankGroup::reach_nodes(const RankPlace& place) {
  try {
    nodes_ = std::make_unique<NodeLinks>(place, segment_, watch_.silent_looks(), [this] { check(); });
  } catch (const EngineError& error) {
    give_up(error);
    throw;
  }
  for (int32_t rank = 0; rank < size_; ++rank) {
    if (rank >= here_.first && rank < here_.end) continue;
    state_.ranks[rank].joined.store(1);
    shared_wake(state_.ranks[rank].joined);
  }
}

RankGroup::~RankGroup() {
  if (closed_) {
    self().joined.store(0);
  } else {
    declare_loss(state_, size_, rank_, Loss::kGaveUp);
  }
  nodes_.reset();  // with the last word on it
}

void RankGroup::join() {
  const auto deadline = Clock::now() + limits_.join;
  for (int32_t rank = 0; rank < size_; ++rank) {
    const std::atomic<uint32_t>& joined = state_.ranks[rank].joined;
    while (joined.load() == 0) {
      check();
      if (Clock::now() >= deadline) declare_loss(state_, size_, rank, Loss::kMissing);
      shared_wait(joined, 0, kLongestSleep);
    }
  }
  doing(Doing::kLoading);
}

void RankGroup::check() const {
  const uint32_t failure = state_.failure.load();
  if (failure != 0) throw_loss(failure);
}

void RankGroup::give_up(const EngineError& error) {
  self().reason = error.reason();
  // Zeroed memory ends the text.
  std::strncpy(self().message, error.what(), sizeof(self().message) - 1);
  declare_loss(state_, size_, rank_, Loss::kGaveUp);
}

void RankGroup::throw_loss(uint32_t failure) const {
  const auto rank = static_cast<int32_t>(failure & 0xff);
  const auto loss = static_cast<Loss>(failure >> 8 & 0xff);
  const auto doing = static_cast<Doing>(failure >> 16);
  const RankState& lost = state_.ranks[rank];
  const std::string where = lost.node;
  const std::string who =
      "Rank " + std::to_string(rank) + " of " + std::to_string(size_) + (where.empty() ? "" : " on " + where);
  if (loss == Loss::kGaveUp && lost.message[0] != 0) {
    throw RankLost(lost.reason, who + ": " + std::string(lost.message));
  }
  throw RankLost(FailureReason::kEngineFault, who + " (process " + std::to_string(lost.pid.load()) + ") " +
                                                  name_of(loss) + " while " + name_of(doing) + ".");
}

void RankGroup::meet_nodes(const std::function<Piece(int32_t)>& piece_of, Audience audience,
                           Clock::time_point deadline) {
  for (int32_t rank = here_.first; rank < here_.end; ++rank) wait_for(all_, rank, deadline);
  nodes_->exchange(
      all_.met, all_.bank, piece_of, audience, [this] { check(); }, deadline);
}

void RankGroup::arrive(const Turns& turns) {
  turns.turn(self()).store(turns.met + 1);
  if (turns.sleepers(self()).load() != 0) shared_wake(turns.turn(self()));
}

void RankGroup::wait_for_all(Turns& turns, Clock::time_point deadline) {
  for (int32_t rank = turns.first; rank < turns.end; ++rank) wait_for(turns, rank, deadline);
  ++turns.met;
}

void RankGroup::wait_for(const Turns& turns, int32_t rank, Clock::time_point deadline) const {
  std::atomic<uint32_t>& turn = turns.turn(state_.ranks[rank]);
  std::atomic<uint32_t>& sleepers = turns.sleepers(state_.ranks[rank]);
  // The difference and not the order of the numbers: they wrap around.
  const auto reached = [&] { return static_cast<int32_t>(turn.load() - turns.met) > 0; };
  while (!spin_until(reached)) {
    if (Clock::now() >= deadline) declare_loss(state_, size_, rank, Loss::kMissing);
    check();
    const uint32_t seen = turn.load();
    sleepers.fetch_add(1);
    if (!reached()) shared_wait(turn, seen, kLongestSleep);
    sleepers.fetch_sub(1);
  }
}

void RankGroup::close() {
  if (rank_ == 0) send({});
  closed_ = true;
  if (nodes_) nodes_->close();
}

}  // namespace llmservice
