// Paged attention of long sequences, whose splits several threads share, and of many sequences, whose KV
// heads are read together: the same bits as alone on any number of threads.
#include <numeric>

#include "attention_support.h"

namespace llmservice::testing {
namespace {

// Rows at the end of a context of one KV head: with several threads, each computes some of its splits.
class LongDecode : public ::testing::TestWithParam<std::tuple<DType, int32_t, int32_t, int32_t>> {};

TEST_P(LongDecode, GivesTheSameBitsOnAnyNumberOfThreads) {
  const auto [dtype, rows, window, bad] = GetParam();
  constexpr int32_t kTokens = 2818;
  const AttentionShape s = shape(3, 1, 40, 16, dtype, window);
  std::vector<int32_t> blocks((kTokens + 15) / 16);
  std::iota(blocks.rbegin(), blocks.rend(), 0);
  const std::vector<float> q = random_floats(rows * 120, 1, 3.0f), k = random_floats(kTokens * 40, 2);
  std::vector<float> v = random_floats(kTokens * 40, 3);
  if (bad > 0) v[(kTokens - bad) * 40 + 7] = NAN;
  const Segment all{0, kTokens, 0, 0, blocks.data(), 0};
  const auto run = [&](Backend& backend, std::vector<Segment> segments) {
    const auto kc = backend.allocate(blocks.size() * 16 * 40 * 4);
    const auto vc = backend.allocate(blocks.size() * 16 * 40 * 4);
    std::vector<float> k_scales(blocks.size() * 16), v_scales(blocks.size() * 16);
    const KvCache cache{kc->data(), vc->data(), k_scales.data(), v_scales.data()};
    write_kv(backend, s, all, k.data(), v.data(), cache);
    std::vector<float> out(rows * 120, 0.0f);
    backend.attention(s, segments, q.data(), 120, cache, out.data());
    return out;
  };
  const Segment together{0, rows, kTokens - rows, 0, blocks.data(), 0};
  std::vector<Segment> apart;
  for (int32_t i = 0; i < rows; ++i) apart.push_back({i, 1, kTokens - rows + i, i, blocks.data(), 0});
  const auto alone = make_cpu_backend({.threads = 1});
  const std::vector<float> expected = run(*alone, apart);
  EXPECT_EQ(std::ranges::any_of(expected, [](float x) { return std::isnan(x); }), bad > 0);
  for (const int threads : {1, 2, 3, 8}) {
    const auto backend = make_cpu_backend({.threads = threads});
    expect_same_bits(run(*backend, {together}), expected, label(*backend));
    expect_same_bits(run(*backend, apart), expected, label(*backend) + ", row by row");
  }
  std::vector<float> wholes[2];
  wholes[rounds_attention(*alone, dtype)] = expected;
  for (const auto& backend : all_backends()) {
    std::vector<float>& whole = wholes[rounds_attention(*backend, dtype)];
    if (whole.empty()) whole = run(*backend, apart);
    expect_same_bits(run(*backend, {together}), whole, label(*backend));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LongDecode,
    ::testing::Values(std::tuple{DType::kBF16, 1, 0, 0}, std::tuple{DType::kF32, 1, 1500, 0},
                      std::tuple{DType::kF8E4M3, 2, 0, 0}, std::tuple{DType::kBF16, 5, 0, 0},
                      std::tuple{DType::kBF16, 5, 0, 2}, std::tuple{DType::kF32, 5, 1030, 3}));

TEST(Attention, ALongSequenceIsDividedBesideShortOnes) {
  const AttentionShape s = shape(4, 2, 16, 16, DType::kBF16);
  const std::vector<int32_t> lengths{1290, 3, 2570, 700};
  std::vector<std::vector<int32_t>> blocks;
  std::vector<Segment> prompts, decodes;
  int32_t rows = 0, next = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::vector<int32_t>& own = blocks.emplace_back((lengths[i] + 15) / 16);
    std::iota(own.begin(), own.end(), next);
    next += static_cast<int32_t>(own.size());
    const auto slot = static_cast<int32_t>(i);
    prompts.push_back({rows, lengths[i], 0, slot, own.data(), 0});
    decodes.push_back({slot, 1, lengths[i] - 1, slot, own.data(), 0});
    rows += lengths[i];
  }
  const std::vector<float> q = random_floats(4 * 64, 1, 3.0f), k = random_floats(rows * 32, 2),
                           v = random_floats(rows * 32, 3);
  const auto run = [&](int threads) {
    const auto backend = make_cpu_backend({.threads = threads});
    const auto kc = backend->allocate(next * 16 * 32 * 2), vc = backend->allocate(next * 16 * 32 * 2);
    const KvCache cache{kc->data(), vc->data()};
    for (const Segment& prompt : prompts) write_kv(*backend, s, prompt, k.data(), v.data(), cache);
    std::vector<float> out(4 * 64, NAN);
    backend->attention(s, decodes, q.data(), 64, cache, out.data());
    return out;
  };
  const std::vector<float> expected = run(1);
  for (const int threads : {2, 3, 8}) {
    expect_same_bits(run(threads), expected, std::to_string(threads) + " threads");
  }
}

// Beside many others a row's KV heads are read together.
TEST(Attention, ADecodeBesideManyOthersHasTheBitsThatItHasAlone) {
  for (const AttentionShape& s : {shape(8, 4, 64, 32, DType::kBF16), shape(16, 8, 128, 64, DType::kBF16),
                                  shape(6, 3, 72, 8, DType::kBF16), shape(10, 5, 24, 16, DType::kBF16, 40),
                                  shape(24, 3, 64, 16, DType::kBF16), shape(27, 3, 64, 16, DType::kBF16),
                                  shape(8, 4, 64, 16, DType::kF8E4M3), shape(8, 4, 40, 16, DType::kF32)}) {
    constexpr int32_t kTokens = 700;
    const int64_t width = int64_t{s.heads} * s.head_dim, kv_width = int64_t{s.kv_heads} * s.head_dim;
    std::vector<int32_t> blocks(kTokens / s.block_size + 1);
    std::iota(blocks.rbegin(), blocks.rend(), 0);
    std::vector<Segment> decodes;
    for (const int32_t position : {0, 14, 15, 16, 17, 63, 64, 255, 256, 257, 300, 511, 512, 640, 699}) {
      decodes.push_back({static_cast<int32_t>(decodes.size()), 1, position, 0, blocks.data(), 0});
    }
    const std::vector<float> q = random_floats(decodes.size() * width, 1, 3.0f),
                             k = random_floats(kTokens * kv_width, 2),
                             v = random_floats(kTokens * kv_width, 3), sinks = random_floats(s.heads, 4);
    for (const auto& backend : all_backends()) {
      const size_t rows = blocks.size() * s.block_size * s.kv_heads;
      const size_t bytes = rows * s.head_dim * size_of(s.kv_dtype);
      const auto kc = backend->allocate(bytes), vc = backend->allocate(bytes);
      std::vector<float> k_scales(rows), v_scales(rows);
      const KvCache cache{kc->data(), vc->data(), k_scales.data(), v_scales.data()};
      write_kv(*backend, s, {0, kTokens, 0, 0, blocks.data(), 0}, k.data(), v.data(), cache);
      const auto run = [&](Backend& by, std::span<const Segment> segments, std::vector<float>& out) {
        by.attention(s, segments, q.data(), width, cache, out.data(), {0, sinks.data()});
      };
      const auto threads = make_cpu_backend({.threads = 8, .isa = backend->isa()});
      std::vector<float> together(decodes.size() * width, NAN), alone = together;
      run(*backend, decodes, together);
      for (const Segment& one : decodes) run(*threads, {&one, 1}, alone);
      expect_same_bits(together, alone, label(*backend));
    }
  }
}

}  // namespace
}  // namespace llmservice::testing
