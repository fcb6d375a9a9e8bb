// Calls of tools between marker tokens, which stand for no text: before and between calls only what may be
// there, inside of each what a grammar allows, and the end marker where that grammar could end.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/constraint.h"

namespace llmservice {

struct CallMarkers {
  int32_t begin;
  std::optional<int32_t> end;   // none: a call ends with its body, before another or the end of the text
  std::vector<int32_t> breaks;  // ids that are nothing but line breaks: one may come before each call
  std::vector<int32_t> stops;   // ids that end the text
  int32_t vocab;
};

// What an answer may be instead of calls.
enum class Otherwise : uint8_t {
  kNothing,   // one call at the least
  kAnything,  // calls anywhere in free text
  kGrammar,   // a text of another grammar
};

struct CallRules {
  std::shared_ptr<const Grammar> body;   // of each call, without its markers
  std::shared_ptr<const Grammar> other;  // null but with kGrammar
  Otherwise otherwise;
  bool many;  // calls one after the other
};

class ToolCalls final : public Grammar {
 public:
  ToolCalls(CallRules rules, CallMarkers markers) : rules_(std::move(rules)), markers_(std::move(markers)) {}

  // Holds on to what it needs of this.
  std::unique_ptr<Constraint> begin() const override;

 private:
  CallRules rules_;
  CallMarkers markers_;
};

}  // namespace llmservice
