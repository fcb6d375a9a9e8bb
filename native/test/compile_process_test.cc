// Grammars compiled in processes of their own: what comes back allows what a grammar compiled here allows,
// and what takes too much ends alone, with its reason.
#include "grammar/compile_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#ifdef __SANITIZE_ADDRESS__
// Where the kernel gives no more memory, the sanitizer does not throw std::bad_alloc but ends the process:
// here with kExitMemory, the status of one that caught it. Whether that comes first, or a look at what the
// process holds, is up to the scheduler.
extern "C" const char* __asan_default_options() { return "exitcode=11"; }
#endif

namespace llmservice {
namespace {

// Nothing here comes near them, however slow the machine: a test lowers the one that it is about.
constexpr CompileLimits kLimits{.cpu_seconds = 600,
                                .wall_seconds = 1800,
                                .stall_seconds = 600,
                                .memory_bytes = int64_t{16} << 30,
                                .result_bytes = int64_t{64} << 20};

Vocabulary vocabulary() {
  Vocabulary v{.tokens = {""}, .stop_tokens = {0}};
  for (int byte = 0; byte < 256; ++byte) v.tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* piece : {"{\"", "\":", "true", "null", "name", "\"}", "12", ", \"", "é"})
    v.tokens.emplace_back(piece);
  return v;
}

class CompileProcessTest : public ::testing::Test {
 protected:
  ~CompileProcessTest() override { close(file_); }

  CompileOutcome compile(GrammarKind kind, const std::string& text, const CompileLimits& limits = kLimits) {
    return process_.run(compiler_, kind, text, file_, limits);
  }
  std::string written(int64_t bytes) const {
    std::string content(static_cast<size_t>(bytes), '\0');
    EXPECT_EQ(pread(file_, content.data(), content.size(), 0), bytes);
    return content;
  }

  GrammarCompiler compiler_{vocabulary()};
  CompileProcess process_;
  int file_ = make_memory_file();
};

// Takes minutes and gigabytes.
std::string bomb() {
  std::string schema = R"({"type":"object","minProperties":2,"properties":{"p":{"type":"string"})";
  for (int i = 0; i < 200; ++i) schema += R"(,"p)" + std::to_string(i) + R"(":{"type":"string"})";
  return schema + "}}";
}

std::vector<uint32_t> first_mask(const Grammar& grammar) {
  const auto constraint = grammar.begin();
  const auto allowed = constraint->allowed();
  return {allowed.begin(), allowed.end()};
}

TEST_F(CompileProcessTest, GivesTheGrammarThatIsCompiledHere) {
  const std::string schema =
      R"({"type":"object","properties":{"name":{"type":"string","maxLength":3},"n":{"type":"integer"}}})";
  const auto outcome = compile(GrammarKind::kJsonSchema, schema);
  ASSERT_EQ(outcome.end, CompileEnd::kCompiled) << outcome.message;
  const auto here = compiler_.compile(GrammarKind::kJsonSchema, schema)->begin();
  GrammarCompiler other(vocabulary());
  const auto there = other.read(GrammarKind::kJsonSchema, schema, written(outcome.bytes))->begin();
  for (const char next : std::string(R"({"name": "é1", "n": 12})")) {
    const auto [mask, same] = std::pair(here->allowed(), there->allowed());
    EXPECT_TRUE(std::ranges::equal(mask, same)) << "before " << next;
    const int32_t token = 1 + static_cast<unsigned char>(next);
    here->accept(token);
    there->accept(token);
  }
}

TEST_F(CompileProcessTest, GivesCallsWithTheirOtherGrammar) {
  const std::string calls = R"({"begin":1,"end":2,"within":[],"body":{"type":"const_string","value":"a"},)"
                            R"("otherwise":{"type":"const_string","value":"b"},"many":true})";
  const auto outcome = compile(GrammarKind::kToolCalls, calls);
  ASSERT_EQ(outcome.end, CompileEnd::kCompiled) << outcome.message;
  const auto read = compiler_.read(GrammarKind::kToolCalls, calls, written(outcome.bytes));
  EXPECT_EQ(first_mask(*read), first_mask(*compiler_.compile(GrammarKind::kToolCalls, calls)));
}

TEST_F(CompileProcessTest, SaysWhyAGrammarIsNone) {
  const auto outcome = compile(GrammarKind::kEbnf, "root ::= other");
  EXPECT_EQ(outcome.end, CompileEnd::kInvalid);
  EXPECT_NE(outcome.message.find("other"), std::string::npos) << outcome.message;
}

TEST_F(CompileProcessTest, EndsWhatTakesTooMuch) {
  CompileLimits limits = kLimits;
  limits.cpu_seconds = 0.2;
  EXPECT_EQ(compile(GrammarKind::kJsonSchema, bomb(), limits).end, CompileEnd::kOverTime);
  CompileProcess second;
  limits = kLimits;
  limits.memory_bytes = 1 << 20;
  EXPECT_EQ(second.run(compiler_, GrammarKind::kJsonSchema, bomb(), file_, limits).end,
            CompileEnd::kOverMemory);
  CompileProcess third;
  limits = kLimits;
  limits.result_bytes = 100;
  EXPECT_EQ(third.run(compiler_, GrammarKind::kJson, "", file_, limits).end, CompileEnd::kOverMemory);
}

TEST_F(CompileProcessTest, TellsWantOfProcessorsFromAGrammarThatTakesTooLong) {
  CompileLimits limits = kLimits;
  limits.wall_seconds = 0.05;
  EXPECT_EQ(compile(GrammarKind::kJsonSchema, bomb(), limits).end, CompileEnd::kStarved);
}

TEST(EndByTime, BlamesAGrammarThatHadHalfOfItsProcessorTime) {
  constexpr CompileLimits limits{
      .cpu_seconds = 15, .wall_seconds = 45, .stall_seconds = 1, .memory_bytes = 1, .result_bytes = 1};
  EXPECT_EQ(end_by_time(15, 45, limits), CompileEnd::kCompiled);
  EXPECT_EQ(end_by_time(15.1, 20, limits), CompileEnd::kOverTime);
  EXPECT_EQ(end_by_time(15.1, 45.1, limits), CompileEnd::kOverTime);
  EXPECT_EQ(end_by_time(7.6, 45.1, limits), CompileEnd::kOverTime);
  EXPECT_EQ(end_by_time(7.5, 45.1, limits), CompileEnd::kStarved);
  EXPECT_EQ(end_by_time(0, 45.1, limits), CompileEnd::kStarved);
}

TEST_F(CompileProcessTest, IsKilledBeforeAndWhileItRuns) {
  std::thread killer([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    process_.kill();
  });
  EXPECT_EQ(compile(GrammarKind::kJsonSchema, bomb()).end, CompileEnd::kKilled);
  killer.join();
  EXPECT_EQ(compile(GrammarKind::kJsonSchema, bomb()).end, CompileEnd::kKilled);
}

TEST_F(CompileProcessTest, RefusesBytesThatAreNoGrammar) {
  const auto outcome = compile(GrammarKind::kRegex, "[a-f]+");
  const std::string bytes = written(outcome.bytes);
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_ANY_THROW(compiler_.read(GrammarKind::kRegex, "[a-f]+", bytes.substr(0, size))) << size;
  EXPECT_ANY_THROW(
      GrammarCompiler({.tokens = {"", "a"}, .stop_tokens = {0}}).read(GrammarKind::kRegex, "[a-f]+", bytes));
}

}  // namespace
}  // namespace llmservice
