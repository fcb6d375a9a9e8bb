// What two nodes do not agree on.
#pragma once

#include <string>

namespace llmservice {

struct NodePlan {
  std::string node;  // for people
  std::string json;  // an object
};

// "KEY is A on NODE and B on NODE", of every member that differs; empty: they are equal.
std::string plan_difference(const NodePlan& one, const NodePlan& other);

}  // namespace llmservice
