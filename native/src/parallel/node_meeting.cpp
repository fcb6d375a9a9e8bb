// How the nodes of a group find each other before they load: node 0 listens, the others report their plan and
// their address, and are welcomed with the addresses of all, or refused; until then node 0 says for whom it
// waits.
#include <algorithm>
#include <random>
#include <utility>

#include "ops/error.h"
#include "parallel/node_links.h"
#include "parallel/node_message.h"
#include "parallel/plan_difference.h"

namespace llmservice {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMeetingSleep{50};
constexpr std::chrono::milliseconds kBetweenCalls{500};
constexpr std::chrono::milliseconds kBetweenWords{100};
// Of a node's name, which is for people.
constexpr size_t kLongestName = 100;

std::string in_seconds(int32_t ms) { return std::to_string(ms / 1000) + " s"; }

}  // namespace

std::string NodeLinks::title(int32_t node) const {
  const std::string& name = nodes_[node].name;
  return "node " + std::to_string(node) + " of " + std::to_string(own_.count) +
         (name.empty() ? "" : " (" + name + ")");
}

void NodeLinks::gather(const Check& check) {
  control_->on_message([this](Wire::Peer from, Wire::Bytes message) { take_report(from, message); });
  control_->listen(static_cast<uint16_t>(own_.port));
  const auto deadline = Clock::now() + std::chrono::milliseconds(own_.wait_ms);
  auto next_word = Clock::now();
  for (;;) {
    while (control_->progress()) continue;
    callers_.look([&](Wire::Peer peer) {
      return std::ranges::any_of(nodes_, [&](const Node& node) { return node.control == peer; });
    });
    if (!refusal_.empty()) throw EngineError(FailureReason::kParallelismInvalid, refusal_);
    std::string missing;
    for (int32_t node = 1; node < own_.count; ++node) {
      Node& other = nodes_[node];
      if (other.control >= 0 && !control_->trouble(other.control).empty()) {
        // While one is dropped its successor may report.
        control_->drop(std::exchange(other.control, -1));
      }
      if (other.control < 0) missing += (missing.empty() ? "" : ", ") + title(node);
    }
    note_waiting(state_,
                 missing.empty() ? "" : missing + ", to connect to port " + std::to_string(own_.port));
    if (missing.empty()) break;
    check();
    if (Clock::now() > deadline) {
      throw EngineError(FailureReason::kEngineFault,
                        "In " + in_seconds(own_.wait_ms) + " no connection came from " + missing +
                            " to port " + std::to_string(own_.port) +
                            ". See whether its pod runs and may reach this one." +
                            (callers_.last().empty() ? "" : " Refused last was " + callers_.last() + "."));
    }
    if (Clock::now() >= next_word) {
      next_word = Clock::now() + kBetweenWords;
      for (const Node& node : nodes_) {
        if (node.control >= 0) control_->post(node.control, to_message({{"waiting", missing}}));
      }
    }
    control_->sleep(kMeetingSleep);
  }
  // Whoever comes now is of no use to this group: the next engine takes him.
  control_->on_message(nullptr);
  control_->stop_listening();
  group_ = std::random_device{}() & kGroupMask;
  json all = json::array();
  for (const Node& node : nodes_)
    all.push_back({{"name", node.name}, {"address", address_text(node.address)}});
  for (const Node& node : nodes_) {
    if (!is_own(node)) control_->post(node.control, to_message({{"nodes", all}, {"group", group_}}));
  }
}

// Strangers may write whatever they like: who sends no report of a node that is waited for is refused alone.
void NodeLinks::take_report(Wire::Peer from, Wire::Bytes message) {
  if (callers_.is_released(from)) return;
  std::string who;
  try {
    const std::string why = refuses(from, from_message(message), who);
    if (!why.empty()) callers_.refuse(from, who, why);
  } catch (const json::exception&) {
    callers_.refuse(from, who, "what it says is no report of a node");
  }
}

