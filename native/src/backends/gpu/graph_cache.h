// Runs lists of launches, and those that come again as graphs: launching hundreds of kernels one by one takes
// longer than the kernels of a small step. Whoever makes the lists knows nothing of graphs; equal lists are
// all that it takes. The first time a list runs as it is, the second time it is captured; of the graphs,
// those that were used last are kept. Lists with calls to libraries are never captured.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "backends/gpu/device.h"
#include "backends/gpu/launch_list.h"
#include "ops/ops.h"

namespace llmservice::gpu {

class GraphCache {
 public:
  // `most` graphs are kept; 0: none are made.
  GraphCache(Device& device, size_t most) : device_(device), most_(most) {}

  // Does not wait. `comes_again`: false for lists that are not worth a graph.
  void run(const LaunchList& list, bool comes_again);

  const GraphCounts& counts() const { return counts_; }

 private:
  struct Entry {
    LaunchList list;
    Graph graph;
    uint64_t bytes = 0;  // as in GraphCounts
  };
  using Entries = std::list<Entry>;

  Entry* find(const LaunchList& list);
  // Null the first time that a list is seen, and when there is no room on the device, of which so much was
  // free before.
  Entry* make(const LaunchList& list, std::optional<size_t>& free_before);
  void count_bytes(Entry& entry, size_t free_before);

  Device& device_;
  size_t most_;
  Entries entries_;  // used last first
  std::unordered_map<uint64_t, Entries::iterator> by_hash_;
  std::unordered_set<uint64_t> seen_;  // hashes of lists without a graph
  GraphCounts counts_;
};

}  // namespace llmservice::gpu
