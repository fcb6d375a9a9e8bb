#include "grammar/utf8_text.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace llmservice {
namespace {

using State = Utf8Tokens::State;

bool is_in(uint8_t byte, int first, int last) { return first <= byte && byte <= last; }

std::optional<State> first_byte(uint8_t byte) {
  if (byte < 0x80) return State::kStart;
  if (is_in(byte, 0xc2, 0xdf)) return State::kOneMore;
  if (byte == 0xe0) return State::kAfterE0;
  if (byte == 0xed) return State::kAfterED;
  if (is_in(byte, 0xe1, 0xef)) return State::kTwoMore;
  if (byte == 0xf0) return State::kAfterF0;
  if (is_in(byte, 0xf1, 0xf3)) return State::kThreeMore;
  if (byte == 0xf4) return State::kAfterF4;
  return std::nullopt;
}

// None: no character continues like this.
std::optional<State> after_byte(State state, uint8_t byte) {
  const auto when = [](bool may, State next) { return may ? std::optional(next) : std::nullopt; };
  switch (state) {
    case State::kStart:
      return first_byte(byte);
    case State::kOneMore:
      return when(is_in(byte, 0x80, 0xbf), State::kStart);
    case State::kTwoMore:
      return when(is_in(byte, 0x80, 0xbf), State::kOneMore);
    case State::kThreeMore:
      return when(is_in(byte, 0x80, 0xbf), State::kTwoMore);
    case State::kAfterE0:
      return when(is_in(byte, 0xa0, 0xbf), State::kOneMore);
    case State::kAfterED:
      return when(is_in(byte, 0x80, 0x9f), State::kOneMore);
    case State::kAfterF0:
      return when(is_in(byte, 0x90, 0xbf), State::kTwoMore);
    case State::kAfterF4:
      return when(is_in(byte, 0x80, 0x8f), State::kTwoMore);
  }
  return std::nullopt;
}

std::optional<State> after_text(State state, const std::string& text) {
  std::optional<State> now = state;
  for (size_t i = 0; now && i < text.size(); ++i) now = after_byte(*now, static_cast<uint8_t>(text[i]));
  return now;
}

class Utf8Constraint final : public Constraint {
 public:
  Utf8Constraint(std::unique_ptr<Constraint> constraint, std::shared_ptr<const Utf8Tokens> tokens)
      : constraint_(std::move(constraint)), tokens_(std::move(tokens)) {}

  std::span<const uint32_t> allowed() override {
    const auto by_grammar = constraint_->allowed();
    const auto by_text = tokens_->allowed(state_);
    if (by_grammar.empty()) return by_text;
    mask_.resize(by_grammar.size());
    std::ranges::transform(by_grammar, by_text, mask_.begin(), std::bit_and());
    return mask_;
  }

  void accept(int32_t token) override {
    constraint_->accept(token);
    state_ = tokens_->after(state_, token);
  }

 private:
  std::unique_ptr<Constraint> constraint_;
  std::shared_ptr<const Utf8Tokens> tokens_;
  State state_ = State::kStart;
  std::vector<uint32_t> mask_;
};

}  // namespace

Utf8Tokens::Utf8Tokens(const std::vector<std::string>& tokens) : after_(tokens.size()) {
  for (auto& mask : allowed_) mask.resize((tokens.size() + 31) / 32);
  for (size_t id = 0; id < tokens.size(); ++id) {
    for (int from = 0; from < kStates; ++from) {
      const auto next = after_text(static_cast<State>(from), tokens[id]);
      after_[id][from] = next.value_or(kStart);
      if (next) allowed_[from][id / 32] |= uint32_t{1} << (id % 32);
    }
  }
}

std::unique_ptr<Constraint> Utf8Text::begin() const {
  return std::make_unique<Utf8Constraint>(grammar_->begin(), tokens_);
}

}  // namespace llmservice
