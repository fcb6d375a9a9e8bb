// Paged attention: close to the scalar reference, and each position's bits the same whether it came in a
// prefill, a chunk of one, a decode, beside other sequences, on any thread count and family that rounds
// alike.
#include <limits>
#include <numeric>

#include "attention_support.h"

namespace llmservice::testing {
namespace {

struct Case {
  AttentionShape shape;
  int32_t tokens;
  float cap = 0;
  bool sinks = false;
  bool causal = true;
};

// One sequence's q, k, v for every position, and a cache whose blocks lie in reverse order.
class AttentionTest : public ::testing::TestWithParam<Case> {
 protected:
  AttentionShape shape = GetParam().shape;
  int32_t tokens = GetParam().tokens;
  // Below all scores of a head, among them and above.
  std::vector<float> sinks = random_floats(shape.heads, 4, 12.0f);
  ScoreRules rules{GetParam().cap, GetParam().sinks ? sinks.data() : nullptr, GetParam().causal};
  int64_t q_width = int64_t{shape.heads} * shape.head_dim;
  int64_t kv_width = int64_t{shape.kv_heads} * shape.head_dim;
  std::vector<float> q = random_floats(tokens * q_width, 1, 3.0f);
  std::vector<float> k = random_floats(tokens * kv_width, 2);
  std::vector<float> v = random_floats(tokens * kv_width, 3);
  std::vector<int32_t> blocks = std::vector<int32_t>((tokens + shape.block_size - 1) / shape.block_size);

  void SetUp() override { std::iota(blocks.rbegin(), blocks.rend(), 1); }

