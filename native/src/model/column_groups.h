// Of each column of a matrix of packed integers, the group whose scale and zero point it has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmservice {

struct ColumnGroups {
  std::string where;  // file and tensor, for messages
  std::vector<int64_t> of_column;
  int64_t count;    // of groups
  int64_t columns;  // of a group
};

// Columns group by group, each group's in their own order. Throws CheckpointCorrupt where a group is none, or
// has more columns.
std::vector<int32_t> order_of(const ColumnGroups& groups);

// Throws CheckpointCorrupt unless groups lie one after the other.
void check_in_order(const ColumnGroups& groups);

}  // namespace llmservice
