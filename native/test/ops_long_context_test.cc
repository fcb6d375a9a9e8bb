// Attention beyond 128k positions: close to the double-precision reference wherever the needle lies, in every
// KV type, the same bits for a row alone and within a chunk, and in memory that does not grow with the
// context.
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "attention_support.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kTokens = 131072 + 700;
constexpr int32_t kDim = 16;
constexpr int32_t kBlock = 64;
constexpr int32_t kRows = 65;  // the last ones, which are computed
constexpr int32_t kBlocks = (kTokens + kBlock - 1) / kBlock;

int64_t resident_bytes() {
  int64_t pages = 0;
  std::ifstream file("/proc/self/statm");
  file >> pages >> pages;  // the second number
  return pages * sysconf(_SC_PAGESIZE);
}

class LongAttention : public ::testing::TestWithParam<std::tuple<DType, int32_t>> {
 protected:
  DType dtype = std::get<0>(GetParam());
  int32_t needle = std::get<1>(GetParam());
  AttentionShape shape{2, 1, kDim, kBlock, dtype, 1.0f / std::sqrt(static_cast<float>(kDim))};
  std::vector<float> q = random_floats(int64_t{kRows} * 2 * kDim, 1);
  std::vector<float> v = random_floats(int64_t{kTokens} * kDim, 3);
  std::vector<int32_t> blocks = std::vector<int32_t>(kBlocks);
  std::vector<float> k_scales = std::vector<float>(int64_t{kBlocks} * kBlock);
  std::vector<float> v_scales = k_scales;

  void SetUp() override { std::iota(blocks.rbegin(), blocks.rend(), 0); }

  // Every key but one is small; that one is twenty times the last query.
  std::vector<float> keys() const {
    std::vector<float> k = random_floats(int64_t{kTokens} * kDim, 2, 0.5f);
    for (int32_t i = 0; i < kDim; ++i) k[int64_t{needle} * kDim + i] = 20 * q[(kRows - 1) * 2 * kDim + i];
    return k;
  }
  std::vector<float> attend(Backend& backend, const KvCache& cache, int32_t first, int32_t count) const {
    const Segment segment{0, count, kTokens - kRows + first, 0, blocks.data(), 0};
    std::vector<float> out(int64_t{count} * 2 * kDim, NAN);
    backend.attention(shape, {&segment, 1}, &q[int64_t{first} * 2 * kDim], 2 * kDim, cache, out.data());
    return out;
  }
};

TEST_P(LongAttention, FindsTheNeedleInBoundedMemory) {
  ReferenceBackend reference;
  const auto backend = make_cpu_backend({.threads = 2});
  const size_t bytes = int64_t{kBlocks} * kBlock * kDim * size_of(dtype);
  const auto k_memory = backend->allocate(bytes), v_memory = backend->allocate(bytes);
  const KvCache cache{k_memory->data(), v_memory->data(), k_scales.data(), v_scales.data()};
  const Segment all{0, kTokens, 0, 0, blocks.data(), 0};
  write_kv(*backend, shape, all, keys().data(), v.data(), cache);

  const int64_t before = resident_bytes();
  const std::vector<float> out = attend(*backend, cache, 0, kRows);
  EXPECT_LT(resident_bytes() - before, 4 << 20);

  const int32_t last = kRows - 1;
  const float allowed = rounds_attention(*backend, dtype) ? 4e-3f : 1e-5f;
  std::vector<std::byte> expected_k(bytes), expected_v(bytes);
  const KvCache expected{expected_k.data(), expected_v.data(), k_scales.data(), v_scales.data()};
  write_kv(reference, shape, all, keys().data(), v.data(), expected);
  expect_close(std::span(out).last(2 * kDim), attend(reference, expected, last, 1), allowed,
               "the last position");
  expect_close(std::span(out).subspan(0, 2 * kDim), attend(reference, expected, 0, 1), allowed,
               "the first of them");
  // The first head's query is the needle's own: what it reads is the needle's value.
  const float step = dtype == DType::kF32 ? 1e-3f : dtype == DType::kBF16 ? 5e-3f : 0.04f;
  expect_close(std::span(out).subspan(int64_t{last} * 2 * kDim, kDim),
               std::span(v).subspan(int64_t{needle} * kDim, kDim), step, "the needle's value");
  expect_same_bits(attend(*backend, cache, last, 1), std::span(out).last(2 * kDim),
                   "alone and within a chunk");
  const auto one_thread = make_cpu_backend({.threads = 1});
  expect_same_bits(attend(*one_thread, cache, 0, kRows), out, "with its splits undivided");
}

INSTANTIATE_TEST_SUITE_P(Needles, LongAttention,
                         ::testing::Values(std::tuple{DType::kF32, 3}, std::tuple{DType::kBF16, 65537},
                                           std::tuple{DType::kBF16, 131072 + 511},
                                           std::tuple{DType::kF8E4M3, 131072 + 3}),
                         [](const auto& info) {
                           return std::string(name_of(std::get<0>(info.param))) + "_at_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace llmservice::testing
