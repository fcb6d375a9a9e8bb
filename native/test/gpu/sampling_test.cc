// Sampling kernels against the host's sampler: the same token for the same logits, whatever is asked.
#include "backends/gpu/kernels/sampling.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/logit_hash.h"
#include "engine/sample_lists.h"
#include "engine/sampler.h"
#include "engine/vocab_math.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

// The normalizer is summed in another order.
constexpr float kTolerance = 2e-6f;
constexpr float kInf = std::numeric_limits<float>::infinity();

enum class Kind { kNormal, kSteep, kTied, kFlat, kNearlyFlat };

std::vector<float> random_row(std::mt19937& random, int32_t vocab, Kind kind) {
  const float spread = kind == Kind::kSteep ? 9.0f : kind == Kind::kNearlyFlat ? 0.01f : 3.0f;
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> row(vocab);
  for (float& x : row) {
    x = normal(random);
    if (kind == Kind::kTied) x = std::round(x);
    if (kind == Kind::kFlat) x = -0.0f;
  }
  if (kind == Kind::kFlat) row[random() % vocab] = -1;
  return row;
}

struct Asked {
  int32_t row;
  std::optional<int32_t> scored = std::nullopt;
  SamplingParams params = {};
  TokenCounts counts = {};
  int32_t position = 0;
  std::vector<uint32_t> allowed = {};
  TokenRules rules = {};
  std::vector<int32_t> generated = {};
  std::vector<int32_t> stops = {};

  RulesAt rules_at() const { return {.rules = rules, .generated = generated, .stop_tokens = stops}; }
};

Asked random_request(std::mt19937& random, int32_t rows, int32_t vocab) {
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  const auto real = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  const auto token = [&] { return static_cast<int32_t>(random() % vocab); };
  Asked asked{.row = static_cast<int32_t>(random() % rows),
              .position = static_cast<int32_t>(random() % 5000)};
  if (chance(10)) asked.scored = token();
  SamplingParams& p = asked.params;
  if (chance(85)) p.temperature = chance(20) ? 1.0f : real(0.1f, 2.0f);
  if (chance(40)) p.top_k = 1 + static_cast<int32_t>(random() % (chance(70) ? 50 : 2 * vocab));
  if (chance(40)) p.top_p = chance(20) ? 0.9999f : real(1e-4f, 1.0f);
  if (chance(25)) p.min_p = real(0, 0.3f);
  if (chance(25)) p.typical_p = real(0.05f, 1.0f);
  p.seed = random();
  if (chance(25)) p.repetition_penalty = real(0.7f, 1.6f);
  if (chance(25)) p.presence_penalty = real(-2, 2);
  if (chance(25)) p.frequency_penalty = real(-2, 2);
  if (chance(40)) p.top_logprobs = static_cast<int32_t>(random() % (kMaxAlternatives + 1));
  std::vector<int32_t> prompt(random() % 40);
  for (int32_t& t : prompt) t = token();
  asked.generated.resize(random() % 40);
  for (int32_t& t : asked.generated) t = token();
  if (has_penalties(p)) asked.counts.add_prompt(prompt);
  if (has_penalties(p)) {
    for (const int32_t t : asked.generated) asked.counts.add_generated(t);
  }
  if (chance(20)) {
    asked.allowed.resize((vocab + 31) / 32);
    const auto density = random();
    for (uint32_t& word : asked.allowed) word = random() & (density % 2 == 0 ? random() & random() : ~0u);
    if (chance(10)) std::ranges::fill(asked.allowed, 0);
  }
  TokenRules& rules = asked.rules;
  if (chance(20)) {
    for (int32_t t = token() % 7; t < vocab && rules.biased.size() < 30; t += 1 + token() % 50) {
      rules.biased.push_back(t);
      rules.biases.push_back(chance(20) ? -100.0f : real(-8, 8));
    }
  }
  if (chance(10)) {
    for (int32_t t = token(); t < vocab; t += 1 + token() % 9) rules.allowed.push_back(t);
  }
  if (chance(15)) {
    for (int i = 0; i < 5; ++i) {
      if (!asked.generated.empty() && chance(50)) rules.banned.push_back(asked.generated.back());
      rules.banned.push_back(chance(30) && !rules.biased.empty() ? rules.biased.front() : token());
      rules.banned_ends.push_back(static_cast<int32_t>(rules.banned.size()));
    }
  }
  if (chance(15)) rules.min_tokens = 20;
  asked.stops = {token(), -1, vocab + 5, token()};
  if (chance(5))
    rules.reasoning = ReasoningBudget{.tokens = 10, .blanks = {}, .begin = std::nullopt, .end = token()};
  return asked;
}

