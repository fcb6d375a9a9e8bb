// Attention whose products take pairs of BF16: near scalar code that rounds alike, whatever lies in the
// cache.
#include <numeric>

#include "attention_support.h"
#include "ops_support.h"

namespace llmservice::testing {
namespace {

// The contract of pairs in scalar code, of the last of `tokens` positions within one split.
std::vector<float> rounded_attention(const std::vector<float>& q, const std::vector<float>& k,
                                     const std::vector<float>& v, int32_t tokens, float scale) {
  const auto to_bf16 = [](double x) { return bf16_to_float(float_to_bf16(static_cast<float>(x))); };
  const size_t dim = q.size();
  std::vector<double> scores(tokens, 0.0);
  for (int32_t p = 0; p < tokens; ++p) {
    for (size_t i = 0; i < dim; ++i) scores[p] += to_bf16(q[i] * scale) * to_bf16(k[p * dim + i]);
  }
  const double top = *std::ranges::max_element(scores);
  double total = 0;
  std::vector<double> sums(dim, 0.0);
  for (int32_t p = 0; p < tokens; ++p) {
    const double weight = std::exp(scores[p] - top);
    total += weight;
    for (size_t i = 0; i < dim; ++i) sums[i] += to_bf16(weight) * to_bf16(v[p * dim + i]);
  }
  std::vector<float> out(dim);
  for (size_t i = 0; i < dim; ++i) out[i] = static_cast<float>(sums[i] / total);
  return out;
}

class AttentionInPairs : public ::testing::TestWithParam<int32_t> {
 protected:
  static constexpr int32_t kBlocks = 16, kBlock = 16;
  int32_t dim = GetParam();
  AttentionShape s = shape(1, 1, dim, kBlock, DType::kBF16);
  std::vector<int32_t> blocks = std::vector<int32_t>(kBlocks);
  std::vector<float> q = random_floats(kBlocks * kBlock * dim, 1, 3.0f);
  std::vector<float> k = random_floats(kBlocks * kBlock * dim, 2);
  std::vector<float> v = random_floats(kBlocks * kBlock * dim, 3);

  void SetUp() override { std::iota(blocks.begin(), blocks.end(), 0); }

  // The last `rows` of so many positions; where K behind them is not a number, what is there already.
  std::vector<float> last(Backend& backend, int32_t tokens, int32_t rows, bool after_nan) {
    const size_t bytes = size_t{kBlocks} * kBlock * dim * sizeof(uint16_t);
    const auto kc = backend.allocate(bytes), vc = backend.allocate(bytes);
    const KvCache cache{kc->data(), vc->data()};
    if (after_nan) {
      const std::vector<float> nan(k.size(), NAN);
      const Segment all{0, kBlocks * kBlock, 0, 0, blocks.data(), 0};
      write_kv(backend, s, all, nan.data(), v.data(), cache);
    }
    const Segment write{0, tokens, 0, 0, blocks.data(), 0};
    const Segment read{0, rows, tokens - rows, 0, blocks.data(), 0};
    write_kv(backend, s, write, k.data(), v.data(), cache);
    std::vector<float> out(rows * dim);
    backend.attention(s, {&read, 1}, q.data(), dim, cache, out.data());
    return out;
  }
};

TEST_P(AttentionInPairs, IsNearTheReferenceThatRoundsAlike) {
  for (const int32_t tokens : {1, 15, 17, 63, 65, 200, 255}) {
    for (const auto& backend : all_backends()) {
      if (!rounds_attention(*backend, s.kv_dtype)) continue;
      const auto first = [&](const std::vector<float>& all, int32_t rows) {
        return std::vector<float>(all.begin(), all.begin() + rows * dim);
      };
      expect_close(last(*backend, tokens, 1, false),
                   rounded_attention(first(q, 1), first(k, tokens), first(v, tokens), tokens, s.scale), 1e-4f,
                   label(*backend));
    }
  }
}

// Of rejected drafts, or of whose block it was before.
TEST_P(AttentionInPairs, DoesNotSeeWhatWasWrittenBehindItsLastPosition) {
  for (const int32_t tokens : {15, 17, 65, 200}) {
    for (const auto& backend : all_backends()) {
      for (const int32_t rows : {1, 3, 12}) {
        expect_same_bits(last(*backend, tokens, rows, true), last(*backend, tokens, rows, false),
                         label(*backend));
      }
    }
  }
}

// 72: of no whole pairs of vectors, which stay as they come.
INSTANTIATE_TEST_SUITE_P(Dims, AttentionInPairs, ::testing::Values(64, 72, 128, 512));

}  // namespace
}  // namespace llmservice::testing
