#include "model/column_groups.h"

#include "ops/error.h"

namespace llmservice {
namespace {

[[noreturn]] void refuse(const ColumnGroups& groups, int64_t column, const std::string& expected) {
  throw EngineError(FailureReason::kCheckpointCorrupt,
                    groups.where + " says that column " + std::to_string(column) + " is of group " +
                        std::to_string(groups.of_column[column]) + "; expected " + expected + ".");
}

}  // namespace

std::vector<int32_t> order_of(const ColumnGroups& groups) {
  std::vector<int64_t> next(groups.count);
  std::vector<int32_t> order(groups.of_column.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const int64_t group = groups.of_column[k];
    const auto column = static_cast<int64_t>(k);
    if (group < 0 || group >= groups.count) {
      refuse(groups, column, "0 to " + std::to_string(groups.count - 1));
    }
    if (next[group] == groups.columns) {
      refuse(groups, column, "no more than " + std::to_string(groups.columns) + " columns in a group");
    }
    order[group * groups.columns + next[group]++] = static_cast<int32_t>(column);
  }
  return order;
}

void check_in_order(const ColumnGroups& groups) {
  for (size_t k = 0; k < groups.of_column.size(); ++k) {
    const auto column = static_cast<int64_t>(k);
    const int64_t expected = column / groups.columns;
    if (groups.of_column[k] == expected) continue;
    refuse(groups, column, std::to_string(expected) + ", since config.json says nothing of another order");
  }
}

}  // namespace llmservice
