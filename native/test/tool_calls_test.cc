// Calls of tools between marker tokens: random choices among what is allowed give calls whose bodies follow
// their grammar, between the markers and nowhere else.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "failures.h"
#include "grammar/grammar_compiler.h"

namespace llmservice {
namespace {

using llmservice::testing::failure_of;

constexpr int32_t kEnd = 0;
constexpr int32_t kBreak = 1 + '\n';
constexpr int32_t kOpen = 129;
constexpr int32_t kClose = 130;
constexpr int32_t kInner = 131;

// The end, then ASCII, then three markers without text.
Vocabulary vocabulary() {
  Vocabulary v{.tokens = {""}, .stop_tokens = {kEnd}};
  for (int byte = 0; byte < 128; ++byte) v.tokens.emplace_back(1, static_cast<char>(byte));
  v.tokens.insert(v.tokens.end(), {"", "", ""});
  return v;
}

bool may(std::span<const uint32_t> allowed, int32_t token) {
  return allowed.empty() || (allowed[token / 32] >> (token % 32) & 1) != 0;
}

// Of calls of f(n: 1..3, s: up to 3 characters), in either way of writing arguments.
nlohmann::ordered_json calls(const std::string& style, const char* otherwise, bool many) {
  const auto schema = nlohmann::ordered_json::parse(
      R"({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 3},
          "a": {"type": "string", "maxLength": 3}}, "required": ["n", "a"], "additionalProperties": false})");
  const auto constant = [](const char* value) {
    return nlohmann::ordered_json{{"type", "const_string"}, {"value", value}};
  };
  const nlohmann::ordered_json arguments = {
      {"type", "json_schema"}, {"json_schema", schema}, {"style", style}, {"max_whitespace_cnt", 1}};
  return {{"begin", kOpen},
          {"end", kClose},
          {"within", nlohmann::ordered_json::array()},
          {"body", {{"type", "sequence"}, {"elements", {constant("f("), arguments, constant(")")}}}},
          {"otherwise", nlohmann::ordered_json::parse(otherwise)},
          {"many", many}};
}

std::string text(const std::string& style, const char* otherwise, bool many) {
  return calls(style, otherwise, many).dump();
}

// The same, whose calls have a marker behind the name, and none at their end.
std::string text_without_end(const char* otherwise, bool many) {
  auto of = calls("json", otherwise, many);
  of["end"] = nullptr;
  of["within"] = nlohmann::ordered_json::array({{{"id", kInner}, {"text", "\x1c"}}});
  of["body"]["elements"][0]["value"] = "f\x1c";
  of["body"]["elements"].erase(2);
  return of.dump();
}

// Markers show as bytes that no text has.
std::string random_text(const Grammar& grammar, uint32_t seed) {
  std::mt19937 random(seed);
  const auto constraint = grammar.begin();
  std::string said;
  for (int step = 0; step < 2000; ++step) {
    const auto allowed = constraint->allowed();
    std::vector<int32_t> choices;
    for (int32_t t = 0; t <= kInner; ++t) {
      if (may(allowed, t)) choices.push_back(t);
    }
    if (choices.empty()) return "nothing is allowed after " + said;
    const int32_t token = choices[random() % choices.size()];
    constraint->accept(token);
    if (token == kEnd) return said;
    said += token == kOpen    ? '\xfe'
            : token == kClose ? '\xff'
            : token == kInner ? '\xfd'
                              : static_cast<char>(token - 1);
  }
  return "without end: " + said;
}

TEST(ToolCalls, FollowTheSchemaInJson) {
  GrammarCompiler compiler(vocabulary());
  const auto grammar = compiler.compile(GrammarKind::kToolCalls, text("json", "null", true));
  size_t most = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::string said = random_text(*grammar, seed);
    static const std::regex call(
        "\n?\xfe"
        "f\\(([^\xff]*)\\)\xff");
    size_t calls = 0;
    for (std::smatch found; std::regex_search(said, found, call, std::regex_constants::match_continuous);
         ++calls) {
      const auto json = nlohmann::ordered_json::parse(found[1].str(), nullptr, false);
      ASSERT_TRUE(json.is_object()) << found[1];
      EXPECT_EQ(json.begin().key(), "n") << "the schema's order";
      EXPECT_TRUE(json["n"] >= 1 && json["n"] <= 3) << found[1];
      EXPECT_TRUE(json["a"].is_string()) << found[1];
      said = found.suffix();
    }
    EXPECT_TRUE(said.empty() || said == "\n") << said;
    EXPECT_GE(calls, 1U);
    most = std::max(most, calls);
  }
  EXPECT_GT(most, 1U);
}

