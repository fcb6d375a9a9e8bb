#include "engine/kv_blocks.h"

#include <algorithm>

#include "ops/rank_values.h"

namespace llmservice {
namespace {

// Of the blocks that were planned: a plan knows devices by bounds, but not so badly.
constexpr int64_t kMinPercent = 75;

int64_t percent_of(int64_t whole, int64_t percent) {
  return whole / 100 * percent + whole % 100 * percent / 100;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::string mebibytes(int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Taken by neither the engine nor what is free.
int64_t others_of(const DeviceRoom& room) {
  return static_cast<int64_t>(room.total - std::min(room.total, room.free + room.own));
}

// `sharers`: ranks on the device.
int64_t blocks_in(const KvDemand& demand, const DeviceRoom& room, int64_t sharers) {
  const auto total = static_cast<int64_t>(room.total);
  const int64_t kept = total - percent_of(total, demand.share.utilization_percent);
  const auto free = static_cast<int64_t>(room.free);
  return std::max<int64_t>(0, free - kept - demand.share.graph_bytes) / sharers / demand.block_bytes;
}

struct Shortage {
  int64_t blocks;  // that fit
  int64_t sequence;
  size_t rank;
  size_t ranks;
  RankRoom found;
  int64_t others;
};

// Settings with which no more blocks are of use than fit: each was counted.
std::string remedies_of(const KvDemand& demand, const Shortage& shortage) {
  std::vector<std::string> found;
  const int64_t length = shortage.blocks / demand.sequences * demand.block_size;
  if (shortage.blocks >= shortage.sequence)
    found.push_back("engine.maxNumSeqs " + std::to_string(shortage.blocks / shortage.sequence));
  if (length > 0) found.push_back("engine.maxModelLen " + std::to_string(length));
  if (shortage.blocks > 0 && shortage.blocks < shortage.sequence && demand.sequences > 1)
    found.push_back("engine.maxModelLen " + std::to_string(shortage.blocks * demand.block_size) +
                    " with engine.maxNumSeqs 1");
  found.push_back("more memory, or more devices (parallelism.tensor)");
  std::string text;
  for (const std::string& each : found) text += (text.empty() ? "" : "; ") + each;
  return text;
}

[[noreturn]] void refuse(const KvDemand& demand, const Shortage& shortage, FailureReason reason,
                         const std::string& device) {
  const auto& [room, weights] = shortage.found;
  const std::string whose =
      shortage.ranks == 1 ? "the device" : "the device of rank " + std::to_string(shortage.rank);
  const std::string message =
      "KV gets what is left of " + whose + " (" + device + "): " + mebibytes(room.total) + " in all, " +
      mebibytes(room.own) + " taken by the engine (" + mebibytes(weights) + " of weights), " +
      mebibytes(shortage.others) + " by other processes and the driver, " + mebibytes(room.free) +
      " free. With engine.memoryUtilizationPercent " + std::to_string(demand.share.utilization_percent) +
      " and " + mebibytes(demand.share.graph_bytes) + " for graphs and adapters these are " +
      std::to_string(shortage.blocks) + " blocks of " + std::to_string(demand.block_size) + " tokens, " +
      mebibytes(demand.block_bytes * shortage.blocks) + "; " + std::to_string(demand.share.planned_blocks) +
      " were planned, and a sequence of " + std::to_string(demand.max_length) + " tokens takes " +
      std::to_string(shortage.sequence) + ". Any of these would do: " +
      (reason == FailureReason::kDeviceMemoryTaken ? "to end what else uses the device; " : "") +
      remedies_of(demand, shortage) + ".";
  throw EngineError(reason, message,
                    {{"totalBytes", room.total},
                     {"weightBytes", weights},
                     {"ownBytes", room.own},
                     {"otherBytes", shortage.others},
                     {"freeBytes", room.free},
                     {"blocks", shortage.blocks},
                     {"plannedBlocks", demand.share.planned_blocks},
                     {"fits", shortage.blocks * demand.block_size}});
}

}  // namespace

std::vector<RankRoom> rooms_of_all(const RankRoom& mine, RankChannel* others) {
  if (others == nullptr) return {mine};
  return values_of_all(*others, mine);
}

int32_t blocks_that_fit(const KvDemand& demand, std::span<const RankRoom> ranks, const std::string& device) {
  if (demand.block_bytes == 0) return demand.most;
  const auto sharers = [&](const RankRoom& rank) {
    return std::ranges::count_if(ranks, [&](const RankRoom& o) { return o.room.device == rank.room.device; });
  };
  const auto blocks_of = [&](const RankRoom& rank) { return blocks_in(demand, rank.room, sharers(rank)); };
  const auto least = std::ranges::min_element(ranks, {}, blocks_of);
  const int64_t blocks = blocks_of(*least);
  const int64_t sequence = ceil_div(demand.max_length, demand.block_size);
  const int64_t planned = ceil_div(demand.share.planned_blocks * kMinPercent, 100);
  const int64_t promised = std::min<int64_t>(demand.most, std::max(sequence, planned));
  if (blocks >= promised) return static_cast<int32_t>(std::min<int64_t>(demand.most, blocks));

  const Shortage shortage{.blocks = blocks,
                          .sequence = sequence,
                          .rank = static_cast<size_t>(least - ranks.begin()),
                          .ranks = ranks.size(),
                          .found = *least,
                          .others = others_of(least->room)};
  DeviceRoom alone = least->room;  // with what other processes have of it
  alone.free += std::max<int64_t>(0, shortage.others - demand.share.context_bytes);
  const auto without = blocks == 0 ? FailureReason::kModelTooLarge : FailureReason::kKvCacheTooSmall;
  const bool taken = blocks_in(demand, alone, sharers(*least)) >= promised;
  refuse(demand, shortage, taken ? FailureReason::kDeviceMemoryTaken : without, device);
}

}  // namespace llmservice
