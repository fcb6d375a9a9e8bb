#include "parallel/node_callers.h"

#include <algorithm>

#include "parallel/node_message.h"

namespace llmservice {
namespace {

// More than a group has nodes: each holds memory and a descriptor of the engine's.
constexpr size_t kMaxCallers = 2 * kMaxRanks;

}  // namespace

void NodeCallers::refuse(Wire::Peer caller, const std::string& who, const std::string& why) {
  note(caller, who, why);
  release(caller);
  wire_.post(caller, to_message({{"refused", why}}));
}

void NodeCallers::note(Wire::Peer caller, const std::string& who, const std::string& why) {
  const std::string& address = wire_.address_of_caller(caller);
  last_ = (who.empty() ? "a caller" : who) + " at " + (address.empty() ? "an unknown address" : address) +
          ": " + why;
  note_refusal(state_, last_);
}

bool NodeCallers::is_released(Wire::Peer caller) const {
  const auto found = callers_.find(caller);
  return found != callers_.end() && found->second.released;
}

void NodeCallers::look(const std::function<bool(Wire::Peer)>& is_node) {
  const auto now = Clock::now();
  for (const Wire::Peer peer : wire_.peers()) {
    if (is_node(peer)) {
      callers_.erase(peer);
      continue;
    }
    const Caller caller = callers_.try_emplace(peer, Caller{now}).first->second;
    const bool is_gone = !wire_.trouble(peer).empty();
    const bool is_late = now - caller.since > silence_;
    if (!is_gone && !is_late) continue;
    if (!caller.released)
      note(peer, "",
           is_gone ? "it went without a word"
                   : "no message came in " + std::to_string(silence_.count()) + " ms");
    callers_.erase(peer);
    wire_.drop(peer);
  }
  while (callers_.size() > kMaxCallers) {
    const auto oldest = callers_.begin();
    if (!oldest->second.released) note(oldest->first, "", "too many connections came after it");
    wire_.drop(oldest->first);
    callers_.erase(oldest);
  }
}

}  // namespace llmservice
