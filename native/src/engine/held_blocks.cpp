// SlotTable's part of KV that moves between engines: blocks that nobody may write to meanwhile.
#include "engine/plan_rules.h"
#include "engine/slots.h"

namespace llmservice {

void SlotTable::check_kv(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot,
                         bool computed) const {
  std::vector<bool> seen(limits_.num_blocks);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int32_t block = blocks[i];
    const std::string where = "blocks[" + std::to_string(i) + "]";
    const std::string what = "is " + std::to_string(block);
    if (block < 0 || block >= limits_.num_blocks) broken(where, what + ", which is no block.");
    if (seen[block]) broken(where, what + ", as another entry is.");
    seen[block] = true;
    if (computed && !whole_[block]) broken(where, what + ", whose tokens are not all computed.");
    if (!computed && holders_[block] > 0) broken(where, what + ", which is in use.");
  }
  if (!snapshot) return;
  const std::string what = "is " + std::to_string(*snapshot);
  if (*snapshot < 0 || *snapshot >= limits_.snapshots) broken("snapshot", what + ", which is none.");
  if (computed && snapshot_position_[*snapshot] == 0)
    broken("snapshot", what + ", where no state was saved.");
}

void SlotTable::hold(const std::vector<int32_t>& blocks) {
  for (const int32_t block : blocks) ++holders_[block];
}

void SlotTable::let_go(const std::vector<int32_t>& blocks) {
  for (const int32_t block : blocks) --holders_[block];
}

void SlotTable::empty(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot) {
  for (const int32_t block : blocks) whole_[block] = false;
  if (snapshot) snapshot_position_[*snapshot] = 0;
}

void SlotTable::fill(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot, int32_t position) {
  for (const int32_t block : blocks) whole_[block] = true;
  if (snapshot) snapshot_position_[*snapshot] = position;
}

}  // namespace llmservice
