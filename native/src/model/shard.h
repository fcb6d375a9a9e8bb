// Which part of each weight a tensor-parallel rank holds. Pure: sizes in, ranges out.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config.h"

namespace llmservice {

// Rank `rank` of `size`.
struct Shard {
  int32_t rank = 0;
  int32_t size = 1;
};

// [begin, begin + count) of an axis.
struct Range {
  int64_t begin;
  int64_t count;
  bool operator==(const Range&) const = default;
};

inline Range whole(int64_t count) { return {0, count}; }

// Equal contiguous parts of `total`. Throws ParallelismInvalid, naming `what`, when they cannot be equal.
Range shard_range(int64_t total, Shard shard, const char* what);

// Query and KV heads of a rank: whole groups of queries with their KV head; when there are fewer KV heads
// than ranks, several ranks hold the same one.
struct HeadShard {
  Range q;
  Range kv;
};
HeadShard shard_heads(int32_t heads, int32_t kv_heads, Shard shard, const char* what = "num_key_value_heads");

// Value heads of a rank, as its key heads go: those of each round where they lie in rounds over all key
// heads.
std::vector<Range> shard_value_heads(const GdnConfig& gdn, Shard shard);

// Rows of the embedding and of the head: parts that differ by one at most.
Range shard_vocab(int64_t vocab, Shard shard);

// The config as one rank sees it: its own heads, GDN heads and MLP width. The vocabulary stays whole.
ModelConfig shard_config(const ModelConfig& whole, Shard shard);

}  // namespace llmservice
