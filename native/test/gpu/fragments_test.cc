// The vocabulary of matrix fragments: a block of K by the instructions of each type, and eight-bit codes
// widened for chips whose matrix units have none.
#include "backends/gpu/kernels/fragment_tiles.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using namespace gpu;

struct Fp8 {
  using Code = uint8_t;
  static __device__ void multiply(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
    mma<DType::kF8E4M3>(sums, weights, tokens);
  }
  static float value(Code code) { return fp8_to_float(code); }
};
struct Widened : Fp8 {
  static __device__ void multiply(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
    mma_widened(sums, weights, tokens);
  }
};
struct Bf16 {
  using Code = uint16_t;
  static __device__ void multiply(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
    mma<DType::kBF16>(sums, weights, tokens);
  }
  static float value(Code code) { return gpu::bf16_to_float(code); }
};
struct F16 {
  using Code = uint16_t;
  static __device__ void multiply(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
    mma<DType::kF16>(sums, weights, tokens);
  }
  static float value(Code code) { return gpu::f16_to_float(code); }
};

// One warp: sums (kFragmentOutputs, kFragmentTokens) of one strip and block of K.
template <class Type>
__global__ void block_kernel(const uint32_t* weights, const uint32_t* tokens, float* out) {
  constexpr int kStripVectors = kFragmentSteps * kWeightWords / 4;
  uint32_t own_weights[kStripVectors * 4];
  uint32_t own_tokens[8];
  wait_for_previous();
  for (int i = 0; i < kStripVectors * 4; ++i) {
    own_weights[i] = weights[(i / 4 * kWarpSize + lane_id()) * 4 + i % 4];
  }
  for (int i = 0; i < 8; ++i) own_tokens[i] = tokens[(i / 4 * kWarpSize + lane_id()) * 4 + i % 4];
  float sums[4] = {};
  for (int step = 0; step < kFragmentSteps; ++step) {
    Type::multiply(sums, own_weights + step * kWeightWords, own_tokens + step * kTokenWords);
  }
  for (int i = 0; i < 4; ++i) {
    out[sum_output(lane_id(), i) * kFragmentTokens + sum_token(lane_id(), i)] = sums[i];
  }
}

template <class Type>
class FragmentsTest : public ::testing::Test {};
using Types = ::testing::Types<Fp8, Widened, Bf16, F16>;
TYPED_TEST_SUITE(FragmentsTest, Types);

TYPED_TEST(FragmentsTest, MultipliesABlockOfK) {
  using Code = typename TypeParam::Code;
  constexpr int kBytes = sizeof(Code);
  constexpr int kColumns = kTileBytes / kBytes;
  std::mt19937 engine(1);
  // Finite, of every sign and mantissa, with subnormals where eight bits have them.
  const auto random_code = [&] {
    if (kBytes == 1) return static_cast<Code>((engine() & 0x80) | engine() % 0x7f);
    return static_cast<Code>((engine() & 0x83ff) | 0x3800 | (engine() & 0x400));
  };
  std::vector<std::byte> weights(kStripBytes), tokens(kFragmentTokens * kTileBytes);
  std::vector<float> a(kFragmentOutputs * kColumns), b(kFragmentTokens * kColumns);
  const auto fill = [&](std::vector<float>& values, std::vector<std::byte>& at, auto offset) {
    for (size_t i = 0; i < values.size(); ++i) {
      Code code = random_code();
      if (kBytes == 1) code = device_fp8(static_cast<uint8_t>(code));
      values[i] = TypeParam::value(code);
      const auto row = static_cast<int32_t>(i) / kColumns;
      const auto byte = static_cast<int32_t>(i) % kColumns * kBytes;
      std::memcpy(&at[offset(row, byte)], &code, sizeof code);
    }
  };
  fill(a, weights, fragment_offset);
  fill(b, tokens, fragment_activation_offset);

  const DeviceArray<std::byte> strip(weights), fragment(tokens);
  const DeviceArray<float> out(kFragmentOutputs * kFragmentTokens, NAN);
  run(make_launch("block", block_kernel<TypeParam>, {1}, kWarpSize, 0,
                  reinterpret_cast<const uint32_t*>(strip.data()),
                  reinterpret_cast<const uint32_t*>(fragment.data()), out.data()));
  const std::vector<float> sums = out.host();
  for (int row = 0; row < kFragmentOutputs; ++row) {
    for (int token = 0; token < kFragmentTokens; ++token) {
      double sum = 0;
      double size = 0;
      for (int i = 0; i < kColumns; ++i) {
        const double product = double{a[row * kColumns + i]} * b[token * kColumns + i];
        sum += product;
        size += std::fabs(product);
      }
      // NVIDIA's sums of eight-bit products carry about 14 bits.
      EXPECT_NEAR(sums[row * kFragmentTokens + token], sum,
                  size * (kBytes == 1 && kWarpSize == 32 ? 0x1p-12 : 1e-6))
          << "output " << row << ", token " << token;
    }
  }
}

__global__ void widen_kernel(uint32_t* out) {
  const uint32_t code = threadIdx.x;
  wait_for_previous();
  widen_fp8(code | (255 - code) << 8 | code << 16 | (255 - code) << 24, out[2 * code], out[2 * code + 1]);
}

TEST(Widening, IsExact) {
  const DeviceArray<uint32_t> out(512, 0);
  run(make_launch("widen", widen_kernel, {1}, 256, 0, out.data()));
  const std::vector<uint32_t> pairs = out.host();
  const auto expect_value = [](uint32_t half, uint32_t code) {
    const float expected = fp8_to_float(static_cast<uint8_t>(code));
    if (std::isnan(expected)) return;
    EXPECT_EQ(gpu::f16_to_float(static_cast<uint16_t>(half)), expected) << code;
  };
  for (uint32_t code = 0; code < 256; ++code) {
    for (const uint32_t pair : {pairs[2 * code], pairs[2 * code + 1]}) {
      expect_value(pair & 0xffff, code);
      expect_value(pair >> 16, 255 - code);
    }
  }
}

}  // namespace
}  // namespace llmservice::testing
