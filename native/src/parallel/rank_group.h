// The ranks of one model. To exchange something each writes its area, arrives, waits until all
// have, and reads the others' areas. The next exchange uses the other of two banks of areas, so that a rank
// that is ahead never overwrites what another still reads: it cannot be ahead by two, since all meet in each.
// All ranks must make the same calls in the same order. Where the ranks are of several stages, those of one
// add up and gather logits among themselves, in turns and banks of their own. Where ranks are on several
// nodes, each node has such memory for all ranks, and its first rank sees to the others' areas and turns
// (NodeLinks).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bridge/structs.h"
#include "ops/collective.h"
#include "ops/error.h"
#include "parallel/node_links.h"
#include "parallel/rank_watch.h"

namespace llmservice {

struct GroupLimits {
  std::chrono::milliseconds join{30'000};    // until all ranks are there, and for each exchange()
  std::chrono::milliseconds silence{3'000};  // of a process that stalls
};

// Everything below throws once a rank is lost: the error that the rank gave up with, or EngineFault, naming
// the rank and what it was at.
class RankGroup final : public Collective, public RankChannel, public StageLinks {
 public:
  // Returns when all ranks have joined.
  explicit RankGroup(const RankPlace& place, const GroupLimits& limits = {});
  // Without close() the others take it for a loss.
  ~RankGroup() override;

  int32_t rank() const override { return rank_; }
  int32_t size() const override { return size_; }
  std::chrono::milliseconds patience() const override { return limits_.join; }
  void doing(Doing what) { self().doing.store(what); }
  // Throws if a rank was lost; for work between turns.
  void check() const override;
  bool ended() const override { return closed_; }
  void mark_loss(uint32_t* word) override { watch_.mark(word); }
  // This rank leaves because of `error`, which the others then throw too.
  void give_up(const EngineError& error);

  // Returns when every rank has called it.
  void meet() {
    meet_with([](int32_t) { return Piece{}; });
  }
  // Of the ranks of this one's stage, as the next.
  void all_reduce(float* x, int64_t count) override;
  void gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) override;
  void pass(std::span<const float> mine, std::span<const int64_t> floats, int32_t from,
            float* theirs) override;
  // Rank 0 sends, all others receive.
  void send(std::span<const std::byte> message);
  std::vector<std::byte> receive();
  std::vector<std::byte> exchange(std::span<const std::byte> mine) override;
  // Rank 0 ends the group by an empty message; a rank that receives it closes too. Then leaving is no loss.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  RankState& self() const { return state_.ranks[rank_]; }
  // Turns that ranks [first, end) have with each other.
  struct Turns {
    int32_t first;
    int32_t end;
    bool of_stage;
    uint32_t met = 0;  // that this rank has met in
    uint32_t bank = 0;

    int32_t size() const { return end - first; }
    std::atomic<uint32_t>& turn(RankState& rank) const { return of_stage ? rank.stage_turn : rank.turn; }
    std::atomic<uint32_t>& sleepers(RankState& rank) const {
      return of_stage ? rank.stage_sleepers : rank.sleepers;
    }
    // Ends an exchange: the next one uses the other bank.
    void turn_over() { bank ^= 1; }
  };

  template <class T>
  T* area(const Turns& turns, int32_t rank) const {
    return reinterpret_cast<T*>(segment_.area(rank, turns.bank + (turns.of_stage ? 2 : 0)));
  }
  template <class T>
  T* area(int32_t rank) const {
    return area<T>(all_, rank);
  }
  Turns& of_sums() { return stage_ ? *stage_ : all_; }
  void reach_nodes(const RankPlace& place);
  void join();
  // Once all ranks have written their pieces, each node has all that it is the audience of.
  template <class PieceOf>
  void meet_with(const PieceOf& piece_of, Audience audience = Audience::kAll,
                 Clock::time_point deadline = Clock::time_point::max()) {
    arrive(all_);
    if (nodes_) meet_nodes(piece_of, audience, deadline);
    wait_for_all(all_, deadline);
  }
  // The same of ranks that lie on one node where they are a stage.
  template <class PieceOf>
  void meet_for_sums(const PieceOf& piece_of, Audience audience = Audience::kAll) {
    if (!stage_) return meet_with(piece_of, audience);
    arrive(*stage_);
    wait_for_all(*stage_, Clock::time_point::max());
  }
  void meet_nodes(const std::function<Piece(int32_t)>& piece_of, Audience audience,
                  Clock::time_point deadline);
  void arrive(const Turns& turns);
  void wait_for_all(Turns& turns, Clock::time_point deadline);
  void wait_for(const Turns& turns, int32_t rank, Clock::time_point deadline) const;
  [[noreturn]] void throw_loss(uint32_t failure) const;

  SharedSegment segment_;
  GroupState& state_;
  const int32_t rank_;
  const int32_t size_;
  const NodeRanks here_;
  const GroupLimits limits_;
  Turns all_;
  std::optional<Turns> stage_;  // none: there is one stage
  bool closed_ = false;
  RankWatch watch_;
  std::unique_ptr<NodeLinks> nodes_;  // of a node's first rank, where there are several nodes
};

}  // namespace llmservice
