// Gated DeltaNet: chunked and recurrent forms against the scalar reference with decays that remember, prompts
// at the chunk borders, and the same bits however a sequence is cut, on any family and thread count.
#include "ops_support.h"

namespace llmservice::testing {
namespace {

struct Sequence {
  GdnShape shape;
  int32_t tokens;
  int64_t channels = 2 * int64_t{shape.k_heads} * shape.k_dim + int64_t{shape.v_heads} * shape.v_dim;
  int64_t out_width = int64_t{shape.v_heads} * shape.v_dim;
  std::vector<float> qkv = random_floats(tokens * channels, 1);
  std::vector<float> conv_weight = random_floats(channels * shape.conv_kernel, 2);
  std::vector<float> beta = random_floats(tokens * shape.v_heads, 3, 2.0f);
  std::vector<float> gate = random_floats(tokens * shape.v_heads, 4, 0.5f);
  std::vector<float> dt_bias = random_floats(shape.v_heads, 5, 0.1f);
  std::vector<float> a_log = std::vector<float>(shape.v_heads);

  Sequence(GdnShape s, int32_t t) : shape(s), tokens(t) {
    // Even heads decay by about 0.9 to 0.999 a step (softplus(0) = 0.69), odd ones forget at once.
    for (int32_t h = 0; h < s.v_heads; ++h) {
      const float decay = h % 4 == 0 ? 0.999f : 0.9f;
      a_log[h] = h % 2 == 0 ? std::log(-std::log(decay) / 0.69f) : 2.0f;
    }
  }

  struct Result {
    std::vector<float> out, conv, s;
  };

