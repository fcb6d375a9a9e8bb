// Grammars by XGrammar over a small vocabulary: random choices among what is allowed always end in a text of
// the grammar; what is no grammar is refused with its reason.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "failures.h"
#include "grammar/after_reasoning.h"
#include "grammar/grammar_compiler.h"

namespace llmservice {
namespace {

using llmservice::testing::failure_of;

constexpr int32_t kEnd = 0;

// The end, then every byte alone, then some longer pieces, of which one ends within a character; one control
// token that is no text.
Vocabulary vocabulary() {
  Vocabulary v{.tokens = {""}, .stop_tokens = {kEnd}};
  for (int byte = 0; byte < 256; ++byte) v.tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* piece :
       {"{\"", "\":", "\",", "true", "null", "name", "\"}", "12", ", \"", "é", "語", "a\xe8\xaa"})
    v.tokens.emplace_back(piece);
  v.tokens.emplace_back("");
  return v;
}

bool may(std::span<const uint32_t> allowed, int32_t token) {
  return allowed.empty() || (allowed[token / 32] >> (token % 32) & 1) != 0;
}

// Takes any allowed token at random, the end where it may and enough was said.
std::string random_text(const Grammar& grammar, const Vocabulary& v, uint32_t seed, size_t enough = 60) {
  std::mt19937 random(seed);
  const auto constraint = grammar.begin();
  std::string text;
  for (int step = 0; step < 4000; ++step) {
    const auto allowed = constraint->allowed();
    std::vector<int32_t> choices;
    const auto last = static_cast<int32_t>(v.tokens.size());
    for (int32_t t = 0; t < last; ++t) {
      if (may(allowed, t)) choices.push_back(t);
    }
    if (choices.empty()) return "nothing is allowed after " + text;
    const bool ends = may(allowed, kEnd) && text.size() >= enough;
    const int32_t quote = 1 + '"';
    const bool closes = text.size() >= enough && may(allowed, quote);
    const int32_t token = ends ? kEnd : closes ? quote : choices[random() % choices.size()];
    constraint->accept(token);
    if (token == kEnd) return text;
    text += v.tokens[token];
  }
  return "without end: " + text;
}

TEST(Grammar, OfASchemaGivesOnlyTextsOfTheSchema) {
  const Vocabulary v = vocabulary();
  GrammarCompiler compiler(v);
  const auto grammar = compiler.compile(
      GrammarKind::kJsonSchema,
      R"({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 3},
          "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}},
          "required": ["name", "age", "tags"], "additionalProperties": false})");
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::string text = random_text(*grammar, v, seed);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << seed << ": " << text;
    EXPECT_EQ(json.size(), 3U) << text;
    EXPECT_TRUE(json["name"].is_string()) << text;
    EXPECT_TRUE(json["age"].is_number_integer() && json["age"] >= 3) << text;
    EXPECT_TRUE(json["tags"].is_array() && json["tags"].size() <= 3) << text;
  }
}

TEST(Grammar, OfARegularExpressionAndOfRules) {
  const Vocabulary v = vocabulary();
  GrammarCompiler compiler(v);
  const auto date = compiler.compile(GrammarKind::kRegex, "[0-9]{4}-[0-9]{2}-[0-9]{2}");
  const auto rules = compiler.compile(GrammarKind::kEbnf, "root ::= \"yes\" | \"no\" [!]+\n");
  for (uint32_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(std::regex_match(random_text(*date, v, seed), std::regex("\\d{4}-\\d{2}-\\d{2}"))) << seed;
    EXPECT_TRUE(std::regex_match(random_text(*rules, v, seed, 5), std::regex("yes|no!+"))) << seed;
  }
}

TEST(Grammar, OfStringsWithALengthHasNoControlCharacters) {
  const Vocabulary v = vocabulary();
  GrammarCompiler compiler(v);
  for (const char* schema : {R"({"type": "string", "maxLength": 9})", R"({"type": "string", "minLength": 2})",
                             R"({"type": "string", "pattern": "a[^b]+"})", R"({"type": "string"})"}) {
    const auto grammar = compiler.compile(GrammarKind::kJsonSchema, schema);
    for (uint32_t seed = 0; seed < 30; ++seed) {
      const std::string text = random_text(*grammar, v, seed, 9);
      EXPECT_TRUE(nlohmann::json::parse(text, nullptr, false).is_string()) << schema << ": " << text;
    }
  }
}

TEST(Grammar, OfAnyObjectIsJson) {
  const Vocabulary v = vocabulary();
  GrammarCompiler compiler(v);
  const auto grammar = compiler.compile(GrammarKind::kJson, "");
  const auto constraint = grammar->begin();
  const auto allowed = constraint->allowed();
  EXPECT_TRUE(may(allowed, 1 + '{'));
  EXPECT_TRUE(may(allowed, 257)) << "a piece that begins one";
  EXPECT_FALSE(may(allowed, 1 + '['));
  EXPECT_FALSE(may(allowed, kEnd));
  EXPECT_FALSE(may(allowed, static_cast<int32_t>(v.tokens.size()) - 1)) << "a control token";
}

