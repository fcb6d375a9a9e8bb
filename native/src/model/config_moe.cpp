// Mixture of experts in config.json.
#include <algorithm>

#include "model/config_parts.h"

namespace llmservice {
namespace {

using nlohmann::json;

// All layers of qwen3_5_moe are sparse and all its weights normalized: it has no fields for them.
bool is_always_sparse(const std::string& architecture) { return architecture.starts_with("qwen3_5_moe"); }

bool has_experts(const std::string& architecture) {
  return is_always_sparse(architecture) || architecture == "qwen3_moe" || architecture == "qwen3_next";
}

}  // namespace

std::optional<MoeConfig> parse_moe(const ConfigFields& text, const std::string& architecture) {
  if (!has_experts(architecture)) return std::nullopt;
  const bool shared = architecture != "qwen3_moe";
  const MoeConfig moe{
      .experts = text.count(text.has("num_local_experts") ? "num_local_experts" : "num_experts"),
      .top_k = text.positive("num_experts_per_tok"),
      .intermediate = text.positive("moe_intermediate_size"),
      .shared_intermediate = shared ? text.positive("shared_expert_intermediate_size") : 0,
      .normalize_top_k =
          is_always_sparse(architecture) || text.flag_or("norm_topk_prob", architecture == "qwen3_next")};
  if (moe.top_k > moe.experts) {
    ConfigFields::fail("num_experts_per_tok", "is more than the " + std::to_string(moe.experts) + " experts");
  }
  return moe;
}

std::vector<FeedForwardKind> parse_feed_forward(const ConfigFields& text, const std::string& architecture,
                                                int32_t layers) {
  using enum FeedForwardKind;
  if (!has_experts(architecture)) return std::vector(layers, kDense);
  std::vector<FeedForwardKind> kinds(layers, kMoe);
  if (is_always_sparse(architecture)) return kinds;
  const int32_t step = text.positive_or("decoder_sparse_step", 1);
  const json dense = text.has("mlp_only_layers") ? text.at("mlp_only_layers") : json::array();
  if (!dense.is_array()) ConfigFields::fail("mlp_only_layers", "is not a list");
  for (int32_t i = 0; i < layers; ++i) {
    const bool named = std::find(dense.begin(), dense.end(), json(i)) != dense.end();
    if (named || (i + 1) % step != 0) kinds[i] = kDense;
  }
  return kinds;
}

}  // namespace llmservice
