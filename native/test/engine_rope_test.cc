// Stretched rotary frequencies, as transformers' modeling_rope_utils computes them for the same config.
#include <gtest/gtest.h>

#include "model/config.h"
#include "model/rope.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using nlohmann::json;
using namespace llmservice::testing;

struct RopeCase {
  const char* name;
  json scaling;
  std::vector<float> frequencies;
  float attention_factor;
};

class StretchedRope : public ::testing::TestWithParam<RopeCase> {};

TEST_P(StretchedRope, HasTheFrequenciesOfTheReference) {
  json config = tiny_llama_config();  // heads of 16
  config["max_position_embeddings"] = 262144;
  config["rope_parameters"] = GetParam().scaling;
  const RopeConfig rope = parse_model_config(config.dump()).rope;
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
                               {{"rope_type", "linear"}, {"rope_theta", 1e4}, {"factor", 2.5}},
                               {0.400000006F, 0.1264911F, 0.0399999991F, 0.0126491114F, 0.00399999972F,
                                0.00126491114F, 0.000400000019F, 0.000126491112F},
                               1},
                      RopeCase{"yarn_with_its_defaults",
                               {{"rope_type", "yarn"},
                                {"rope_theta", 1e4},
                                {"factor", 4.0},
                                {"original_max_position_embeddings", 64}},
                               {1.0F, 0.237170815F, 0.049999997F, 0.00790569466F, 0.00249999994F,
                                0.000790569466F, 0.000250000012F, 7.90569466e-05F},
                               1.138629436F},
                      RopeCase{"yarn_with_every_field",
                               {{"rope_type", "yarn"},
                                {"rope_theta", 1e6},
                                {"factor", 40.0},
                                {"original_max_position_embeddings", 4096},
                                {"beta_fast", 16.0},
                                {"beta_slow", 2.0},
                                {"mscale", 1.0},
                                {"mscale_all_dim", 0.707},
                                {"truncate", false}},
                               {1.0F, 0.177827939F, 0.0316227786F, 0.00173821906F, 2.49999994e-05F,
                                4.44569832e-06F, 7.90569402e-07F, 1.40585328e-07F},
                               1.085726399F},
                      RopeCase{"yarn_with_a_given_attention_factor",
                               {{"rope_type", "yarn"},
                                {"rope_theta", 1e6},
                                {"factor", 2.0},
                                {"original_max_position_embeddings", 32768},
                                {"attention_factor", 1.5}},
                               {1.0F, 0.177827939F, 0.0316227786F, 0.00468617771F, 0.00066666666F,
                                8.89139701e-05F, 1.58113871e-05F, 2.81170674e-06F},
                               1.5}),
    [](const auto& info) { return info.param.name; });

TEST(StretchedRope, TakesTheYarnFactorFromTheContextsWhereItIsNotGiven) {
  json config = tiny_llama_config();
  config["max_position_embeddings"] = 256;
  config["rope_scaling"] = {{"type", "yarn"}, {"original_max_position_embeddings", 64}};
  const RopeConfig rope = parse_model_config(config.dump()).rope;
  EXPECT_EQ(std::get<YarnScaling>(rope.scaling).factor, 4);
}

struct WindowCase {
  const char* name;
  json fields;
  std::vector<int32_t> windows;
};

class Windows : public ::testing::TestWithParam<WindowCase> {};

TEST_P(Windows, AreThoseOfTheLayersThatSlide) {
  json config = tiny_llama_config();
  config["num_hidden_layers"] = 3;
  config["sliding_window"] = 40;
  config["model_type"] = "qwen3";
  config.update(GetParam().fields);
  EXPECT_EQ(parse_model_config(config.dump()).windows, GetParam().windows);
}

const json kExperts = {{"num_experts", 4},
                       {"num_experts_per_tok", 2},
                       {"moe_intermediate_size", 8},
                       {"model_type", "qwen3_moe"}};

json with_experts(json fields) {
  fields.update(kExperts);
  return fields;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Windows,
    ::testing::Values(
        WindowCase{"not_asked_for", {{"max_window_layers", 0}}, {0, 0, 0}},
        WindowCase{
            "from_max_window_layers", {{"use_sliding_window", true}, {"max_window_layers", 2}}, {0, 0, 40}},
        WindowCase{"by_layer_types",
                   {{"use_sliding_window", true},
                    {"layer_types", {"sliding_attention", "full_attention", "full_attention"}}},
                   {40, 0, 0}},
        WindowCase{"none_of_few_layers", {{"use_sliding_window", true}}, {0, 0, 0}},
        WindowCase{"everywhere_in_qwen3_moe", with_experts({{"use_sliding_window", true}}), {40, 40, 40}},
        WindowCase{"null_in_qwen3_moe",
                   with_experts({{"use_sliding_window", true}, {"sliding_window", nullptr}}),
                   {0, 0, 0}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace llmservice
