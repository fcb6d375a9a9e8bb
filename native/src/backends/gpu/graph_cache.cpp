#include "backends/gpu/graph_cache.h"

namespace llmservice::gpu {
namespace {

// Lists that were seen once are forgotten all together when they are so many.
constexpr size_t kMaxSeen = 4096;

}  // namespace

// What NCCL has in a graph must be in one on every rank, and the same graph ("Using NCCL with CUDA Graphs").
// Ranks decide for themselves here, and one may have no room; and a graph for each piece between calls, of
// which a step has hundreds, would leave room for no other step. So such lists run as they are.
void GraphCache::run(const LaunchList& list, bool comes_again) {
  const bool worth_one = comes_again && most_ > 0 && !list.has_calls();
  const Graph* graph = worth_one ? find(list) : nullptr;
  if (graph == nullptr && worth_one) graph = make(list);
  if (graph != nullptr && device_.run(*graph)) {
    ++counts_.replayed;
    return;
  }
  ++counts_.direct;
  for (const Launch& launch : list.launches()) device_.run(launch);
}

const Graph* GraphCache::find(const LaunchList& list) {
  const auto found = by_hash_.find(list.hash());
  if (found == by_hash_.end() || !(found->second->list == list)) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front().graph;
}

const Graph* GraphCache::make(const LaunchList& list) {
  // Another list has this hash: it stays.
  if (by_hash_.contains(list.hash())) return nullptr;
  if (seen_.insert(list.hash()).second) {
    if (seen_.size() > kMaxSeen) seen_.clear();
    return nullptr;
  }
  // Running work may be that of the graph which goes.
  if (entries_.size() == most_) {
    device_.finish();
    by_hash_.erase(entries_.back().list.hash());
    entries_.pop_back();
  }
  std::optional<Graph> graph = device_.capture(list.launches());
  if (!graph) {
    most_ = entries_.size();
    return nullptr;
  }
  seen_.erase(list.hash());
  ++counts_.captured;
  entries_.push_front({list, std::move(*graph)});
  by_hash_[list.hash()] = entries_.begin();
  return &entries_.front().graph;
}

}  // namespace llmservice::gpu
