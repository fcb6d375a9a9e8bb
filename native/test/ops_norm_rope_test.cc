// What happens to q, k and v before attention: close to the scalar reference, and to the bit the RMSNorm, the
// rotation and the stored rows that it is made of, on any family, thread count and cut of the rows.
#include "attention_support.h"
#include "ops/kv_row.h"
#include "ops_support.h"

namespace llmservice::testing {
namespace {

struct Case {
  AttentionShape shape;
  int32_t rotary;
  bool normed;
  bool values = false;  // which are keys, normed by themselves
};

constexpr int32_t kTokens = 21;
const std::vector<int32_t> kBlocks = {2, 0, 1};

class NormRopeWrite : public ::testing::TestWithParam<Case> {
 protected:
  AttentionShape shape = GetParam().shape;
  int32_t half = GetParam().rotary / 2;
  int64_t q_width = int64_t{shape.heads} * shape.head_dim;
  int64_t kv_width = int64_t{shape.kv_heads} * shape.head_dim;
  int64_t stride = q_width + 2 * kv_width + 3;
  std::vector<float> rows = random_floats(kTokens * stride, 1, 3.0f);
  std::vector<float> q_norm = random_floats(shape.head_dim, 2);
  std::vector<float> k_norm = random_floats(shape.head_dim, 3);
  std::vector<float> v_norm = random_floats(shape.head_dim, 6);
  std::vector<float> cos = random_floats(kTokens * half, 4);
  std::vector<float> sin = random_floats(kTokens * half, 5);

  struct Result {
    std::vector<float> q;  // (tokens, heads, head_dim)
    std::vector<std::byte> k, v;
    std::vector<float> scales;  // of K, then of V
  };

  NormRope norm() const {
    const bool normed = GetParam().normed;
    return {normed ? q_norm.data() : nullptr,
            normed ? k_norm.data() : nullptr,
            1e-6f,
            2 * half,
            cos.data(),
            sin.data(),
            GetParam().values ? v_norm.data() : nullptr};
  }
  Result empty() const {
    const int64_t cached = 3 * shape.kv_heads * shape.block_size;
    const size_t bytes = cached * shape.head_dim * size_of(shape.kv_dtype);
    return {std::vector<float>(kTokens * q_width), std::vector<std::byte>(bytes),
            std::vector<std::byte>(bytes), std::vector<float>(2 * cached)};
  }

  Result run(Backend& backend, const std::vector<std::vector<Segment>>& steps) const {
    Result r = empty();
    std::vector<float> x = rows;
    const KvCache cache{r.k.data(), r.v.data(), r.scales.data(), r.scales.data() + r.scales.size() / 2};
    for (const auto& segments : steps) {
      float* const k = x.data() + q_width;
      backend.norm_rope_write(shape, segments, norm(), x.data(), k, GetParam().values ? k : k + kv_width,
                              stride, cache);
    }
    for (int64_t t = 0; t < kTokens; ++t) std::copy_n(&x[t * stride], q_width, &r.q[t * q_width]);
    return r;
  }

