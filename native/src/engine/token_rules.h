// What a request says of single tokens, whatever the model thinks of them: OpenAI's logit_bias, and vLLM's
// allowed_token_ids, bad_words, min_tokens and thinking_token_budget. A pure function of the sequence so far,
// so that a draft's row is adjusted as the step without drafts would adjust it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace llmservice {

// How long the model may reason before it has to answer.
struct ReasoningBudget {
  int32_t tokens = 0;            // between the one that begins it and the one that ends it
  std::optional<int32_t> begin;  // id; none: the prompt begins it
  int32_t end = 0;               // id: what comes once the budget is spent
};

struct TokenRules {
  std::vector<int32_t> biased;       // ids, each once
  std::vector<float> biases;         // added to the logit of biased[i]
  std::vector<int32_t> allowed;      // ids, ascending; empty: all
  std::vector<int32_t> banned;       // sequences that must not be completed, one after the other
  std::vector<int32_t> banned_ends;  // where each of them ends in `banned`
  int32_t min_tokens = 0;            // to generate before a stop token may be
  std::optional<ReasoningBudget> reasoning;
};

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