  // Feeds the sequence in pieces of at most `piece` tokens.
  std::vector<float> run(Backend& backend, int32_t piece) {
    const size_t rows = (blocks.size() + 1) * shape.block_size * shape.kv_heads;
    const size_t bytes = rows * shape.head_dim * size_of(shape.kv_dtype);
    const auto k_cache = backend.allocate(bytes);
    const auto v_cache = backend.allocate(bytes);
    std::vector<float> k_scales(rows), v_scales(rows);  // of e4m3 alone
    const KvCache cache{k_cache->data(), v_cache->data(), k_scales.data(), v_scales.data()};
    std::vector<float> out(tokens * q_width, NAN);
    for (int32_t at = 0; at < tokens; at += piece) {
      const Segment segment{0, std::min(piece, tokens - at), at, 0, blocks.data(), 0};
      write_kv(backend, shape, segment, &k[at * kv_width], &v[at * kv_width], cache);
      backend.attention(shape, {&segment, 1}, &q[at * q_width], q_width, cache, &out[at * q_width], rules);
    }
    return out;
  }
};

TEST_P(AttentionTest, IsCloseToTheReference) {
  ReferenceBackend reference;
  const std::vector<float> expected = run(reference, tokens);
  for (const auto& backend : all_backends()) {
    const float allowed = rounds_attention(*backend, shape.kv_dtype) ? 4e-3f : 3e-6f;
    expect_close(run(*backend, tokens), expected, allowed, label(*backend));
  }
}

TEST_P(AttentionTest, GivesAPositionTheSameBitsHoweverItArrives) {
  std::vector<float> wholes[2];
  for (const auto& backend : all_backends()) {
    std::vector<float>& whole = wholes[rounds_attention(*backend, shape.kv_dtype)];
    if (whole.empty()) {
      whole = run(*backend, tokens);
      if (rules.causal) {
        expect_same_bits(run(*backend, 1), whole, label(*backend) + ", token by token");
      }
    }
    expect_same_bits(run(*backend, tokens), whole, label(*backend) + ", prefill");
    if (rules.causal) expect_same_bits(run(*backend, 37), whole, label(*backend) + ", pieces of 37");
  }
}

TEST_P(AttentionTest, LeavesEarlierPositionsAsTheyAreWhereALaterOneIsNotFinite) {
  if (!rules.causal) GTEST_SKIP() << "all positions see it";
  const int32_t bad = tokens * 2 / 3;
  for (const auto& backend : all_backends()) {
    std::vector<float> expected = run(*backend, tokens);
    const float sound = std::exchange(v[bad * kv_width + 1], NAN);
    std::vector<float> out = run(*backend, tokens);
    v[bad * kv_width + 1] = sound;
    EXPECT_TRUE(std::isnan(out[bad * q_width + 1])) << label(*backend);
    out.resize(bad * q_width);
    expected.resize(out.size());
    expect_same_bits(out, expected, label(*backend));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionTest,
    ::testing::Values(
        Case{shape(4, 2, 64, 16, DType::kBF16), 130}, Case{shape(2, 1, 128, 32, DType::kF32), 258},
        Case{shape(6, 1, 40, 16, DType::kBF16), 257}, Case{shape(1, 1, 256, 64, DType::kBF16), 300},
        Case{shape(8, 1, 512, 16, DType::kBF16), 130}, Case{shape(2, 1, 512, 16, DType::kF8E4M3), 270},
        Case{shape(3, 3, 24, 8, DType::kF32), 65}, Case{shape(2, 2, 16, 16, DType::kF32), 1},
        Case{shape(4, 2, 24, 16, DType::kBF16, 40), 300}, Case{shape(4, 1, 16, 16, DType::kF32, 1), 70},
        Case{shape(2, 1, 32, 32, DType::kBF16, 256), 600}, Case{shape(2, 2, 16, 16, DType::kF32, 300), 900},
        Case{shape(4, 2, 64, 16, DType::kF8E4M3), 130}, Case{shape(6, 1, 40, 16, DType::kF8E4M3), 257},
        Case{shape(1, 1, 256, 64, DType::kF8E4M3), 300}, Case{shape(2, 2, 24, 8, DType::kF8E4M3, 40), 300},
        Case{shape(4, 2, 32, 16, DType::kBF16), 300, 1.5f},
        Case{shape(6, 1, 24, 16, DType::kF32, 40), 258, 2.0f},
        Case{shape(8, 2, 32, 16, DType::kBF16), 600, 0, true},
        Case{shape(6, 3, 24, 16, DType::kF32, 40), 300, 0, true},
        Case{shape(8, 1, 64, 16, DType::kF8E4M3, 128), 258, 2.0f, true},
        Case{shape(4, 2, 64, 16, DType::kBF16), 600, 0, false, false},
        Case{shape(3, 3, 24, 8, DType::kF32), 65, 0, false, false},
        Case{shape(6, 1, 40, 16, DType::kF8E4M3), 1300, 0, false, false},
        Case{shape(2, 2, 16, 16, DType::kF32), 2, 0, false, false},
        Case{shape(4, 4, 16, 16, DType::kF32, 9), 300, 0, false, false},
        Case{shape(2, 2, 64, 16, DType::kBF16, 65), 600, 0, false, false},
        Case{shape(6, 2, 24, 16, DType::kF32, 300), 900, 0, false, false},
        Case{shape(3, 3, 24, 8, DType::kF8E4M3, 1), 65, 0, false, false}),
    [](const auto& info) {
      const AttentionShape& s = info.param.shape;
      return std::string(name_of(s.kv_dtype)) + "_" + std::to_string(s.heads) + "_heads_of_" +
             std::to_string(s.head_dim) + "_over_" + std::to_string(info.param.tokens) +
             (s.window > 0 ? "_window_" + std::to_string(s.window) : "") +
             (info.param.cap > 0 ? "_capped" : "") + (info.param.sinks ? "_with_sinks" : "") +
             (info.param.causal ? "" : "_bidirectional");
    });

TEST(Attention, ARowWithoutCausalitySeesWhatLiesBehindItAndNothingOfOthers) {
  const AttentionShape s = shape(2, 1, 16, 16, DType::kF32);
  const int32_t tokens = 300;
  const std::vector<float> q(2 * tokens * 32, 0.0f), k(2 * tokens * 16, 0.0f);
  std::vector<float> v(2 * tokens * 16, 0.0f);
  // All positions weigh the same: the mean of the first sequence is 1, that of the other 2.
  std::fill_n(v.begin() + (tokens - 1) * 16, 16, static_cast<float>(tokens));
  std::fill_n(v.begin() + tokens * 16, tokens * 16, 2.0f);
  std::vector<int32_t> blocks(38);
  std::iota(blocks.begin(), blocks.end(), 0);
  const Segment both[] = {{0, tokens, 0, 0, blocks.data(), 0}, {tokens, tokens, 0, 1, blocks.data() + 19, 0}};
  for (const auto& backend : all_backends()) {
    const auto kc = backend->allocate(38 * 16 * 16 * 4), vc = backend->allocate(38 * 16 * 16 * 4);
    const KvCache cache{kc->data(), vc->data()};
    for (const Segment& each : both) write_kv(*backend, s, each, k.data(), v.data(), cache);
    std::vector<float> out(2 * tokens * 32), wanted(out.size(), 1.0f);
    std::fill_n(wanted.begin() + tokens * 32, tokens * 32, 2.0f);
    backend->attention(s, both, q.data(), 32, cache, out.data(), {.causal = false});
    expect_close(out, wanted, 1e-6f, label(*backend));
  }
}

TEST(Attention, ASinkTakesItsShareOfEachRowAndGivesNothing) {
  const AttentionShape s = shape(4, 2, 16, 16, DType::kF32);
  const std::vector<float> q(4 * 16, 0.0f), k(2 * 2 * 16, 0.0f), v(2 * 2 * 16, 1.0f);
  // Both positions score 0: each weighs e^0, the sink e^sink.
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> sinks = {0.0f, -inf, 3.0f, 500.0f};
  const int32_t block = 0;
  for (const auto& backend : all_backends()) {
    const auto kc = backend->allocate(2 * 16 * 16 * 4), vc = backend->allocate(2 * 16 * 16 * 4);
    const KvCache cache{kc->data(), vc->data()};
    const Segment write{0, 2, 0, 0, &block, 0}, read{0, 1, 1, 0, &block, 0};
    write_kv(*backend, s, write, k.data(), v.data(), cache);
    std::vector<float> out(4 * 16);
    backend->attention(s, {&read, 1}, q.data(), 64, cache, out.data(), {.sinks = sinks.data()});
    const float shares[] = {2.0f / 3, 1, 2 / (2 + std::exp(3.0f)), 0};
    for (int i = 0; i < 64; ++i) EXPECT_NEAR(out[i], shares[i / 16], 1e-6f) << label(*backend) << " " << i;
  }
}

TEST(Attention, AWindowHidesWhatLiesBeforeIt) {
  const AttentionShape s = shape(1, 1, 16, 16, DType::kF32, 20);
  const int32_t tokens = 290;
  std::vector<float> k(tokens * 16, 0.0f), v(tokens * 16, 1.0f);
  const std::vector<float> q(16, 0.0f);
  std::fill_n(v.begin(), (tokens - 20) * 16, 1e30f);  // hidden from the last position, by one
  std::vector<int32_t> blocks(19);
  std::iota(blocks.begin(), blocks.end(), 0);
  const auto backend = make_cpu_backend({.threads = 1});
  const auto kc = backend->allocate(19 * 16 * 16 * 4), vc = backend->allocate(19 * 16 * 16 * 4);
  const KvCache cache{kc->data(), vc->data()};
  const Segment write{0, tokens, 0, 0, blocks.data(), 0}, read{0, 1, tokens - 1, 0, blocks.data(), 0};
  write_kv(*backend, s, write, k.data(), v.data(), cache);
  std::vector<float> out(16);
  backend->attention(s, {&read, 1}, q.data(), 16, cache, out.data());
  expect_close(out, std::vector<float>(16, 1.0f), 1e-6f, "the window's mean");
}

TEST(Attention, SegmentsOfOneStepDoNotTouchEachOther) {
  const AttentionShape s = shape(4, 2, 32, 16, DType::kBF16);
  const int64_t width = 128, kv_width = 64;
  const std::vector<int32_t> first_blocks = {3, 0, 5}, second_blocks = {1, 4};
  const std::vector<float> q = random_floats(60 * width, 1), k = random_floats(60 * kv_width, 2),
                           v = random_floats(60 * kv_width, 3);
  // 40 new positions of one sequence beside 20 of another, in one step and apart.
  const Segment first{0, 40, 0, 0, first_blocks.data(), 0}, second{40, 20, 0, 1, second_blocks.data(), 0};
  const auto backend = make_cpu_backend({.threads = 2});
  const auto run = [&](std::vector<std::vector<Segment>> steps) {
    const auto kc = backend->allocate(6 * 16 * kv_width * 2), vc = backend->allocate(6 * 16 * kv_width * 2);
    const KvCache cache{kc->data(), vc->data()};
    std::vector<float> out(60 * width, NAN);
    for (const auto& step : steps) {
      for (const Segment& segment : step) write_kv(*backend, s, segment, k.data(), v.data(), cache);
      backend->attention(s, step, q.data(), width, cache, out.data());
    }
    return out;
  };
  expect_same_bits(run({{first, second}}), run({{second}, {first}}), "together and apart");
}

TEST(Attention, SurvivesScoresFarApart) {
  const AttentionShape s{1, 1, 16, 16, DType::kF32, 1.0f};
  const int32_t tokens = 300;  // the largest score lies in the second split
  std::vector<float> q(16, 0.0f), k(tokens * 16, 0.0f), v(tokens * 16, 1.0f);
  q[0] = 100.0f;
  for (int32_t p = 0; p < tokens; ++p) k[p * 16] = p == 280 ? 5.0f : -5.0f;
  for (int32_t d = 0; d < 16; ++d) v[280 * 16 + d] = 7.0f;
  std::vector<int32_t> blocks(19);
  std::iota(blocks.begin(), blocks.end(), 0);
  const auto backend = make_cpu_backend({.threads = 1});
  const auto kc = backend->allocate(19 * 16 * 16 * 4), vc = backend->allocate(19 * 16 * 16 * 4);
  const KvCache cache{kc->data(), vc->data()};
  const Segment write{0, tokens, 0, 0, blocks.data(), 0}, read{0, 1, tokens - 1, 0, blocks.data(), 0};
  write_kv(*backend, s, write, k.data(), v.data(), cache);
  std::vector<float> out(16);
  backend->attention(s, {&read, 1}, q.data(), 16, cache, out.data());
  expect_close(out, std::vector<float>(16, 7.0f), 1e-6f, "one dominant position");
}

}  // namespace
}  // namespace llmservice::testing
