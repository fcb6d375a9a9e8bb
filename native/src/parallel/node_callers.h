// Whoever connects to node 0 while it waits: who says nothing, or what no node of its engine says, is refused
// alone. What each was refused for is noted in the group's state, for a log.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "nodes/wire.h"
#include "parallel/shared_segment.h"

namespace llmservice {

class NodeCallers {
 public:
  // `silence`: without a whole message for so long, a caller is refused.
  NodeCallers(Wire& wire, GroupState& state, std::chrono::milliseconds silence)
      : wire_(wire), state_(state), silence_(silence) {}

  // What it says later is not read. `who` is its own word, empty where it gave none.
  void refuse(Wire::Peer caller, const std::string& who, const std::string& why);
  // It is no node any more, and nothing it says later is read.
  void release(Wire::Peer caller) { callers_[caller] = {.since = Clock::now(), .released = true}; }
  bool is_released(Wire::Peer caller) const;
  // Drops who is gone, was refused or says nothing, and the oldest where there are too many. Those that
  // `is_node` are no callers.
  void look(const std::function<bool(Wire::Peer)>& is_node);
  // Who was refused last, and why; empty: nobody.
  const std::string& last() const { return last_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Caller {
    Clock::time_point since;
    bool released = false;  // refused, too
  };

  void note(Wire::Peer caller, const std::string& who, const std::string& why);

  Wire& wire_;
  GroupState& state_;
  const std::chrono::milliseconds silence_;
  std::map<Wire::Peer, Caller> callers_;  // in the order in which they came
  std::string last_;
};

}  // namespace llmservice
