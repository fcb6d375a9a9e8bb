#include "grammar/grammar_compiler.h"

#include <xgrammar/xgrammar.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "grammar/compiled_bytes.h"
#include "grammar/marked_text.h"
#include "grammar/tool_calls.h"
#include "grammar/utf8_text.h"
#include "ops/error.h"

namespace llmservice {
namespace {

constexpr int64_t kCacheBytes = 256 << 20;
// Room to indent, and no more: a model that is unsure would write spaces without end.
constexpr int kMaxWhitespace = 32;

class XGrammarConstraint final : public Constraint {
 public:
  XGrammarConstraint(const xgrammar::CompiledGrammar& grammar, int32_t vocab)
      : matcher_(grammar), mask_(static_cast<size_t>(xgrammar::GetBitmaskSize(vocab))) {}

  std::span<const uint32_t> allowed() override {
    // A sequence that is to continue after its end says nothing but the end.
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
  if (!message.starts_with('[')) return message;
  const size_t time_end = message.find_first_not_of("0123456789:", 1);
  if (time_end == std::string::npos || message.compare(time_end, 2, "] ") != 0) return message;
  const size_t line_end = message.find(": ", time_end);
  return line_end == std::string::npos ? message : message.substr(line_end + 2);
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

std::vector<int32_t> line_breaks(const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (!token.empty() && token.find_first_not_of('\n') == std::string::npos)
      ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

// Whatever a compile throws, as an error with a reason and words for the client.
template <typename Work>
auto reporting_to_client(const Work& work) {
  try {
    return work();
  } catch (const EngineError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw EngineError(FailureReason::kGrammarInvalid, without_place(error.what()));
  }
}

}  // namespace

class GrammarCompiler::Parts {
 public:
  explicit Parts(const Vocabulary& vocabulary)
      : tokenizer(tokenizer_info(vocabulary)),
        compiler(tokenizer, 1, true, kCacheBytes),
        utf8(std::make_shared<Utf8Tokens>(vocabulary.tokens)),
        breaks(line_breaks(vocabulary)),
        stops(vocabulary.stop_tokens),
        vocab(static_cast<int32_t>(vocabulary.tokens.size())) {}

  const xgrammar::TokenizerInfo tokenizer;

  // What the kind is made of: for calls the body of each and the grammar of other answers, if there is one.
  std::vector<xgrammar::CompiledGrammar> compile_parts(GrammarKind kind, const std::string& text) {
    if (kind != GrammarKind::kToolCalls) return {possible(compile(kind, text))};
    const auto of = nlohmann::ordered_json::parse(text);
    std::vector parts{possible(compile(GrammarKind::kFormat, of.at("body").dump()))};
    const auto& otherwise = of.at("otherwise");
    if (otherwise.is_object()) parts.push_back(possible(compile(GrammarKind::kFormat, otherwise.dump())));
    return parts;
  }

  std::shared_ptr<const Grammar> assemble(GrammarKind kind, const std::string& text,
                                          const std::vector<xgrammar::CompiledGrammar>& parts) const {
    if (kind == GrammarKind::kToolCalls) return tool_calls(nlohmann::ordered_json::parse(text), parts);
    return utf8_text(parts.at(0));
  }

 private:
  std::shared_ptr<const Grammar> utf8_text(const xgrammar::CompiledGrammar& compiled) const {
    return std::make_shared<Utf8Text>(std::make_shared<XGrammarGrammar>(compiled), utf8);
  }

  // Refuses what no text has.
  xgrammar::CompiledGrammar possible(xgrammar::CompiledGrammar compiled) const {
    const auto constraint = utf8_text(compiled)->begin();
    const auto first = constraint->allowed();
    if (!first.empty() && std::ranges::all_of(first, [](uint32_t word) { return word == 0; })) {
      throw EngineError(FailureReason::kGrammarInvalid,
                        "No text matches the structured output that is asked for.");
    }
    return compiled;
  }

  std::shared_ptr<const Grammar> tool_calls(const nlohmann::ordered_json& of,
                                            const std::vector<xgrammar::CompiledGrammar>& parts) const {
    const auto body = marked_text(utf8_text(parts.at(0)), of.at("within"));
    if (of.at("begin").is_null()) return body;
    const auto& otherwise = of.at("otherwise");
    const bool has_grammar = otherwise.is_object();
    const CallRules rules{.body = body,
                          .other = has_grammar ? utf8_text(parts.at(1)) : nullptr,
                          .otherwise = has_grammar           ? Otherwise::kGrammar
                                       : otherwise.is_null() ? Otherwise::kNothing
                                                             : Otherwise::kAnything,
                          .many = of.at("many").get<bool>()};
    const auto& end = of.at("end");
    const CallMarkers markers{.begin = marker(of.at("begin")),
                              .end = end.is_null() ? std::nullopt : std::optional(marker(end)),
                              .breaks = breaks,
                              .stops = stops,
                              .vocab = vocab};
    return std::make_shared<ToolCalls>(rules, markers);
  }

  std::shared_ptr<const Grammar> marked_text(std::shared_ptr<const Grammar> text,
                                             const nlohmann::ordered_json& within) const {
    if (within.empty()) return text;
    std::vector<InnerMarker> markers;
    for (const auto& inner : within)
      markers.push_back({marker(inner.at("id")), token_of(inner.at("text").get<std::string>())});
    return std::make_shared<MarkedText>(std::move(text), std::move(markers));
  }

  int32_t marker(const nlohmann::ordered_json& json) const {
    const auto id = json.get<int32_t>();
    if (id < 0 || id >= vocab)
      throw EngineError(FailureReason::kGrammarInvalid, "The markers of calls are no ids of the model.");
    return id;
  }

  int32_t token_of(const std::string& text) const {
    const auto& tokens = tokenizer.GetDecodedVocab();
    const auto found = std::ranges::find(tokens, text);
    if (found == tokens.end())
      throw EngineError(FailureReason::kGrammarInvalid,
                        "No token of the model stands for a marker of calls.");
    return static_cast<int32_t>(found - tokens.begin());
  }

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
      case GrammarKind::kFormat:
        return compile_format(text);
      case GrammarKind::kToolCalls:
        break;
    }
    throw std::logic_error("unknown kind of grammar");
  }

