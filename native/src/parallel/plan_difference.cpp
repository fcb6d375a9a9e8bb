#include "parallel/plan_difference.h"

#include <nlohmann/json.hpp>
#include <set>

namespace llmservice {
namespace {

using nlohmann::json;

std::string member_text(const json& plan, const std::string& key) {
  return plan.contains(key) ? plan[key].dump(-1, ' ', false, json::error_handler_t::replace) : "not there";
}

}  // namespace

std::string plan_difference(const NodePlan& one, const NodePlan& other) {
  if (one.json == other.json) return "";
  const json mine = json::parse(one.json, nullptr, false);
  const json theirs = json::parse(other.json, nullptr, false);
  if (!mine.is_object() || !theirs.is_object()) return "one of both plans is no JSON object";
  std::set<std::string> keys;
  for (const json* plan : {&mine, &theirs}) {
    for (const auto& item : plan->items()) keys.insert(item.key());
  }
  std::string all;
  for (const std::string& key : keys) {
    const std::string here = member_text(mine, key);
    const std::string there = member_text(theirs, key);
    if (here == there) continue;
    all += (all.empty() ? "" : "; ") + key + " is " + here + " on " + one.node + " and " + there + " on " +
           other.node;
  }
  return all;
}

}  // namespace llmservice
