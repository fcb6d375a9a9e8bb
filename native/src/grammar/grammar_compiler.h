// Grammars over the tokens of one vocabulary, by XGrammar: a client's structured output, compiled
// to masks of tokens.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/structs.h"
#include "engine/constraint.h"

namespace llmservice {

// What the text of GrammarKind::kToolCalls is: tool_calls.h.

// Bytes of each id of a model. Those that are empty stand for no text (control tokens, padding) and are never
// allowed but as `stop_tokens`, where the grammar may end, and as the markers of kToolCalls.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<int32_t> stop_tokens;
};

// Safe to use from several threads at once. Grammars outlive it.
class GrammarCompiler {
 public:
  explicit GrammarCompiler(const Vocabulary& vocabulary);
  ~GrammarCompiler();

  // Takes from microseconds, where the cache of the last grammars has it, to seconds. Throws EngineError
  // GrammarInvalid where the text is no grammar of its kind; the message says why, for the client.
  std::shared_ptr<const Grammar> compile(GrammarKind kind, const std::string& text);

  // The same for another process, whose compiler of the same vocabulary reads it in milliseconds.
  std::string compile_to_bytes(GrammarKind kind, const std::string& text);
  // Throws std::runtime_error where the bytes are not what `compile_to_bytes` made of that kind and text.
  std::shared_ptr<const Grammar> read(GrammarKind kind, const std::string& text,
                                      std::string_view bytes) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace llmservice
