// How the nodes of a group find each other before they load: node 0 listens, the others report their plan and
// their address, and are welcomed with the addresses of all, or refused. Messages are CBOR objects.
#include <nlohmann/json.hpp>

#include "parallel/node_links.h"
#include "parallel/plan_difference.h"

namespace llmservice {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMeetingSleep{50};
constexpr std::chrono::milliseconds kBetweenCalls{500};

std::vector<std::byte> to_message(const json& message) {
  const std::vector<uint8_t> bytes = json::to_cbor(message);
  const auto all = std::as_bytes(std::span(bytes));
  return {all.begin(), all.end()};
}

// An object, or null of whatever else it is.
json from_message(Wire::Bytes message) {
  const auto* const first = reinterpret_cast<const uint8_t*>(message.data());
  json object = json::from_cbor(first, first + message.size(), true, false);
  return object.is_object() ? object : json();
}

std::vector<std::byte> from_binary(const json& binary) {
  const auto all = std::as_bytes(std::span(binary.get_binary()));
  return {all.begin(), all.end()};
}

json as_binary(Wire::Bytes bytes) {
  const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
  return json::binary({first, first + bytes.size()});
}

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
  for (;;) {
    while (control_->progress()) continue;
    if (!refusal_.empty()) throw EngineError(FailureReason::kParallelismInvalid, refusal_);
    std::string missing;
    for (int32_t node = 1; node < own_.count; ++node) {
      Node& other = nodes_[node];
      if (other.control >= 0 && !control_->trouble(other.control).empty()) {
        control_->drop(other.control);
        other.control = -1;
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
                            ". See whether its pod runs and may reach this one.");
    }
    control_->sleep(kMeetingSleep);
  }
  json all = json::array();
  for (const Node& node : nodes_) all.push_back({{"name", node.name}, {"address", as_binary(node.address)}});
  for (const Node& node : nodes_) {
    if (!is_own(node)) control_->post(node.control, to_message({{"nodes", all}}));
  }
}

// Strangers may write whatever they like: what is no report is no matter.
void NodeLinks::take_report(Wire::Peer from, Wire::Bytes message) try {
  const json report = from_message(message);
  const auto index = report.value("index", 0);
  if (index < 1 || index >= own_.count || report.at("count") != own_.count) {
    return control_->post(from, to_message({{"refused", "node 0 has " + std::to_string(own_.count) +
                                                            " nodes, and waits for no such one."}}));
  }
  Node& node = nodes_[index];
  const std::string name = report.at("name");
  const std::string difference = plan_difference(
      {title(0), own_.plan},
      {"node " + std::to_string(index) + " (" + name + ")", report.at("plan").get<std::string>()});
  if (!difference.empty()) {
    refusal_ = "The nodes of a group must agree: " + difference + ".";
    return control_->post(from, to_message({{"refused", refusal_}}));
  }
  const std::vector<std::byte> address = from_binary(report.at("address"));
  if (node.control >= 0) control_->drop(node.control);
  node.name = name;
  node.address = address;
  node.control = from;
} catch (const json::exception&) {
  return;
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
  control_->on_message([&](Wire::Peer from, Wire::Bytes message) {
    if (from == leader && answer.is_null()) answer = from_message(message);
  });
  control_->post(leader, to_message({{"index", own_.index},
                                     {"count", own_.count},
                                     {"name", own_.name},
                                     {"plan", own_.plan},
                                     {"address", as_binary(bulk_->address())}}));
  while (answer.is_null() && control_->trouble(leader).empty()) {
    wait_for("it has not all nodes yet");
    control_->sleep(kMeetingSleep);
    while (control_->progress()) continue;
  }
  control_->on_message(nullptr);
  if (answer.contains("nodes")) {
    for (int32_t node = 0; node < own_.count; ++node) {
      nodes_[node].name = answer["nodes"].at(node).at("name");
      nodes_[node].address = from_binary(answer["nodes"].at(node).at("address"));
    }
    nodes_[0].control = leader;
    note_waiting(state_, "");
    return true;
  }
  if (answer.contains("refused")) {
    throw EngineError(FailureReason::kParallelismInvalid, answer["refused"].get<std::string>());
  }
  const std::string trouble = control_->trouble(leader);
  control_->drop(leader);
  wait_for(trouble);
  return false;
}

}  // namespace llmservice
