#include "backends/gpu/graph_cache.h"

#include <algorithm>

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
  Entry* entry = worth_one ? find(list) : nullptr;
  std::optional<size_t> free_before;
  if (entry == nullptr && worth_one) entry = make(list, free_before);
  if (entry != nullptr && device_.run(entry->graph)) {
    ++counts_.replayed;
    // Some drivers leave to the first run what the graph takes.
    if (free_before) count_bytes(*entry, *free_before);
    return;
  }
  if (entry != nullptr) ++counts_.refused;
  ++counts_.direct;
  for (const Launch& launch : list.launches()) device_.run(launch);
}

GraphCache::Entry* GraphCache::find(const LaunchList& list) {
  const auto found = by_hash_.find(list.hash());
  if (found == by_hash_.end() || !(found->second->list == list)) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

GraphCache::Entry* GraphCache::make(const LaunchList& list, std::optional<size_t>& free_before) {
  // Another list has this hash: it stays.
  if (by_hash_.contains(list.hash())) return nullptr;
  if (seen_.insert(list.hash()).second) {
    if (seen_.size() > kMaxSeen) seen_.clear();
    return nullptr;
  }
  // Running work may be that of the graph which goes.
  if (entries_.size() == most_) {
    device_.finish();
    counts_.bytes -= entries_.back().bytes;
    by_hash_.erase(entries_.back().list.hash());
    entries_.pop_back();
  }
  free_before = device_.memory().free;
  std::optional<Graph> graph = device_.capture(list.launches());
  if (!graph) {
    ++counts_.refused;
    most_ = entries_.size();
    return nullptr;
  }
  seen_.erase(list.hash());
  ++counts_.captured;
  entries_.push_front({list, std::move(*graph), 0});
  by_hash_[list.hash()] = entries_.begin();
  return &entries_.front();
}

// Nothing where others gave more back meanwhile, or where the driver takes from what it had before.
void GraphCache::count_bytes(Entry& entry, size_t free_before) {
  entry.bytes = free_before - std::min(free_before, device_.memory().free);
  counts_.bytes += entry.bytes;
}

}  // namespace llmservice::gpu