  // By rms_norm alone and plain loops.
  std::vector<float> head_of(Backend& backend, int64_t row, int64_t at,
                             const std::vector<float>& weight) const {
    std::vector<float> head(&rows[row * stride + at], &rows[row * stride + at] + shape.head_dim);
    if (GetParam().normed) {
      backend.rms_norm(head.data(), weight.data(), 1e-6f, 1, shape.head_dim, head.data());
    }
    for (int32_t i = 0; i < half; ++i) {
      const float c = cos[row * half + i], s = sin[row * half + i];
      const float low = head[i], high = head[i + half];
      const float parts[] = {low * c, high * s, high * c, low * s};
      head[i] = parts[0] - parts[1];
      head[i + half] = parts[2] + parts[3];
    }
    return head;
  }
  Result by_parts(Backend& backend) const {
    Result r = empty();
    // (groups of 16 positions, pairs of features, 16 positions), where products take pairs.
    const bool in_pairs = rounds_attention(backend, shape.kv_dtype) && shape.block_size % 16 == 0 &&
                          shape.head_dim % 32 == 0 && shape.head_dim <= 512;
    const auto store_pairs = [&](const float* head, std::vector<std::byte>& cache, int64_t at) {
      auto* const to = reinterpret_cast<uint16_t*>(cache.data()) + at / 16 * 16 * shape.head_dim;
      for (int32_t d = 0; d < shape.head_dim; ++d) {
        to[d / 2 * 32 + at % 16 * 2 + d % 2] = float_to_bf16(head[d]);
      }
    };
    const auto store = [&](const float* head, std::vector<std::byte>& cache, float* scales, int64_t at) {
      std::byte* const to = cache.data() + at * shape.head_dim * size_of(shape.kv_dtype);
      if (shape.kv_dtype == DType::kF32) {
        std::memcpy(to, head, shape.head_dim * sizeof(float));
      } else if (shape.kv_dtype == DType::kF8E4M3) {
        scales[at] = quantize_kv_row(head, shape.head_dim, reinterpret_cast<uint8_t*>(to));
      } else {
        std::transform(head, head + shape.head_dim, reinterpret_cast<uint16_t*>(to), float_to_bf16);
      }
    };
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int32_t h = 0; h < shape.heads; ++h) {
        const std::vector<float> head = head_of(backend, t, h * shape.head_dim, q_norm);
        std::ranges::copy(head, &r.q[t * q_width + h * shape.head_dim]);
      }
      for (int32_t h = 0; h < shape.kv_heads; ++h) {
        const int64_t at = (int64_t{kBlocks[t / shape.block_size]} * shape.kv_heads + h) * shape.block_size +
                           t % shape.block_size;
        const int64_t k = q_width + h * shape.head_dim;
        const std::vector<float> key = head_of(backend, t, k, k_norm);
        if (in_pairs) store_pairs(key.data(), r.k, at);
        if (!in_pairs) store(key.data(), r.k, r.scales.data(), at);
        const float* const from = &rows[t * stride + (GetParam().values ? k : k + kv_width)];
        std::vector<float> value(from, from + shape.head_dim);
        if (GetParam().values) backend.rms_norm(from, v_norm.data(), 1e-6f, 1, shape.head_dim, value.data());
        store(value.data(), r.v, r.scales.data() + r.scales.size() / 2, at);
      }
    }
    return r;
  }
};

void expect_same(const auto& actual, const auto& expected, const std::string& what) {
  expect_same_bits(actual.q, expected.q, what + ": q");
  EXPECT_EQ(actual.k, expected.k) << what;
  EXPECT_EQ(actual.v, expected.v) << what;
  expect_same_bits(actual.scales, expected.scales, what + ": scales");
}

Segment segment(int32_t first, int32_t count) { return {first, count, first, 0, kBlocks.data(), 0}; }

TEST_P(NormRopeWrite, HasTheBitsOfItsParts) {
  ReferenceBackend reference;
  const Result close = run(reference, {{segment(0, kTokens)}});
  for (const auto& backend : all_backends()) {
    const Result parts = by_parts(*backend);
    expect_close(parts.q, close.q, 2e-6f, label(*backend));
    expect_same(run(*backend, {{segment(0, kTokens)}}), parts, label(*backend));
    expect_same(run(*backend, {{segment(0, 4), segment(4, 1)}, {segment(5, 16)}}), parts,
                label(*backend) + ", cut");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, NormRopeWrite,
                         ::testing::Values(Case{{2, 1, 128, 8, DType::kBF16, 1}, 128, true},
                                           Case{{4, 2, 96, 16, DType::kBF16, 1}, 96, true},
                                           Case{{3, 1, 256, 8, DType::kF8E4M3, 1}, 64, true},
                                           Case{{4, 2, 64, 16, DType::kF32, 1}, 16, false},
                                           Case{{2, 2, 6, 8, DType::kBF16, 1}, 4, true},
                                           Case{{2, 1, 80, 8, DType::kF32, 1}, 80, true},
                                           Case{{4, 2, 512, 8, DType::kBF16, 1}, 512, true, true},
                                           Case{{2, 2, 24, 8, DType::kF8E4M3, 1}, 24, true, true}),
                         [](const auto& info) {
                           return "heads_of_" + std::to_string(info.param.shape.head_dim) +
                                  (info.param.values ? "_keys_as_values" : "");
                         });

}  // namespace
}  // namespace llmservice::testing
