// The other nodes of a group, for the first rank of each node: what its shared memory says of the ranks there
// is theirs by wire. Turns go by the thread that meets; a thread of its own hears who lives and who is lost.
// Node 0 listens, all others report to it; once all are there, each has a wire to each other.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <thread>

#include "bridge/structs.h"
#include "parallel/node_callers.h"
#include "parallel/shared_segment.h"
#include "parallel/wire_loader.h"

namespace llmservice {

// Those of one node: [first, end).
struct NodeRanks {
  int32_t first;
  int32_t end;
};
NodeRanks ranks_of_node(const RankPlace& place, int32_t node);
// Of the node where the rank is.
NodeRanks ranks_here(const RankPlace& place);

// What a rank puts into its area in one turn.
struct Piece {
  size_t begin = 0;
  size_t bytes = 0;  // of another node's rank: at most
};

// Who needs it.
enum class Audience : uint8_t { kAll, kNodeOfRank0 };

class NodeLinks {
 public:
  using Check = std::function<void()>;

  // Returns when all nodes are there and agree. Throws ParallelismInvalid where plans differ, EngineFault
  // where a node does not come in time, and what `check` throws, which is called all the while.
  NodeLinks(const RankPlace& place, const SharedSegment& segment, int32_t silent_looks, const Check& check);
  // Says goodbye, or what was lost.
  ~NodeLinks();
  NodeLinks(const NodeLinks&) = delete;
  NodeLinks& operator=(const NodeLinks&) = delete;

  // One turn, once all ranks of this node have arrived: afterwards those of other nodes have, too. `piece_of`
  // gives each rank's. Throws as `check`, which a rank that is missing at the deadline makes throw.
  void exchange(uint32_t turn, uint32_t bank, const std::function<Piece(int32_t)>& piece_of,
                Audience audience, const Check& check, std::chrono::steady_clock::time_point deadline);
  // From now on nodes may leave.
  void close() { closed_.store(true); }

 private:
  struct Node {
    NodeRanks ranks = {};
    std::string name;
    std::vector<std::byte> address;
    Wire::Peer control = -1;  // -1: no wire to it; of the thread
    Wire::Peer bulk = -1;
    int32_t silent_looks = 0;
    bool at_peace = false;
  };

  void gather(const Check& check);
  void take_report(Wire::Peer from, Wire::Bytes message);
  std::string refuses(Wire::Peer from, const nlohmann::json& report, std::string& who);
  void report(const Check& check);
  bool try_leader(const Check& check, std::chrono::steady_clock::time_point deadline);
  // Throws ParallelismInvalid where node 0 refuses, std::runtime_error of what is no answer.
  void take_answer(const nlohmann::json& answer);
  void connect_all();
  // Of bulk messages: `part` is a rank, or kGreeting and a node.
  uint64_t tag(uint32_t turn, int32_t part) const {
    return uint64_t{group_} << 40 | uint64_t{turn} << 8 | static_cast<uint64_t>(part);
  }
  void settle(const Check& check, std::chrono::steady_clock::time_point deadline);
  bool is_own(const Node& node) const { return &node == &nodes_[own_.index]; }
  std::string title(int32_t node) const;

  void run();
  void post_news();
  void take_news(Wire::Peer from, Wire::Bytes message);
  void look();
  void lose(const Node& node, Loss loss);
  // Of a wire that broke: what the thread hears of it says more.
  void lose_by_wire(const Node& node, const Check& check);

  static constexpr uint32_t kGroupMask = (1U << 24) - 1;

  const RankPlace place_;
  const NodePlace& own_;
  const SharedSegment& segment_;
  GroupState& state_;
  const int32_t silent_looks_;
  std::vector<Node> nodes_;
  std::unique_ptr<Wire> control_;
  std::unique_ptr<Wire> bulk_;
  NodeCallers callers_;
  std::string refusal_;
  // By chance for each time that nodes meet: what is left on the way of an engine before is not taken.
  uint32_t group_ = 0;
  char said_ = 0;
  char heard_ = 0;  // of all
  std::atomic<bool> closed_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace llmservice
