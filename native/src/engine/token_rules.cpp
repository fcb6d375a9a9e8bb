#include "engine/token_rules.h"

#include <algorithm>
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

// The last token of each sequence whose others were generated just now.
void forbid_completions(const TokenRules& rules, std::span<const int32_t> generated,
                        std::span<float> logits) {
  int32_t begin = 0;
  for (const int32_t end : rules.banned_ends) {
    const auto before = std::span(rules.banned).subspan(begin, end - 1 - begin);
    if (before.size() <= generated.size() && std::ranges::equal(before, generated.last(before.size()))) {
      logits[rules.banned[end - 1]] = kNever;
    }
    begin = end;
  }
}

}  // namespace

bool RulesAt::reasoning_must_end() const {
  if (!rules.reasoning) return false;
  const auto& [tokens, begin, end] = *rules.reasoning;
  auto first = generated.begin();
  if (begin) {
    first = std::find(first, generated.end(), *begin);
    if (first == generated.end()) return false;
    ++first;
  }
  return generated.end() - first >= tokens && std::find(first, generated.end(), end) == generated.end();
}

void apply_rules(const RulesAt& at, std::span<float> logits) {
  if (at.reasoning_must_end()) {
    const int32_t end[] = {at.rules.reasoning->end};
    return forbid_all_but(end, logits);
  }
  if (!at.rules.allowed.empty()) forbid_all_but(at.rules.allowed, logits);
  forbid_completions(at.rules, at.generated, logits);
  if (at.stops_wait()) {
    for (const int32_t stop : at.stop_tokens) {
      // Ids that the model does not have end nothing.
      if (stop >= 0 && stop < std::ssize(logits)) logits[stop] = kNever;
    }
  }
  for (size_t i = 0; i < at.rules.biased.size(); ++i) logits[at.rules.biased[i]] += at.rules.biases[i];
}

}  // namespace llmservice