// A list that may be empty.
template <class T>
DeviceArray<T> uploaded(std::span<const T> list) {
  std::vector<T> values(list.begin(), list.end());
  values.push_back({});
  return DeviceArray<T>(values);
}

std::vector<SampleResult> sample_on_device(const std::vector<float>& logits, int32_t vocab,
                                           const std::vector<Asked>& asked) {
  SampleLists lists(vocab);
  for (const Asked& a : asked) {
    const RulesAt rules = a.rules_at();
    if (a.scored) {
      lists.add_score(a.row, *a.scored, a.params.top_logprobs.value_or(0));
    } else {
      lists.add_draw(a.row, a.params, a.counts, a.position, a.allowed, &rules);
    }
  }
  const auto count = static_cast<int32_t>(asked.size());
  const DeviceArray<float> rows(logits);
  const SampleBatch batch = lists.batch();
  const DeviceArray<SampleRequest> requests(batch.requests);
  const DeviceArray<uint32_t> masks = uploaded(batch.masks);
  const DeviceArray<TokenBias> biases = uploaded(batch.biases);
  const DeviceArray<TokenCount> counts = uploaded(batch.counts);
  const DeviceArray<std::byte> workspace(gpu::sample_workspace(vocab, count), std::byte{0xff});
  const DeviceArray<SampleResult> results(asked.size(), SampleResult{});
  const gpu::SampleTables tables{.logits = rows.data(),
                                 .vocab = vocab,
                                 .requests = requests.data(),
                                 .count = count,
                                 .masks = masks.data(),
                                 .biases = biases.data(),
                                 .counts = counts.data()};
  const gpu::SampleNeeds needs{.draws = batch.draws,
                               .edits = !batch.biases.empty() || !batch.counts.empty(),
                               .truncates = batch.truncates};
  for (const auto& launch : gpu::sample(tables, needs, workspace.data(), results.data())) run(launch);
  return results.host();
}

void expect_same(const Asked& asked, std::span<const float> logits, const SampleResult& got) {
  Sampler sampler(static_cast<int32_t>(logits.size()));
  const RulesAt rules = asked.rules_at();
  const auto wanted =
      asked.scored
          ? sampler.score(logits, *asked.scored, asked.params.top_logprobs.value_or(0))
          : sampler.sample(logits, asked.params, asked.counts, asked.position, asked.allowed, &rules);
  EXPECT_EQ(got.hash, logit_hash(logits));
  EXPECT_EQ(got.status, wanted                ? SampleStatus::kDrawn
                        : !all_finite(logits) ? SampleStatus::kNotFinite
                        : !are_usable(logits) ? SampleStatus::kCollapsed
                                              : SampleStatus::kDeadEnd);
  if (!wanted || got.status != SampleStatus::kDrawn) return;
  EXPECT_EQ(got.token, wanted->token);
  if (asked.scored) {
    EXPECT_EQ(got.rank, rank_of(logits, *asked.scored));
  }
  if (!asked.scored && !asked.params.top_logprobs) return;
  EXPECT_NEAR(got.logprob, wanted->logprob, kTolerance * std::max(1.0f, std::abs(wanted->logprob)));
  ASSERT_EQ(got.alternatives, std::ssize(wanted->alternatives));
  for (int32_t i = 0; i < got.alternatives; ++i) {
    EXPECT_EQ(got.top_tokens[i], wanted->alternatives[i].token) << i;
    EXPECT_NEAR(got.top_logprobs[i], wanted->alternatives[i].logprob,
                kTolerance * std::max(1.0f, std::abs(got.top_logprobs[i])));
  }
}

void expect_host_tokens(const std::vector<float>& logits, int32_t vocab, const std::vector<Asked>& asked) {
  const auto results = sample_on_device(logits, vocab, asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i) + " of vocabulary " + std::to_string(vocab));
    expect_same(asked[i], std::span(logits).subspan(size_t(asked[i].row) * vocab, vocab), results[i]);
  }
}

class SamplingTest : public ::testing::TestWithParam<int32_t> {};