TEST(ToolCalls, FollowTheSchemaInXml) {
  GrammarCompiler compiler(vocabulary());
  const auto grammar = compiler.compile(GrammarKind::kToolCalls, text("qwen_xml", "null", false));
  static const std::regex call(
      "\n?\xfe"
      "f\\(\\s?<parameter=n>\\s?[1-3]\\s?</parameter>\\s?<parameter=a>[^\xfe\xff]*</parameter>\\s?\\)\xff");
  for (uint32_t seed = 0; seed < 60; ++seed)
    EXPECT_TRUE(std::regex_match(random_text(*grammar, seed), call)) << random_text(*grammar, seed);
}

TEST(ToolCalls, StandAnywhereInFreeText) {
  GrammarCompiler compiler(vocabulary());
  const auto constraint = compiler.compile(GrammarKind::kToolCalls, text("json", "true", true))->begin();
  for (const char* round : {"ab", "c"}) {
    for (const char* c = round; *c != '\0'; ++c) {
      EXPECT_TRUE(constraint->allowed().empty());
      constraint->accept(1 + *c);
    }
    constraint->accept(kOpen);
    for (const char c : std::string(R"(f({"n":2,"a":""}))")) {
      EXPECT_FALSE(may(constraint->allowed(), kClose));
      ASSERT_TRUE(may(constraint->allowed(), 1 + c)) << c;
      constraint->accept(1 + c);
    }
    EXPECT_FALSE(may(constraint->allowed(), kEnd));
    ASSERT_TRUE(may(constraint->allowed(), kClose));
    constraint->accept(kClose);
  }
  EXPECT_TRUE(may(constraint->allowed(), kEnd));
}

TEST(ToolCalls, OrATextOfAForm) {
  GrammarCompiler compiler(vocabulary());
  const auto grammar = compiler.compile(GrammarKind::kToolCalls,
                                        text("json", R"({"type": "regex", "pattern": "yes|no"})", true));
  const auto form = grammar->begin();
  EXPECT_TRUE(may(form->allowed(), kOpen) && may(form->allowed(), 1 + 'n'));
  EXPECT_FALSE(may(form->allowed(), kEnd) || may(form->allowed(), 1 + 'x'));
  form->accept(1 + 'n');
  EXPECT_FALSE(may(form->allowed(), kOpen));
  form->accept(1 + 'o');
  EXPECT_TRUE(may(form->allowed(), kEnd));

  const auto calls = grammar->begin();
  calls->accept(kBreak);
  EXPECT_FALSE(may(calls->allowed(), kBreak)) << "one is enough";
  calls->accept(kOpen);
  EXPECT_TRUE(may(calls->allowed(), 1 + 'f'));
  EXPECT_FALSE(may(calls->allowed(), 1 + 'n'));
}

TEST(ToolCalls, EndWithTheirBodiesWhereNoMarkerEndsThem) {
  GrammarCompiler compiler(vocabulary());
  static const std::regex call(
      "\xfe"
      "f\xfd\\{[^\x1c\xfd\xfe]*\\}");
  for (const bool many : {false, true}) {
    const auto grammar = compiler.compile(GrammarKind::kToolCalls, text_without_end("null", many));
    size_t most = 0;
    for (uint32_t seed = 0; seed < 60; ++seed) {
      std::string said = random_text(*grammar, seed);
      if (said.starts_with('\n')) said.erase(0, 1);
      size_t count = 0;
      for (std::smatch found; std::regex_search(said, found, call, std::regex_constants::match_continuous);
           ++count)
        said = found.suffix();
      EXPECT_EQ(said, "");
      EXPECT_GE(count, 1U);
      most = std::max(most, count);
    }
    EXPECT_EQ(most > 1, many);
  }
}

