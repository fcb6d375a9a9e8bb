#include "engine/token_rules.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace llmservice {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void forbid_all_but(std::span<const int32_t> allowed, std::span<float> logits) {
  size_t next = 0;
  for (const auto id : allowed) {
    std::fill(logits.begin() + next, logits.begin() + id, kNever);
    next = static_cast<size_t>(id) + 1;
  }
  std::fill(logits.begin() + next, logits.end(), kNever);
}

}  // namespace

bool RulesAt::reasoning_must_end() const {
  if (!rules.reasoning) return false;
  const auto& [tokens, blanks, begin, end] = *rules.reasoning;
  auto first = generated.begin();
  if (begin) {
    // Behind anything but space it is quoted.
    first = std::find_if(first, generated.end(),
                         [&](int32_t id) { return !std::ranges::binary_search(blanks, id); });
    if (first == generated.end() || *first != *begin) return false;
    ++first;
  }
  return generated.end() - first >= tokens && std::find(first, generated.end(), end) == generated.end();
}

std::vector<int32_t> banned_tokens(const RulesAt& at, int32_t vocab) {
  std::vector<int32_t> banned;
  int32_t begin = 0;
  for (const int32_t end : at.rules.banned_ends) {
    // The last token of a sequence whose others were generated just now.
    const auto before = std::span(at.rules.banned).subspan(begin, end - 1 - begin);
    if (before.size() <= at.generated.size() &&
        std::ranges::equal(before, at.generated.last(before.size()))) {
      banned.push_back(at.rules.banned[end - 1]);
    }
    begin = end;
  }
  if (at.stops_wait()) {
    // Ids that the model does not have end nothing.
    std::ranges::copy_if(at.stop_tokens, std::back_inserter(banned),
                         [&](int32_t stop) { return stop >= 0 && stop < vocab; });
  }
  return banned;
}

void apply_rules(const RulesAt& at, std::span<float> logits) {
  if (at.reasoning_must_end()) {
    const int32_t end[] = {at.rules.reasoning->end};
    return forbid_all_but(end, logits);
  }
  if (!at.rules.allowed.empty()) forbid_all_but(at.rules.allowed, logits);
  for (const int32_t id : banned_tokens(at, static_cast<int32_t>(logits.size()))) logits[id] = kNever;
  for (size_t i = 0; i < at.rules.biased.size(); ++i) logits[at.rules.biased[i]] += at.rules.biases[i];
}

}  // namespace llmservice
