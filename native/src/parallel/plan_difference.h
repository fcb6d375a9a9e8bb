// What two nodes do not agree on. A plan says of which engine a node is, in its member `engine`, and what the
// node makes of that, in all others.
#pragma once

#include <string>

namespace llmservice {

struct NodePlan {
  std::string node;  // for people
  std::string json;  // an object
};

// "KEY is A on NODE and B on NODE", of every member that differs; empty: they are equal. Of plans of two
// engines it is what these differ in.
std::string plan_difference(const NodePlan& one, const NodePlan& other);
bool of_one_engine(const NodePlan& one, const NodePlan& other);

}  // namespace llmservice