TEST(Grammar, SaysNothingButItsEndAfterItsEnd) {
  const Vocabulary v = vocabulary();
  GrammarCompiler compiler(v);
  const auto constraint = compiler.compile(GrammarKind::kRegex, "a")->begin();
  constraint->accept(1 + 'a');
  for (int i = 0; i < 3; ++i) {
    const auto allowed = constraint->allowed();
    for (int32_t t = 0; t < static_cast<int32_t>(v.tokens.size()); ++t)
      EXPECT_EQ(may(allowed, t), t == kEnd) << t;
    constraint->accept(kEnd);
  }
}

TEST(Grammar, RefusesWhatIsNone) {
  GrammarCompiler compiler(vocabulary());
  const std::pair<GrammarKind, const char*> wrong[] = {
      {GrammarKind::kJsonSchema, "{"},
      {GrammarKind::kJsonSchema, R"({"type": "text"})"},
      {GrammarKind::kJsonSchema, R"({"$ref": "#/definitions/absent"})"},
      {GrammarKind::kRegex, "[a"},
      {GrammarKind::kRegex, "(a"},
      {GrammarKind::kEbnf, "root ::= other"},
      {GrammarKind::kEbnf, "first ::= \"a\""},
      {GrammarKind::kEbnf, "root ::= root \"a\""},
      {GrammarKind::kEbnf, "root ::= [^\\0-\\U0010FFFF]"},
      {GrammarKind::kRegex, "[^\\s\\S]"},
      {GrammarKind::kRegex, "(?=a)b"},
  };
  for (const auto& [kind, text] : wrong) {
    std::string message;
    EXPECT_EQ(failure_of([&] { compiler.compile(kind, text); }, &message), "GrammarInvalid") << text;
    EXPECT_GT(message.size(), 10U) << text;
    EXPECT_FALSE(std::regex_search(message, std::regex("\\.cc:"))) << "no line of a source: " << message;
  }
}

TEST(Grammar, OfWhatComesAfterReasoningLeavesReasoningAlone) {
  Vocabulary v = vocabulary();
  const auto begin = static_cast<int32_t>(v.tokens.size());
  const int32_t end = begin + 1;
  v.tokens.resize(v.tokens.size() + 2);
  const std::shared_ptr<const Grammar> grammar = GrammarCompiler(v).compile(GrammarKind::kRegex, "ab");
  const auto id = [](char letter) { return 1 + letter; };
  const auto choices = [&](Constraint& constraint) {
    const auto allowed = constraint.allowed();
    std::vector<int32_t> ids;
    for (const int32_t each : {kEnd, id('a'), id('b'), begin, end}) {
      if (may(allowed, each)) ids.push_back(each);
    }
    return ids;
  };
  using Ids = std::vector<int32_t>;

  for (const bool prompted : {true, false}) {
    const std::optional<int32_t> own = prompted ? std::nullopt : std::optional(begin);
    const AfterReasoning after(grammar, {.stops = {kEnd}, .begin = own, .end = end});
    const auto reasoned = after.begin();
    if (!prompted) {
      EXPECT_EQ(choices(*reasoned), Ids{id('a')});
      EXPECT_EQ(reasoned->opening(), begin);
      reasoned->accept(begin);
    }
    EXPECT_EQ(choices(*reasoned), (Ids{id('a'), id('b'), begin, end}));
    for (const int32_t each : {id('b'), begin, id('a')}) reasoned->accept(each);
    EXPECT_EQ(choices(*reasoned), (Ids{id('a'), id('b'), begin, end}));
    EXPECT_FALSE(reasoned->opening());
    reasoned->accept(end);
    EXPECT_EQ(choices(*reasoned), Ids{id('a')});
    EXPECT_FALSE(reasoned->opening());
    reasoned->accept(id('a'));
    EXPECT_EQ(choices(*reasoned), Ids{id('b')});
  }
  const auto at_once = AfterReasoning(grammar, {.stops = {}, .begin = begin, .end = end}).begin();
  at_once->accept(id('a'));
  EXPECT_EQ(choices(*at_once), Ids{id('b')});
  EXPECT_FALSE(at_once->opening()) << "too late to reason";
}

TEST(Grammar, TakesNoTokenThatItForbids) {
  GrammarCompiler compiler(vocabulary());
  const auto constraint = compiler.compile(GrammarKind::kRegex, "ab")->begin();
  EXPECT_THROW(constraint->accept(1 + 'b'), std::logic_error);
}

}  // namespace
}  // namespace llmservice