  xgrammar::CompiledGrammar compile_schema(const std::string& schema) {
    const bool any_whitespace = true;
    const bool strict = true;
    return compiler.CompileGrammar(without_control_characters(xgrammar::Grammar::FromJSONSchema(
        schema, any_whitespace, std::nullopt, std::nullopt, strict, kMaxWhitespace)));
  }

  xgrammar::CompiledGrammar compile_format(const std::string& format) {
    auto made = xgrammar::Grammar::FromStructuralTag(R"({"type":"structural_tag","format":)" + format + "}");
    if (const auto* error = std::get_if<xgrammar::StructuralTagError>(&made)) {
      throw EngineError(FailureReason::kGrammarInvalid,
                        std::visit([](const auto& each) { return without_place(each.what()); }, *error));
    }
    return compiler.CompileGrammar(without_control_characters(std::get<xgrammar::Grammar>(std::move(made))));
  }

  xgrammar::GrammarCompiler compiler;
  std::shared_ptr<const Utf8Tokens> utf8;
  std::vector<int32_t> breaks;
  std::vector<int32_t> stops;
  int32_t vocab;
};

GrammarCompiler::GrammarCompiler(const Vocabulary& vocabulary)
    : parts_(std::make_unique<Parts>(vocabulary)) {}
GrammarCompiler::~GrammarCompiler() = default;

std::shared_ptr<const Grammar> GrammarCompiler::compile(GrammarKind kind, const std::string& text) {
  return reporting_to_client([&] { return parts_->assemble(kind, text, parts_->compile_parts(kind, text)); });
}

std::string GrammarCompiler::compile_to_bytes(GrammarKind kind, const std::string& text) {
  return reporting_to_client([&] {
    const auto parts = parts_->compile_parts(kind, text);
    parts_->assemble(kind, text, parts);
    std::string all;
    for (const auto& part : parts) {
      const std::string bytes = to_bytes(part);
      const uint64_t size = bytes.size();
      all.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(bytes);
    }
    return all;
  });
}

std::shared_ptr<const Grammar> GrammarCompiler::read(GrammarKind kind, const std::string& text,
                                                     std::string_view bytes) const {
  std::vector<xgrammar::CompiledGrammar> parts;
  uint64_t size = 0;
  while (bytes.size() > sizeof(size)) {
    std::memcpy(&size, bytes.data(), sizeof(size));
    bytes.remove_prefix(sizeof(size));
    parts.push_back(from_bytes(bytes.substr(0, size), parts_->tokenizer));
    bytes.remove_prefix(std::min<uint64_t>(size, bytes.size()));
  }
  return parts_->assemble(kind, text, parts);
}

}  // namespace llmservice
