#include "parallel/plan_difference.h"

#include <nlohmann/json.hpp>
#include <set>

#include "parallel/node_message.h"

namespace llmservice {
namespace {

using nlohmann::json;

constexpr const char* kEngine = "engine";
constexpr const char* kNoPlan = "one of both says of no engine what it is";

// Of a value in a message for people.
constexpr size_t kLongestValue = 300;
constexpr size_t kLongestDifference = 8'000;

// A stranger may have written it.
json plan_of(const NodePlan& plan) { return from_message(std::as_bytes(std::span(plan.json))); }

std::string member_text(const json& plan, const std::string& key) {
  if (!plan.contains(key)) return "not there";
  return plan[key].dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string cut(const std::string& text) {
  return text.size() <= kLongestValue ? text : text.substr(0, kLongestValue) + "...";
}

// Null: there is none.
json engine_of(const json& plan) {
  const auto engine = plan.is_object() ? plan.find(kEngine) : plan.end();
  return engine == plan.end() ? json() : *engine;
}

std::string difference(const json& mine, const json& theirs, const NodePlan& one, const NodePlan& other) {
  if (!mine.is_object() || !theirs.is_object()) return kNoPlan;
  std::set<std::string> keys;
  for (const json* plan : {&mine, &theirs}) {
    for (const auto& item : plan->items()) keys.insert(item.key());
  }
  std::string all;
  for (const std::string& key : keys) {
    const std::string here = member_text(mine, key);
    const std::string there = member_text(theirs, key);
    if (here == there) continue;
    if (all.size() > kLongestDifference) return all + "; and more";
    all += (all.empty() ? "" : "; ") + cut(key) + " is " + cut(here) + " on " + one.node + " and " +
           cut(there) + " on " + other.node;
  }
  return all;
}

}  // namespace

std::string plan_difference(const NodePlan& one, const NodePlan& other) {
  if (one.json == other.json) return "";
  const json mine = plan_of(one);
  const json theirs = plan_of(other);
  const json engine = engine_of(mine);
  const json their_engine = engine_of(theirs);
  if (engine == their_engine) return difference(mine, theirs, one, other);
  return difference(engine, their_engine, one, other);
}

bool of_one_engine(const NodePlan& one, const NodePlan& other) {
  return engine_of(plan_of(one)) == engine_of(plan_of(other));
}

}  // namespace llmservice