TEST_P(SamplingTest, DrawsTheHostsTokens) {
  const int32_t vocab = GetParam();
  std::mt19937 random(static_cast<uint32_t>(vocab));
  std::vector<float> logits;
  constexpr int32_t kRows = 7;
  for (int32_t row = 0; row < kRows; ++row) {
    const auto values = random_row(random, vocab, static_cast<Kind>(row % 5));
    logits.insert(logits.end(), values.begin(), values.end());
  }
  std::vector<Asked> asked;
  constexpr int kRequests = 40;
  for (int i = 0; i < kRequests; ++i) asked.push_back(random_request(random, kRows, vocab));
  expect_host_tokens(logits, vocab, asked);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, SamplingTest, ::testing::Values(2, 31, 33, 1024, 4096, 9001));

TEST(Sampling, DrawsTheHostsTokensOfARealVocabulary) {
  constexpr int32_t kVocab = 248'320;
  std::mt19937 random(7);
  std::vector<float> logits = random_row(random, kVocab, Kind::kNormal);
  const auto flat = random_row(random, kVocab, Kind::kNearlyFlat);
  logits.insert(logits.end(), flat.begin(), flat.end());
  std::vector<Asked> asked(2);
  asked[0].params = {.temperature = 0.7f,
                     .top_p = 0.95f,
                     .top_k = 20,
                     .seed = 3,
                     .presence_penalty = 1.5f,
                     .top_logprobs = 3};
  asked[0].counts.add_prompt(std::vector<int32_t>{1, 100'000, kVocab - 1});
  asked[0].counts.add_generated(100'000);
  asked[1].params = {.temperature = 1.0f, .top_p = 0.5f, .typical_p = 0.7f, .seed = 6};
  asked[1].row = 1;
  expect_host_tokens(logits, kVocab, asked);
}

// Between the last token of top-k and the next there may be no digit of their order that distinguishes them
// in the search for top-p.
TEST(Sampling, TopPDoesNotBringBackWhatTopKCut) {
  constexpr int32_t kVocab = 1024;
  std::mt19937 random(2);
  auto logits = random_row(random, kVocab, Kind::kNearlyFlat);
  for (float& x : logits) x *= 0.05f;
  std::vector<Asked> asked(60);
  for (int32_t i = 0; i < std::ssize(asked); ++i) {
    asked[i].position = i;
    asked[i].params = {.temperature = 1.0f, .top_p = 0.9999f, .top_k = 2 + i % 12, .seed = 8};
  }
  expect_host_tokens(logits, kVocab, asked);
}

TEST(Sampling, SaysWhatIsWrongWithARow) {
  constexpr int32_t kVocab = 5000;
  std::mt19937 random(1);
  std::vector<float> logits;
  for (int row = 0; row < 4; ++row) {
    const auto values = random_row(random, kVocab, Kind::kNormal);
    logits.insert(logits.end(), values.begin(), values.end());
  }
  logits[4999] = NAN;
  logits[kVocab + 17] = -kInf;
  std::fill_n(logits.begin() + 2 * kVocab, kVocab, 0.25f);
  std::vector<Asked> asked(6);
  for (int32_t i = 0; i < 6; ++i) {
    asked[i].row = i % 4;
    asked[i].params = {.temperature = 0.9f, .top_p = 0.8f, .seed = 1, .top_logprobs = 3};
  }
  asked[3].allowed.assign((kVocab + 31) / 32, 0);
  asked[4].scored = 3;
  asked[5].params.temperature = 0;
  expect_host_tokens(logits, kVocab, asked);
}

TEST(Sampling, ARequestGetsTheSameAmongOthers) {
  constexpr int32_t kVocab = 9001;
  std::mt19937 random(11);
  std::vector<float> logits = random_row(random, kVocab, Kind::kNormal);
  std::vector<Asked> asked;
  for (int i = 0; i < 4; ++i) asked.push_back(random_request(random, 1, kVocab));
  const auto together = sample_on_device(logits, kVocab, asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto alone = sample_on_device(logits, kVocab, {asked[i]});
    EXPECT_EQ(std::memcmp(alone.data(), &together[i], sizeof(SampleResult)), 0) << i;
  }
}

TEST(Sampling, LeavesRequestsWithoutARowAsTheyAre) {
  std::mt19937 random(3);
  const std::vector<float> logits = random_row(random, 100, Kind::kNormal);
  std::vector<Asked> asked(2);
  asked[1].row = -1;
  const auto results = sample_on_device(logits, 100, asked);
  EXPECT_EQ(results[0].token, argmax(logits));
  EXPECT_EQ(results[1].token, 0);
  EXPECT_EQ(results[1].hash, 0);
}

}  // namespace
}  // namespace llmservice::testing
