// How many blocks of KV an engine takes of what its device has left once all else lies there, or why those
// are too few. Pure, but for the exchange that lets all ranks come to the same answer.
#pragma once

#include <span>
#include <string>

#include "bridge/structs.h"
#include "ops/collective.h"
#include "ops/ops.h"

namespace llmservice {

struct KvDemand {
  int32_t most;        // blocks that can be of use
  int32_t block_size;  // tokens
  int32_t max_length;  // tokens of a sequence
  int32_t sequences;
  int64_t block_bytes;  // 0: no layer keeps KV
  MemoryShare share;
};

// What one rank found.
struct RankRoom {
  DeviceRoom room;
  uint64_t weight_bytes;
};

// All ranks', in their order; when every rank has come so far. Null: the only rank.
std::vector<RankRoom> rooms_of_all(const RankRoom& mine, RankChannel* others);

// Of the rank that has least. `device` names what ranks have. Throws, on all ranks alike, DeviceMemoryTaken
// where others hold what is missing, else ModelTooLarge without a block, else KvCacheTooSmall; with detail.
int32_t blocks_that_fit(const KvDemand& demand, std::span<const RankRoom> ranks, const std::string& device);

}  // namespace llmservice
