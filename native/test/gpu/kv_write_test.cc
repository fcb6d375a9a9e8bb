// What lands in the paged cache, and the fused launch against the single ones.
#include "attention_support.h"
#include "backends/gpu/kernels/rows.h"
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
};

class NormRopeWriteTest : public ::testing::TestWithParam<FusedCase> {};

TEST_P(NormRopeWriteTest, GivesTheBitsOfTheSingleLaunches) {
  const auto& [shape, rotary, normed] = GetParam();
  constexpr int32_t kTokens = 21;
  constexpr float kEps = 1e-6f;
  PagedSequence fused(shape, kTokens), single(shape, kTokens);
  const int64_t q_width = fused.q_width(), kv_width = fused.kv_width();
  const int64_t stride = q_width + 2 * kv_width;
  const DeviceArray<float> both(random_floats(kTokens * stride, 4)), apart(both.host());
  const DeviceArray<float> q_norm(random_floats(shape.head_dim, 5)), k_norm(random_floats(shape.head_dim, 6));
  const DeviceArray<float> cos(random_floats(kTokens * rotary / 2, 7)),
      sin(random_floats(kTokens * rotary / 2, 8));
  const std::vector<Piece> pieces = {{0, 4}, {4, 1}, {5, 16}};
  const DeviceArray<Segment> to_fused(fused.segments(pieces)), to_single(single.segments(pieces));

  run(gpu::norm_rope_write(shape, {to_fused.data(), 3, 16, kTokens},
                           {normed ? q_norm.data() : nullptr, normed ? k_norm.data() : nullptr, kEps, rotary,
                            cos.data(), sin.data()},
                           both.data(), both.data() + q_width, both.data() + q_width + kv_width, stride,
                           fused.cache()));

  float* const q = apart.data();
  float* const k = q + q_width;
  if (normed) {
    run(gpu::head_rms_norm(q, stride, kTokens, shape.heads, shape.head_dim, q_norm.data(), kEps));
    run(gpu::head_rms_norm(k, stride, kTokens, shape.kv_heads, shape.head_dim, k_norm.data(), kEps));
  }
  run(gpu::rope(q, stride, kTokens, shape.heads, shape.head_dim, rotary, cos.data(), sin.data()));
  run(gpu::rope(k, stride, kTokens, shape.kv_heads, shape.head_dim, rotary, cos.data(), sin.data()));
  run(gpu::write_kv(shape, {to_single.data(), 3, 16, kTokens}, k, stride, k + kv_width, stride,
                    single.cache()));

  const std::vector<float> fused_rows = both.host(), single_rows = apart.host();
  for (int32_t row = 0; row < kTokens; ++row) {
    expect_same_bits(std::span(fused_rows).subspan(row * stride, q_width),
                     std::span(single_rows).subspan(row * stride, q_width), "q of " + std::to_string(row));
  }
  EXPECT_EQ(fused.bytes(), single.bytes());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, NormRopeWriteTest,
    ::testing::Values(FusedCase{attention_shape(6, 1, 256, 16, DType::kBF16), 64, true},
                      FusedCase{attention_shape(4, 2, 64, 16, DType::kF8E4M3), 64, false},
                      FusedCase{attention_shape(2, 1, 128, 16, DType::kF8E4M3), 128, true},
                      FusedCase{attention_shape(2, 2, 80, 16, DType::kBF16), 20, true}),
    [](const auto& info) { return "heads_of_" + std::to_string(info.param.shape.head_dim); });

}  // namespace
}  // namespace llmservice::testing
