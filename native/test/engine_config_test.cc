// config.json in the shapes that releases have, and those that are refused.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/config.h"
#include "model/rope.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using nlohmann::json;
using namespace llmservice::testing;

TEST(Config, ReadsLlamaWithLlama3Scaling) {
  json j = tiny_llama_config();
  j["rope_theta"] = 500000.0;
  j["rope_scaling"] = {{"rope_type", "llama3"},
                       {"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 8192}};
  const ModelConfig config = parse_model_config(j.dump());
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_FALSE(config.qk_norm);
  EXPECT_EQ(config.rope.rotary, 16);
  const auto frequencies = rope_frequencies(config.rope);
  EXPECT_FLOAT_EQ(frequencies[0], 1.0F);  // short wave: kept
  EXPECT_FLOAT_EQ(frequencies[7], static_cast<float>(std::pow(500000.0, -14.0 / 16) / 8));  // long: stretched
}

TEST(Config, TakesRotaryFieldsFromTheTopLevelOrFromRopeParameters) {
  const json nested = tiny_hybrid_config();
  json flat = nested["text_config"];
  flat.erase("rope_parameters");
  flat["rope_theta"] = 10000.0;
  flat["partial_rotary_factor"] = 0.25;
  const ModelConfig a = parse_model_config(nested.dump());
  const ModelConfig b = parse_model_config(flat.dump());
  EXPECT_EQ(a.rope.rotary, 4);
  EXPECT_EQ(b.rope.rotary, 4);
  EXPECT_EQ(a.rope.theta, b.rope.theta);
  EXPECT_TRUE(b.hybrid());
}

TEST(Config, PlacesFullAttentionByInterval) {
  json j = tiny_hybrid_config();
  j["text_config"].erase("layer_types");
  j["text_config"]["num_hidden_layers"] = 5;
  constexpr auto kGdn = LayerKind::kGdn;
  const std::vector<LayerKind> expected{kGdn, kGdn, kGdn, LayerKind::kAttention, kGdn};
  EXPECT_EQ(parse_model_config(j.dump()).layers, expected);
}

TEST(Config, NormalizesWrapperPrefixesOfUnconvertedModules) {
  json j = tiny_hybrid_config();
  j["quantization_config"] = {
      {"quant_method", "fp8"},
      {"weight_block_size", {128, 128}},
      {"modules_to_not_convert", {"model.language_model.layers.1.linear_attn.in_proj_a", "lm_head"}}};
  const ModelConfig config = parse_model_config(j.dump());
  EXPECT_TRUE(config.quantization.excludes("model.layers.1.linear_attn.in_proj_a"));
  EXPECT_FALSE(config.quantization.excludes("model.layers.1.linear_attn.in_proj_ab"));
  EXPECT_FALSE(config.quantization.excludes("model.layers.11.linear_attn.in_proj_a"));
  EXPECT_TRUE(config.quantization.excludes("lm_head"));
}

struct ListCase {
  const char* name;
  json quantization;
  std::vector<std::string> excluded;
  std::vector<std::string> converted;
};

class ExclusionList : public ::testing::TestWithParam<ListCase> {};

TEST_P(ExclusionList, NamesModulesAsItsToolDoes) {
  const QuantizationConfig config(json{{"quantization_config", GetParam().quantization}});
  for (const auto& module : GetParam().excluded) EXPECT_TRUE(config.excludes(module)) << module;
  for (const auto& module : GetParam().converted) EXPECT_FALSE(config.excludes(module)) << module;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ExclusionList,
    ::testing::Values(
        ListCase{"fp8_ends_of_names",
                 {{"quant_method", "fp8"}, {"ignored_layers", {"mlp.gate", "lm_head"}}},
                 {"model.layers.3.mlp.gate", "lm_head"},
                 {"model.layers.3.mlp.gate_proj", "model.layers.3.mlp.up_proj"}},
        ListCase{
            "compressed_tensors_patterns",
            {{"quant_method", "compressed-tensors"}, {"ignore", {"re:.*in_proj_[ab]$", "re:model.visual"}}},
            {"model.layers.0.linear_attn.in_proj_a", "model.visual.blocks.0.fc"},
            {"model.layers.0.linear_attn.in_proj_z", "model.layers.0.in_proj_a.x", "x.model.visual"}},
        ListCase{
            "modelopt_stars",
            {{"quant_method", "modelopt"}, {"quant_algo", "NVFP4"}, {"ignore", {"lm_head", "*.layers.1.*"}}},
            {"lm_head", "model.layers.1.mlp.up_proj"},
            {"model.layers.11.mlp.up_proj"}}),
    [](const auto& info) { return info.param.name; });

TEST(Config, HasTheHeadWidthOfItsArchitectureWhereNoneIsGiven) {
  const auto head_dim = [](json j, const char* type) {
    j["model_type"] = type;
    j.erase("head_dim");
    return parse_model_config(j.dump()).head_dim;
  };
  EXPECT_EQ(head_dim(tiny_llama_config(), "llama"), 16);
  EXPECT_EQ(head_dim(tiny_llama_config(), "qwen3"), 128);
  EXPECT_EQ(head_dim(tiny_hybrid_config()["text_config"], "qwen3_5_text"), 256);
}

struct RefusedConfig {
  const char* name;
  void (*breaks)(json&);
  const char* reason;
  const char* says;
};

class Refused : public ::testing::TestWithParam<RefusedConfig> {};

TEST_P(Refused, WithReasonAndField) {
  json j = tiny_llama_config();
  GetParam().breaks(j);
  std::string message;
  EXPECT_EQ(failure_of([&] { parse_model_config(j.dump()); }, &message), GetParam().reason);
  EXPECT_TRUE(contains(message, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, Refused,
    ::testing::Values(
        RefusedConfig{"unknown_type", [](json& j) { j["model_type"] = "gpt9"; }, "UnsupportedArchitecture",
                      "qwen3_moe, qwen3_next"},
        RefusedConfig{"no_type", [](json& j) { j.erase("model_type"); }, "UnsupportedArchitecture",
                      "model_type"},
        RefusedConfig{"longrope",
                      [](json& j) {
                        j["rope_scaling"] = {{"rope_type", "longrope"}};
                      },
                      "UnsupportedArchitecture", "linear, llama3 and yarn"},
        RefusedConfig{"yarn_over_nothing",
                      [](json& j) {
                        j["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 4.0}};
                      },
                      "CheckpointCorrupt", "max_position_embeddings"},
        RefusedConfig{"linear_by_zero",
                      [](json& j) {
                        j["rope_scaling"] = {{"type", "linear"}, {"factor", 0.0}};
                      },
                      "CheckpointCorrupt", "factor is not a positive number"},
        RefusedConfig{"llama_with_a_window",
                      [](json& j) {
                        j["use_sliding_window"] = true;
                        j["sliding_window"] = 16;
                      },
                      "UnsupportedArchitecture", "only for qwen3 and qwen3_moe"},
        RefusedConfig{"gelu", [](json& j) { j["hidden_act"] = "gelu"; }, "UnsupportedArchitecture", "gelu"},
        RefusedConfig{"awq",
                      [](json& j) {
                        j["quantization_config"] = {{"quant_method", "awq"}};
                      },
                      "UnsupportedQuantization", "awq"},
        RefusedConfig{"fp8_blocks_of_64",
                      [](json& j) {
                        j["quantization_config"] = {{"quant_method", "fp8"}, {"weight_block_size", {64, 64}}};
                      },
                      "UnsupportedQuantization", "[64,64]"},
        RefusedConfig{"int4_groups",
                      [](json& j) {
                        j["quantization_config"] = {
                            {"quant_method", "compressed-tensors"},
                            {"config_groups",
                             {{"group_0", {{"weights", {{"num_bits", 4}, {"type", "int"}}}}}}}};
                      },
                      "UnsupportedQuantization", "group_0"},
        RefusedConfig{
            "modelopt_int4",
            [](json& j) {
              j["quantization_config"] = {{"quant_method", "modelopt"}, {"quant_algo", "W4A16_AWQ"}};
            },
            "UnsupportedQuantization", "W4A16_AWQ"},
        RefusedConfig{"modelopt_mixed_with_int4",
                      [](json& j) {
                        j["quantization_config"] = {{"quant_method", "modelopt"},
                                                    {"quant_algo", "MIXED_PRECISION"},
                                                    {"quantized_layers",
                                                     {{"lm_head", {{"quant_algo", "W4A16_NVFP4"}}},
                                                      {"model.layers.0", {{"quant_algo", "W4A16_AWQ"}}}}}};
                      },
                      "UnsupportedQuantization", "quantized_layers.model.layers.0 with quant_algo"},
        RefusedConfig{
            "ignore_not_a_pattern",
            [](json& j) {
              j["quantization_config"] = {{"quant_method", "compressed-tensors"}, {"ignore", {"re:(head"}}};
            },
            "CheckpointCorrupt", "re:(head"},
        RefusedConfig{"missing_field", [](json& j) { j.erase("hidden_size"); }, "CheckpointCorrupt",
                      "hidden_size"},
        RefusedConfig{"negative_field", [](json& j) { j["vocab_size"] = -1; }, "CheckpointCorrupt",
                      "vocab_size"},
        RefusedConfig{"too_many_layers", [](json& j) { j["num_hidden_layers"] = 1 << 30; },
                      "CheckpointCorrupt", "num_hidden_layers is beyond 10000"},
        RefusedConfig{"odd_groups", [](json& j) { j["num_key_value_heads"] = 3; }, "CheckpointCorrupt",
                      "num_key_value_heads"}),
    [](const auto& info) { return info.param.name; });

TEST(Config, RefusesTextThatIsNotJson) {
  EXPECT_EQ(failure_of([] { parse_model_config("{"); }), "CheckpointCorrupt");
}

}  // namespace
}  // namespace llmservice