TEST(ToolCalls, ThatAreAllOfAnAnswerStandBehindFreeText) {
  // A thought, in any number, is OPEN t CLOSE text INNER; the call is OPEN c CLOSE and its arguments.
  const auto of = nlohmann::ordered_json::parse(R"({
      "begin": null, "end": null, "otherwise": null, "many": false,
      "within": [{"id": 129, "text": "\u0007"}, {"id": 130, "text": "\u0008"}, {"id": 131, "text": "\u000b"}],
      "body": {"type": "sequence", "elements": [
        {"type": "star", "content": {"type": "sequence", "elements": [
          {"type": "const_string", "value": "\u0007t\u0008"},
          {"type": "grammar", "grammar": "root ::= [^\\x07\\x08\\x0b]*\n"},
          {"type": "const_string", "value": "\u000b"}]}},
        {"type": "const_string", "value": "\u0007c\u0008"},
        {"type": "json_schema", "json_schema": {"type": "object", "properties": {"n": {"enum": [1, 2]}},
          "required": ["n"], "additionalProperties": false}, "max_whitespace_cnt": 1}]}})");
  GrammarCompiler compiler(vocabulary());
  const auto grammar = compiler.compile(GrammarKind::kToolCalls, of.dump());
  static const std::regex answer(
      "(\xfe"
      "t\xff[^\x07\x08\x0b\xfd\xfe\xff]*\xfd)*\xfe"
      "c\xff\\{\\s?\"n\"\\s?:\\s?[12]\\s?\\}");
  size_t thoughts = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const std::string said = random_text(*grammar, seed);
    EXPECT_TRUE(std::regex_match(said, answer)) << said;
    thoughts += static_cast<size_t>(std::ranges::count(said, '\xfd'));
  }
  EXPECT_GT(thoughts, 10U);

  const auto constraint = grammar->begin();
  EXPECT_FALSE(may(constraint->allowed(), kEnd) || may(constraint->allowed(), 1 + 't'));
  for (const int32_t token : {kOpen, 1 + 'c', kClose}) constraint->accept(token);
  EXPECT_FALSE(may(constraint->allowed(), kOpen) || may(constraint->allowed(), kEnd));
  for (const char c : std::string(R"({"n":1})")) constraint->accept(1 + c);
  EXPECT_TRUE(may(constraint->allowed(), kEnd));
  EXPECT_FALSE(may(constraint->allowed(), kOpen)) << "one is enough";
}

TEST(ToolCalls, StandInFreeTextWithoutAnEnd) {
  GrammarCompiler compiler(vocabulary());
  const auto constraint = compiler.compile(GrammarKind::kToolCalls, text_without_end("true", true))->begin();
  EXPECT_TRUE(constraint->allowed().empty());
  constraint->accept(kOpen);
  constraint->accept(1 + 'f');
  EXPECT_TRUE(may(constraint->allowed(), kInner));
  EXPECT_FALSE(may(constraint->allowed(), 1 + 0x1c)) << "it stands for the marker alone";
  constraint->accept(kInner);
  for (const char c : std::string(R"({"n":2,"a":""})")) {
    EXPECT_FALSE(may(constraint->allowed(), kEnd) || may(constraint->allowed(), kOpen));
    ASSERT_TRUE(may(constraint->allowed(), 1 + c)) << c;
    constraint->accept(1 + c);
  }
  EXPECT_TRUE(may(constraint->allowed(), kEnd) && may(constraint->allowed(), kOpen));
}

TEST(ToolCalls, RefuseMarkersThatTheModelHasNot) {
  GrammarCompiler compiler(vocabulary());
  for (const char* member : {"begin", "end"}) {
    auto of = calls("json", "null", true);
    of[member] = kInner + 1;
    EXPECT_EQ(failure_of([&] { compiler.compile(GrammarKind::kToolCalls, of.dump()); }), "GrammarInvalid");
  }
}

TEST(ToolCalls, RefuseWhatIsNoFormat) {
  GrammarCompiler compiler(vocabulary());
  std::string message;
  EXPECT_EQ(failure_of([&] { compiler.compile(GrammarKind::kFormat, R"({"type": "tale"})"); }, &message),
            "GrammarInvalid");
  EXPECT_GT(message.size(), 10U);
}

}  // namespace
}  // namespace llmservice
