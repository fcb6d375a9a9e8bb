// What a request says of single tokens, whatever the model thinks of them: OpenAI's logit_bias, and vLLM's
// allowed_token_ids, bad_words, min_tokens and thinking_token_budget. A pure function of the sequence so far,
// so that a draft's row is adjusted as the step without drafts would adjust it. (`reported`, its
// logprob_token_ids, changes nothing of what is drawn.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bridge/structs.h"

namespace llmservice {

// The rules of a sequence where it stands.
struct RulesAt {
  const TokenRules& rules;
  std::span<const int32_t> generated;
  std::span<const int32_t> stop_tokens;

  bool stops_wait() const { return std::ssize(generated) < rules.min_tokens; }
  bool reasoning_must_end() const;
  bool apply() const {
    return !rules.biased.empty() || !rules.allowed.empty() || !rules.banned.empty() || stops_wait() ||
           reasoning_must_end();
  }
};

// Single tokens that must not come now: those that would complete a banned sequence, and stop tokens that
// have to wait. In no order, some more than once.
std::vector<int32_t> banned_tokens(const RulesAt& at, int32_t vocab);

// Forbidden tokens get a logit of -infinity. `logits` (V).
void apply_rules(const RulesAt& at, std::span<float> logits);

}  // namespace llmservice