// Why; empty: it is the node that it says. `who` becomes what it calls itself.
std::string NodeLinks::refuses(Wire::Peer from, const json& report, std::string& who) {
  const auto index = report.at("index").get<int64_t>();
  const std::string name = report.at("name").get<std::string>().substr(0, kLongestName);
  who = "node " + std::to_string(index) + " (" + name + ")";
  if (index < 1 || index >= own_.count || report.at("count") != own_.count)
    return "node 0 has " + std::to_string(own_.count) + " nodes, and waits for no such one";
  Node& node = nodes_[index];
  const std::vector<std::byte> address = address_of(report.at("address"));
  if (address.empty()) return "its address is none";
  const NodePlan own{title(0), own_.plan};
  const NodePlan theirs{who, report.at("plan").get<std::string>()};
  const std::string difference = plan_difference(own, theirs);
  if (!difference.empty()) {
    const std::string why = "The nodes of a group must agree: " + difference;
    // Of another engine is a stranger, or a node of before: the one that is waited for may still come.
    if (of_one_engine(own, theirs)) refusal_ = why + ".";
    return why;
  }
  // A pod that is started again has its name again, and its connection of before may not be known to be dead.
  if (node.control >= 0 && node.control != from && node.name != name &&
      control_->trouble(node.control).empty())
    return "Two nodes say that they are " + title(static_cast<int32_t>(index)) + ": this one is " + name;
  if (node.control >= 0 && node.control != from) callers_.release(node.control);
  node.name = name;
  node.address = address;
  node.control = from;
  return "";
}

void NodeLinks::report(const Check& check) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(own_.wait_ms);
  while (!try_leader(check, deadline)) {
    const auto again = Clock::now() + kBetweenCalls;
    while (Clock::now() < again) {
      check();
      control_->sleep(kMeetingSleep);
      while (control_->progress()) continue;
    }
  }
}

// False: it is to be called again.
bool NodeLinks::try_leader(const Check& check, Clock::time_point deadline) {
  const std::string where = title(0) + " at " + own_.leader + ":" + std::to_string(own_.port);
  const auto wait_for = [&](const std::string& why) {
    note_waiting(state_, where + ": " + why);
    check();
    if (Clock::now() > deadline) {
      throw EngineError(FailureReason::kEngineFault, "In " + in_seconds(own_.wait_ms) +
                                                         " no answer came from " + where + ": " + why + ".");
    }
  };
  Wire::Peer leader = -1;
  try {
    leader = control_->dial(own_.leader, static_cast<uint16_t>(own_.port));
  } catch (const std::runtime_error& error) {
    wait_for(error.what());
    return false;
  }
  json answer;
  std::string why = "it does not answer";
  auto heard = Clock::now();
  control_->on_message([&](Wire::Peer from, Wire::Bytes message) {
    if (from != leader || !answer.is_null()) return;
    json said = from_message(message);
    heard = Clock::now();
    if (const auto whom = said.find("waiting"); whom != said.end() && whom->is_string()) {
      why = "it waits for " + whom->get<std::string>();
    } else {
      answer = std::move(said);
    }
  });
  control_->post(leader, to_message({{"index", own_.index},
                                     {"count", own_.count},
                                     {"name", own_.name},
                                     {"plan", own_.plan},
                                     {"address", address_text(bulk_->address())}}));
  // Its node may be gone without a word, and its name have another address since.
  const auto is_silent = [&] { return Clock::now() - heard > kBetweenWords * silent_looks_; };
  while (answer.is_null() && control_->trouble(leader).empty() && !is_silent()) {
    wait_for(why);
    control_->sleep(kMeetingSleep);
    while (control_->progress()) continue;
  }
  control_->on_message(nullptr);
  if (!answer.is_null()) {
    take_answer(answer);
    nodes_[0].control = leader;
    note_waiting(state_, "");
    return true;
  }
  const std::string trouble = control_->trouble(leader);
  control_->drop(leader);
  wait_for(trouble.empty() ? "it does not answer" : trouble);
  return false;
}

void NodeLinks::take_answer(const json& answer) try {
  if (answer.contains("refused")) {
    throw EngineError(FailureReason::kParallelismInvalid, answer["refused"].get<std::string>() + ".");
  }
  group_ = answer.at("group").get<uint32_t>() & kGroupMask;
  for (int32_t node = 0; node < own_.count; ++node) {
    const json& other = answer.at("nodes").at(node);
    nodes_[node].name = other.at("name").get<std::string>().substr(0, kLongestName);
    nodes_[node].address = address_of(other.at("address"));
    if (nodes_[node].address.empty()) throw std::runtime_error("node 0 gives an address that is none");
  }
} catch (const json::exception& error) {
  throw std::runtime_error(std::string("node 0 says what no first node says: ") + error.what());
}

}  // namespace llmservice