  // Conv and delta rule, the sequence cut before each of `cuts`; slot 1 of 2.
  Result run(Backend& backend, int32_t chunked_until, std::vector<int32_t> cuts = {}) const {
    const int64_t tail = channels * (shape.conv_kernel - 1);
    const int64_t matrix = out_width * shape.k_dim;
    Result r{std::vector<float>(tokens * out_width, NAN), std::vector<float>(2 * tail, 9.0f),
             std::vector<float>(2 * matrix, 9.0f)};
    const GdnState state{r.conv.data(), r.s.data()};
    const int32_t slot = 1;
    backend.gdn_reset(shape, {&slot, 1}, state);
    cuts.push_back(tokens);
    int32_t at = 0;
    for (const int32_t end : cuts) {
      std::vector<float> x(qkv.begin() + at * channels, qkv.begin() + end * channels);
      const Segment segment{0, end - at, at, slot, nullptr, chunked_until};
      backend.gdn_conv(shape, {&segment, 1}, conv_weight.data(), x.data(), channels, state);
      backend.gdn(shape, {&segment, 1}, x.data(), channels, &beta[at * shape.v_heads],
                  &gate[at * shape.v_heads], shape.v_heads, a_log.data(), dt_bias.data(), state,
                  &r.out[at * out_width], {});
      at = end;
    }
    const auto is_untouched = [](const std::vector<float>& both) {
      return std::all_of(both.begin(), both.begin() + both.size() / 2, [](float x) { return x == 9.0f; });
    };
    EXPECT_TRUE(is_untouched(r.s)) << "S of slot 0 was touched";
    EXPECT_TRUE(is_untouched(r.conv)) << "the tail of slot 0 was touched";
    return r;
  }
};

void expect_same(const Sequence::Result& actual, const Sequence::Result& expected, const std::string& what) {
  expect_same_bits(actual.out, expected.out, what + ": out");
  expect_same_bits(actual.s, expected.s, what + ": S");
  expect_same_bits(actual.conv, expected.conv, what + ": conv tail");
}

const std::vector<GdnShape> kShapes = {
    {2, 4, 64, 64, 4},
    {1, 3, 128, 128, 4},
    {2, 2, 24, 40, 4},
    {1, 1, 16, 80, 3},
    // Channels that are no multiple of a vector, by the shortest and the longest convolution.
    {1, 2, 5, 7, 2},
    {1, 1, 3, 5, 8}};

class GdnTest : public ::testing::TestWithParam<int32_t> {};

TEST_P(GdnTest, BothFormsAreCloseToTheReference) {
  const int32_t tokens = GetParam();
  ReferenceBackend reference;
  const auto backend = make_cpu_backend({.threads = 2});
  for (const GdnShape& shape : kShapes) {
    const Sequence sequence(shape, tokens);
    const auto expected = sequence.run(reference, 0);
    for (const int32_t chunked_until : {0, tokens / 64 * 64}) {
      const auto actual = sequence.run(*backend, chunked_until);
      const std::string what =
          std::to_string(tokens) + " tokens, chunked until " + std::to_string(chunked_until);
      expect_close(actual.out, expected.out, 2e-5f, what + ": out");
      expect_close(actual.s, expected.s, 2e-5f, what + ": S");
      expect_close(actual.conv, expected.conv, 0.0f, what + ": conv tail");
    }
  }
}

TEST_P(GdnTest, GivesTheSameBitsOnEveryFamilyAndThreadCount) {
  const int32_t tokens = GetParam();
  const auto backends = all_backends();
  for (const GdnShape& shape : kShapes) {
    const Sequence sequence(shape, tokens);
    const auto first = sequence.run(*backends.back(), tokens / 64 * 64);
    for (const auto& backend : backends) {
      expect_same(sequence.run(*backend, tokens / 64 * 64), first, label(*backend));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Prompts, GdnTest, ::testing::Values(1, 2, 3, 63, 64, 65, 129, 200));

TEST(Gdn, CutsOfASequenceNeverShow) {
  const auto backend = make_cpu_backend({.threads = 3});
  for (const GdnShape& shape : kShapes) {
    const Sequence sequence(shape, 200);
    const auto whole = sequence.run(*backend, 192);
    expect_same(sequence.run(*backend, 192, {64, 128, 192}), whole, "chunk by chunk");
    expect_same(sequence.run(*backend, 192, {128, 193, 194, 195, 196, 197}), whole, "tail by single rows");
    const auto recurrent = sequence.run(*backend, 0);
    std::vector<int32_t> singles;
    for (int32_t i = 1; i < 200; ++i) singles.push_back(i);
    expect_same(sequence.run(*backend, 0, singles), recurrent, "row by row");
  }
}

// The norm at the end, of rows of several segments, is rms_norm of each head times silu of its gate, to the
// bit.
TEST(Gdn, NormsAndGatesItsOutput) {
  const GdnShape shape{2, 4, 32, 40, 4};
  const Sequence sequence(shape, 100);
  const int64_t stride = sequence.out_width + 3, heads = 100 * shape.v_heads;
  const std::vector<float> z = random_floats(100 * stride, 8, 3.0f), weight = random_floats(40, 9);
  const std::vector<Segment> segments = {{0, 70, 0, 0, nullptr, 64}, {70, 30, 7, 1, nullptr, 0, 2}};
  const auto run = [&](Backend& backend, const GdnNorm& norm) {
    std::vector<float> s(2 * sequence.out_width * 32, 0.25f), out(100 * sequence.out_width, NAN);
    backend.gdn(shape, segments, sequence.qkv.data(), sequence.channels, sequence.beta.data(),
                sequence.gate.data(), 4, sequence.a_log.data(), sequence.dt_bias.data(), {nullptr, s.data()},
                out.data(), norm);
    return out;
  };
  const GdnNorm norm{z.data(), stride, weight.data(), 1e-6f};
  ReferenceBackend reference;
  const std::vector<float> expected = run(reference, norm);
  for (const auto& backend : all_backends()) {
    const std::vector<float> plain = run(*backend, {}), fused = run(*backend, norm);
    expect_close(fused, expected, 5e-5f, label(*backend));
    std::vector<float> single(plain.size()), gated(2 * plain.size());
    backend->rms_norm(plain.data(), weight.data(), 1e-6f, heads, 40, single.data());
    for (int64_t i = 0; i < heads; ++i) {
      std::copy_n(&z[i / 4 * stride + i % 4 * 40], 40, &gated[i * 80]);
      std::copy_n(&single[i * 40], 40, &gated[i * 80 + 40]);
    }
    backend->silu_mul(gated.data(), heads, 40, single.data());
    expect_same_bits(fused, single, label(*backend));
  }
}

// Heads that forget a thousandth a step still hold what came thousands of positions before: errors add up
// there.
TEST(Gdn, BothFormsAgreeOver16kPositions) {
  const auto backend = make_cpu_backend({.threads = 2});
  const Sequence sequence({2, 4, 24, 32, 4}, 16448);
  const auto chunked = sequence.run(*backend, 16448), recurrent = sequence.run(*backend, 0);
  expect_close(chunked.s, recurrent.s, 5e-5f, "S");
  expect_close(chunked.out, recurrent.out, 5e-5f, "out");
  ReferenceBackend reference;
  const auto expected = sequence.run(reference, 0);
  expect_close(chunked.s, expected.s, 5e-5f, "S of the chunked form");
  expect_close(recurrent.s, expected.s, 5e-5f, "S of the recurrent form");
}

TEST(Gdn, SegmentsOfOneStepDoNotTouchEachOther) {
  const GdnShape shape{2, 4, 32, 32, 4};
  const Sequence sequence(shape,
                          130);  // rows 0..99: one sequence; rows 100..129: another, a little further on
  const auto backend = make_cpu_backend({.threads = 2});
  const std::vector<Segment> both = {{0, 100, 0, 0, nullptr, 64}, {100, 30, 7, 1, nullptr, 0}};
  const auto run = [&](const std::vector<std::vector<Segment>>& steps) {
    std::vector<float> conv(2 * sequence.channels * 3, 0.5f), s(2 * sequence.out_width * 32, 0.25f);
    std::vector<float> x = sequence.qkv, out(130 * sequence.out_width, NAN);
    const GdnState state{conv.data(), s.data()};
    for (const auto& step : steps) {
      backend->gdn_conv(shape, step, sequence.conv_weight.data(), x.data(), sequence.channels, state);
      backend->gdn(shape, step, x.data(), sequence.channels, sequence.beta.data(), sequence.gate.data(), 4,
                   sequence.a_log.data(), sequence.dt_bias.data(), state, out.data(), {});
    }
    return Sequence::Result{out, conv, s};
  };
  expect_same(run({both}), run({{both[1]}, {both[0]}}), "together and apart");
}

}  // namespace
}  // namespace llmservice::testing
