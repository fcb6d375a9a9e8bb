#include "grammar/grammar_compiler.h"

#include <xgrammar/xgrammar.h>

#include <algorithm>
#include <regex>

#include "ops/error.h"

namespace llmservice {
namespace {

constexpr int64_t kCacheBytes = 256 << 20;
// Room to indent, and no more: a model that is unsure would write spaces without end.
constexpr int kMostWhitespace = 32;

class XGrammarConstraint final : public Constraint {
 public:
  XGrammarConstraint(const xgrammar::CompiledGrammar& grammar, int32_t vocab)
      : matcher_(grammar), mask_(static_cast<size_t>(xgrammar::GetBitmaskSize(vocab))) {}

  std::span<const uint32_t> allowed() override {
    // A sequence that is to go on after its end says nothing but the end.
    if (matcher_.IsTerminated()) return only_stop_tokens();
    int64_t words = static_cast<int64_t>(mask_.size());
    DLTensor tensor{.data = mask_.data(),
                    .device = {kDLCPU, 0},
                    .ndim = 1,
                    .dtype = xgrammar::GetBitmaskDLType(),
                    .shape = &words,
                    .strides = nullptr,
                    .byte_offset = 0};
    if (!matcher_.FillNextTokenBitmask(&tensor)) return {};
    return mask_;
  }

  void accept(int32_t token) override {
    if (matcher_.IsTerminated()) return;
    if (!matcher_.AcceptToken(token)) {
      throw std::logic_error("Token " + std::to_string(token) + " was taken, which the grammar forbids.");
    }
  }

 private:
  std::span<const uint32_t> only_stop_tokens() {
    std::ranges::fill(mask_, 0);
    for (const int token : matcher_.GetStopTokenIds()) mask_[token / 32] |= uint32_t{1} << (token % 32);
    return mask_;
  }

  xgrammar::GrammarMatcher matcher_;
  std::vector<uint32_t> mask_;
};

class XGrammarGrammar final : public Grammar {
 public:
  explicit XGrammarGrammar(xgrammar::CompiledGrammar compiled) : compiled_(std::move(compiled)) {}

  std::unique_ptr<Constraint> begin() const override {
    return std::make_unique<XGrammarConstraint>(compiled_, compiled_.GetTokenizerInfo().GetVocabSize());
  }

 private:
  xgrammar::CompiledGrammar compiled_;
};

xgrammar::TokenizerInfo tokenizer_info(const Vocabulary& vocabulary) {
  return {vocabulary.tokens, xgrammar::VocabType::RAW, std::nullopt, vocabulary.stop_tokens, false};
}

// XGrammar's messages begin with the time and its own source line: [12:00:00] FILE:LINE: why.
std::string without_place(const std::string& message) {
  static const std::regex place(R"(^\[[0-9:]+\] \S+:[0-9]+: )");
  return std::regex_replace(message, place, "");
}

// Characters of strings with a length: XGrammar leaves control characters in, which JSON does not have.
xgrammar::Grammar without_control_characters(xgrammar::Grammar grammar) {
  const std::string lax = R"([^\"\\\r\n])";
  const std::string sound = R"([^\0-\x1f\"\\])";
  std::string rules = grammar.ToString();
  size_t at = rules.find(lax);
  if (at == std::string::npos) return grammar;
  for (; at != std::string::npos; at = rules.find(lax, at)) rules.replace(at, lax.size(), sound);
  return xgrammar::Grammar::FromEBNF(rules);
}

}  // namespace

struct GrammarCompiler::Parts {
  explicit Parts(const Vocabulary& vocabulary) : compiler(tokenizer_info(vocabulary), 1, true, kCacheBytes) {}

  xgrammar::CompiledGrammar compile(GrammarKind kind, const std::string& text) {
    switch (kind) {
      case GrammarKind::kJson:
        return compile_schema(R"({"type": "object"})");
      case GrammarKind::kJsonSchema:
        return compile_schema(text);
      case GrammarKind::kRegex:
        return compiler.CompileRegex(text);
      case GrammarKind::kEbnf:
        return compiler.CompileGrammar(text);
    }
    throw std::logic_error("unknown kind of grammar");
  }

  xgrammar::CompiledGrammar compile_schema(const std::string& schema) {
    const bool any_whitespace = true;
    const bool strict = true;
    return compiler.CompileGrammar(without_control_characters(xgrammar::Grammar::FromJSONSchema(
        schema, any_whitespace, std::nullopt, std::nullopt, strict, kMostWhitespace)));
  }

  xgrammar::GrammarCompiler compiler;
};

GrammarCompiler::GrammarCompiler(const Vocabulary& vocabulary)
    : parts_(std::make_unique<Parts>(vocabulary)) {}
GrammarCompiler::~GrammarCompiler() = default;

std::shared_ptr<const Grammar> GrammarCompiler::compile(GrammarKind kind, const std::string& text) {
  try {
    auto grammar = std::make_shared<XGrammarGrammar>(parts_->compile(kind, text));
    const auto constraint = grammar->begin();
    const auto first = constraint->allowed();
    if (!first.empty() && std::ranges::all_of(first, [](uint32_t word) { return word == 0; })) {
      throw EngineError("GrammarInvalid", "No text has the form that is asked for.");
    }
    return grammar;
  } catch (const EngineError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw EngineError("GrammarInvalid", without_place(error.what()));
  }
}

}  // namespace llmservice
