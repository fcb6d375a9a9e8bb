// Texts that are UTF-8 throughout: narrows another grammar's tokens to those that continue well formed. Where
// a vocabulary has bytes as tokens, XGrammar lets them make overlong forms and surrogates, of which readers
// of text make several U+FFFD each: more characters than a schema's maxLength allows.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/constraint.h"

namespace llmservice {

// What each token of a vocabulary does to a reader of UTF-8.
class Utf8Tokens {
 public:
  // What may come next, by Table 3-7 of the Unicode Standard (well-formed byte sequences).
  enum State : uint8_t { kStart, kOneMore, kTwoMore, kThreeMore, kAfterE0, kAfterED, kAfterF0, kAfterF4 };
  static constexpr int kStates = 8;

  explicit Utf8Tokens(const std::vector<std::string>& tokens);

  // A bit per id, as in Constraint::allowed.
  std::span<const uint32_t> allowed(State state) const { return allowed_[state]; }
  State after(State state, int32_t token) const { return after_[token][state]; }

 private:
  std::vector<std::array<State, kStates>> after_;  // by token; kStart where it is not allowed
  std::array<std::vector<uint32_t>, kStates> allowed_;
};

class Utf8Text final : public Grammar {
 public:
  Utf8Text(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const Utf8Tokens> tokens)
      : grammar_(std::move(grammar)), tokens_(std::move(tokens)) {}

  std::unique_ptr<Constraint> begin() const override;

 private:
  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const Utf8Tokens> tokens_;
};

}  // namespace llmservice
