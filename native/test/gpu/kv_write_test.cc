// What lands in the paged cache, as it is and after norms and rotation.
#include "attention_support.h"
#include "ops/kv_row.h"

namespace llmservice::testing {
namespace {

class KvWriteTest : public ::testing::TestWithParam<DType> {};

TEST_P(KvWriteTest, StoresRowsWhereTheBlockTableSays) {
  const AttentionShape shape = attention_shape(4, 2, 80, 16, GetParam());
  constexpr int32_t kTokens = 35;
  PagedSequence sequence(shape, kTokens);
  const int64_t width = sequence.kv_width();
  std::fill_n(sequence.k.begin() + 3 * width, shape.head_dim, 0.0f);
  sequence.k[4 * width + 5] = NAN;
  sequence.v[4 * width + 5] = -INFINITY;
  std::fill_n(sequence.v.begin() + 6 * width, shape.head_dim,
              1e-37f);  // no scale brings it to the largest code
  sequence.write();
  const auto check = [&](const std::vector<float>& values, const void* cache, const float* scales) {
    const int64_t rows = (kTokens + 15) / 16 * 16 * 2 + 16 * 2;
    std::vector<uint8_t> bytes(rows * shape.head_dim * size_of(shape.kv_dtype));
    std::vector<float> factors(rows);
    device().download(cache, std::as_writable_bytes(std::span(bytes)));
    device().download(scales, std::as_writable_bytes(std::span(factors)));
    for (int32_t p = 0; p < kTokens; ++p) {
      for (int32_t h = 0; h < shape.kv_heads; ++h) {
        const float* const from = &values[p * width + h * shape.head_dim];
        const int64_t at = sequence.cache_row(p, h);
        float largest = 0;
        for (int32_t d = 0; d < shape.head_dim; ++d) largest += std::max(0.0f, std::fabs(from[d]) - largest);
        const bool finite = std::isfinite(std::accumulate(from, from + shape.head_dim, 0.0f));
        const float scale = largest / gpu::kFp8Max;
        const bool empty = !finite || scale < std::numeric_limits<float>::min();
        for (int32_t d = 0; d < shape.head_dim; ++d) {
          const int64_t i = at * shape.head_dim + d;
          if (shape.kv_dtype == DType::kF8E4M3) {
            EXPECT_EQ(bytes[i], empty ? 0 : gpu::float_to_fp8(from[d] / scale))
                << p << ", " << h << ", " << d;
          } else {
            EXPECT_EQ(bytes[2 * i] | bytes[2 * i + 1] << 8, float_to_bf16(from[d]));
          }
        }
        if (shape.kv_dtype != DType::kF8E4M3) continue;
        const float expected = !finite ? NAN : empty ? 0.0f : scale;
        expect_same_bits({&factors[at], 1}, {&expected, 1}, "scale of " + std::to_string(p));
      }
    }
    EXPECT_EQ(bytes.front(), 0xff) << "block 0 belongs to nobody";
    EXPECT_EQ(bytes[bytes.size() / 2 - 1], 0xff) << "the last block's end is not reached yet";
  };
  check(sequence.k, sequence.cache().k, sequence.cache().k_scales);
  check(sequence.v, sequence.cache().v, sequence.cache().v_scales);
}

INSTANTIATE_TEST_SUITE_P(Types, KvWriteTest, ::testing::Values(DType::kBF16, DType::kF8E4M3),
                         [](const auto& info) { return std::string(name_of(info.param)); });

struct FusedCase {
  AttentionShape shape;
  int32_t rotary;
  bool normed;
  bool values_are_keys = false;  // and values are normed
};

class NormRopeWriteTest : public ::testing::TestWithParam<FusedCase> {};

TEST_P(NormRopeWriteTest, IsCloseToTheReferenceAndTheSameInAnyBatch) {
  const auto& [shape, rotary, normed, values_are_keys] = GetParam();
  constexpr int32_t kTokens = 21;
  constexpr float kEps = 1e-6f;
  PagedSequence together(shape, kTokens), apart(shape, kTokens);
  const int64_t q_width = together.q_width(), kv_width = together.kv_width();
  const int64_t stride = q_width + 2 * kv_width, v_at = q_width + (values_are_keys ? 0 : kv_width);
  std::vector<float> rows = random_floats(kTokens * stride, 4);
  const std::vector<float> q_weight = random_floats(shape.head_dim, 5),
                           k_weight = random_floats(shape.head_dim, 6), v_weight(shape.head_dim, 1.0f),
                           cosines = random_floats(kTokens * rotary / 2, 7),
                           sines = random_floats(kTokens * rotary / 2, 8);
  const DeviceArray<float> first(rows), second(rows), q_norm(q_weight), k_norm(k_weight), v_norm(v_weight),
      cos(cosines), sin(sines);
  const auto write = [&](const PagedSequence& sequence, const DeviceArray<float>& values,
                         const std::vector<Piece>& pieces) {
    const DeviceArray<Segment> list(sequence.segments(pieces));
    run(gpu::norm_rope_write(shape, {list.data(), static_cast<int32_t>(pieces.size()), 32, kTokens},
                             {normed ? q_norm.data() : nullptr, normed ? k_norm.data() : nullptr, kEps,
                              rotary, cos.data(), sin.data(), values_are_keys ? v_norm.data() : nullptr},
                             values.data(), values.data() + q_width, values.data() + v_at, stride,
                             sequence.cache()));
  };
  write(together, first, {{0, 4}, {4, 1}, {5, 16}});
  for (int32_t t = 0; t < kTokens; ++t) write(apart, second, {{t, 1}});
  expect_same_bits(first.host(), second.host(), "a row alone");
  EXPECT_EQ(together.bytes(), apart.bytes());

  // The reference keeps float32, so that only norms and rotation differ from what the cache holds.
  AttentionShape wide = shape;
  wide.kv_dtype = DType::kF32;
  const std::vector<int32_t> table = {1, 0};
  const Segment all{0, kTokens, 0, 0, table.data(), 0};
  std::vector<float> k_cache(32 * kv_width), v_cache(32 * kv_width);
  ReferenceBackend().norm_rope_write(
      wide, {&all, 1},
      {normed ? q_weight.data() : nullptr, normed ? k_weight.data() : nullptr, kEps, rotary, cosines.data(),
       sines.data(), values_are_keys ? v_weight.data() : nullptr},
      rows.data(), rows.data() + q_width, rows.data() + v_at, stride, {k_cache.data(), v_cache.data()});
  const std::vector<float> actual = first.host();
  const std::vector<float> keys = together.keys(), values = together.values();
  const float step = shape.kv_dtype == DType::kBF16 ? 0.004f : 0.07f;
  for (int32_t t = 0; t < kTokens; ++t) {
    expect_close(std::span(actual).subspan(t * stride, q_width), std::span(rows).subspan(t * stride, q_width),
                 2e-6f, "q of " + std::to_string(t));
    for (int32_t h = 0; h < shape.kv_heads; ++h) {
      const int64_t at = together.cache_row(t, h) * shape.head_dim;
      const int64_t from = ((t < 16 ? 1 : 0) * shape.kv_heads + h) * 16 + t % 16;
      const auto expected = [&](const std::vector<float>& cache) {
        return std::span(cache).subspan(from * shape.head_dim, shape.head_dim);
      };
      expect_close(std::span(keys).subspan(at, shape.head_dim), expected(k_cache), step, "k");
      expect_close(std::span(values).subspan(at, shape.head_dim), expected(v_cache), step, "v");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, NormRopeWriteTest,
    ::testing::Values(FusedCase{attention_shape(6, 1, 256, 16, DType::kBF16), 64, true},
                      FusedCase{attention_shape(4, 2, 64, 16, DType::kF8E4M3), 64, false},
                      FusedCase{attention_shape(2, 1, 128, 16, DType::kF8E4M3), 128, true},
                      FusedCase{attention_shape(2, 2, 80, 16, DType::kBF16), 20, true},
                      FusedCase{attention_shape(3, 1, 512, 16, DType::kBF16), 512, true, true},
                      FusedCase{attention_shape(1, 1, 272, 16, DType::kF8E4M3), 16, true, true}),
    [](const auto& info) { return "heads_of_" + std::to_string(info.param.shape.head_dim); });

}  // namespace
}  // namespace llmservice::testing
