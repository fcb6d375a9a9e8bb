// Stretched rotary frequencies, as transformers' modeling_rope_utils computes them for the same config.
#include <gtest/gtest.h>

#include <cmath>

#include "model/config.h"
#include "model/rope.h"

namespace llmservice {
namespace {

struct RopeCase {
  const char* name;
  double theta;
  RopeScaling scaling;
  std::vector<float> frequencies;
  float attention_factor;
};

class StretchedRope : public ::testing::TestWithParam<RopeCase> {};

TEST_P(StretchedRope, HasTheFrequenciesOfTheReference) {
  const RopeConfig rope{.theta = GetParam().theta, .rotary = 16, .scaling = GetParam().scaling};
  const auto frequencies = rope_frequencies(rope);
  ASSERT_EQ(frequencies.size(), GetParam().frequencies.size());
  for (size_t i = 0; i < frequencies.size(); ++i) {
    EXPECT_NEAR(frequencies[i] / GetParam().frequencies[i], 1, 1e-6) << i;
  }
  EXPECT_NEAR(rope_factor(rope.scaling), GetParam().attention_factor, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StretchedRope,
    ::testing::Values(RopeCase{"linear",
                               1e4,
                               LinearScaling{2.5},
                               {0.400000006F, 0.1264911F, 0.0399999991F, 0.0126491114F, 0.00399999972F,
                                0.00126491114F, 0.000400000019F, 0.000126491112F},
                               1},
                      RopeCase{"yarn_with_its_defaults",
                               1e4,
                               YarnScaling{4, 64, 32, 1, true, 1.138629436},
                               {1.0F, 0.237170815F, 0.049999997F, 0.00790569466F, 0.00249999994F,
                                0.000790569466F, 0.000250000012F, 7.90569466e-05F},
                               1.138629436F},
                      RopeCase{"yarn_with_every_field",
                               1e6,
                               YarnScaling{40, 4096, 16, 2, false, 1.085726399},
                               {1.0F, 0.177827939F, 0.0316227786F, 0.00173821906F, 2.49999994e-05F,
                                4.44569832e-06F, 7.90569402e-07F, 1.40585328e-07F},
                               1.085726399F},
                      RopeCase{"yarn_with_a_given_attention_factor",
                               1e6,
                               YarnScaling{2, 32768, 32, 1, true, 1.5},
                               {1.0F, 0.177827939F, 0.0316227786F, 0.00468617771F, 0.00066666666F,
                                8.89139701e-05F, 1.58113871e-05F, 2.81170674e-06F},
                               1.5}),
    [](const auto& info) { return info.param.name; });

TEST(StretchedRope, OfLlama3KeepsShortWavesAndStretchesLongOnes) {
  const auto frequencies =
      rope_frequencies({.theta = 500000, .rotary = 16, .scaling = Llama3Scaling{8, 1, 4, 8192}});
  EXPECT_FLOAT_EQ(frequencies[0], 1.0F);
  EXPECT_FLOAT_EQ(frequencies[7], static_cast<float>(std::pow(500000.0, -14.0 / 16) / 8));
}

}  // namespace
}  // namespace llmservice
