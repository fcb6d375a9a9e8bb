#include "model/checkpoint_source.h"

#include <utility>

#include "model/source_fields.h"

namespace llmservice {
namespace {

using nlohmann::json;

RopeScaling to_scaling(Fields fields) {
  const auto type = fields.get<std::string>("type");
  RopeScaling scaling;
  if (type == "linear") {
    scaling = LinearScaling{.factor = fields.get<double>("factor")};
  } else if (type == "llama3") {
    scaling = Llama3Scaling{.factor = fields.get<double>("factor"),
                            .low_freq_factor = fields.get<double>("lowFreqFactor"),
                            .high_freq_factor = fields.get<double>("highFreqFactor"),
                            .original_max_positions = fields.get<double>("originalMaxPositions")};
  } else if (type == "yarn") {
    scaling = YarnScaling{.factor = fields.get<double>("factor"),
                          .original_max_positions = fields.get<double>("originalMaxPositions"),
                          .beta_fast = fields.get<double>("betaFast"),
                          .beta_slow = fields.get<double>("betaSlow"),
                          .truncate = fields.get<bool>("truncate"),
                          .attention_factor = fields.get<double>("attentionFactor")};
  } else if (type == "proportional") {
    scaling =
        ProportionalScaling{.angles = fields.get<int32_t>("angles"), .factor = fields.get<double>("factor")};
  } else if (type != "none") {
    Fields::wrong("shape.scaling.type", "one of its values");
  }
  fields.finish();
  return scaling;
}

GdnConfig to_gdn(Fields fields) {
  const GdnConfig gdn{.k_heads = fields.get<int32_t>("kHeads"),
                      .v_heads = fields.get<int32_t>("vHeads"),
                      .k_dim = fields.get<int32_t>("kDim"),
                      .v_dim = fields.get<int32_t>("vDim"),
                      .conv_kernel = fields.get<int32_t>("convKernel"),
                      .interleaved = fields.get<bool>("interleaved"),
                      .tiled = fields.get<bool>("tiled")};
  fields.finish();
  return gdn;
}

ClampedSwiglu to_clamped(Fields fields) {
  const ClampedSwiglu clamped{.limit = fields.get<float>("limit"), .alpha = fields.get<float>("alpha")};
  fields.finish();
  return clamped;
}

SigmoidRouting to_sigmoid(Fields fields) {
  const SigmoidRouting sigmoid{.groups = fields.get<int32_t>("groups"),
                               .chosen_groups = fields.get<int32_t>("chosenGroups"),
                               .scale = fields.get<float>("scale")};
  fields.finish();
  return sigmoid;
}

MoeConfig to_moe(Fields fields) {
  MoeConfig moe{.experts = fields.get<int32_t>("experts"),
                .top_k = fields.get<int32_t>("topK"),
                .intermediate = fields.get<int32_t>("ffn"),
                .shared_intermediate = fields.get<int32_t>("sharedFfn"),
                .normalize_top_k = fields.get<bool>("normalized"),
                .biases = fields.get<bool>("biases")};
  moe.shared_gate = fields.get<bool>("sharedGate");
  moe.own_norms = fields.get<bool>("ownNorms");
  if (!fields.is_null("sigmoid")) moe.sigmoid = to_sigmoid(fields.object("sigmoid"));
  if (!fields.is_null("clampedSwiglu")) moe.clamped = to_clamped(fields.object("clampedSwiglu"));
  fields.finish();
  return moe;
}

GlobalAttention to_global_attention(Fields fields) {
  const GlobalAttention attention{fields.get<int32_t>("kvHeads"), fields.get<int32_t>("headDim"),
                                  fields.get<bool>("keysAreValues")};
  fields.finish();
  return attention;
}

SharedKv to_shared_kv(Fields fields) {
  const SharedKv shared{.layers = fields.get<int32_t>("layers"), .intermediate = fields.get<int32_t>("ffn")};
  fields.finish();
  return shared;
}

LayerEmbeddings to_layer_embeddings(Fields fields) {
  const LayerEmbeddings embeddings{.width = fields.get<int32_t>("width"),
                                   .scale = fields.get<float>("scale")};
  fields.finish();
  return embeddings;
}

BertConfig to_bert(Fields fields) {
  const BertConfig bert{.positions = fields.get<int32_t>("positions"),
                        .first_position = fields.get<int32_t>("firstPosition"),
                        .types = fields.get<int32_t>("types")};
  fields.finish();
  return bert;
}

RopeConfig to_window_rope(Fields fields) {
  RopeConfig rope{.theta = fields.get<double>("theta"),
                  .rotary = fields.get<int32_t>("rotaryDim"),
                  .scaling = to_scaling(fields.object("scaling"))};
  fields.finish();
  return rope;
}

Activation to_activation(Fields& fields) {
  return fields.choice<Activation>(
      "activation",
      {{"silu", Activation::kSilu}, {"gelu", Activation::kGelu}, {"erfGelu", Activation::kErfGelu}});
}

ModelConfig to_config(Fields fields) {
  ModelConfig config{.architecture = fields.get<std::string>("architecture"),
                     .hidden = fields.get<int32_t>("hidden"),
                     .heads = fields.get<int32_t>("heads"),
                     .kv_heads = fields.get<int32_t>("kvHeads"),
                     .head_dim = fields.get<int32_t>("headDim"),
                     .intermediate = fields.get<int32_t>("ffn"),
                     .vocab = fields.get<int32_t>("vocab"),
                     .norm_eps = fields.get<float>("normEpsilon"),
                     .tied_head = fields.get<bool>("tiedEmbeddings"),
                     .qkv_bias = fields.get<bool>("qkvBias"),
                     .output_bias = fields.get<bool>("outputBias"),
                     .mlp_bias = fields.get<bool>("mlpBias"),
                     .qk_norm = fields.get<bool>("qkNorm"),
                     .output_gate = fields.get<bool>("outputGate"),
                     .unit_offset_norm = fields.get<bool>("unitOffsetNorm"),
                     .rope = {.theta = fields.get<double>("theta"),
                              .rotary = fields.get<int32_t>("rotaryDim"),
                              .scaling = to_scaling(fields.object("scaling"))},
                     .layers = fields.choices<LayerKind>(
                         "layerKinds", {{"full", LayerKind::kAttention}, {"gdn", LayerKind::kGdn}}),
                     .feed_forward = fields.choices<FeedForwardKind>(
                         "feedForward", {{"dense", FeedForwardKind::kDense}, {"moe", FeedForwardKind::kMoe}}),
                     .windows = fields.get<std::vector<int32_t>>("windows"),
                     .gdn = {},
                     .moe = {},
                     .embedding_scale = fields.get<float>("embeddingScale"),
                     .post_norms = fields.get<bool>("postNorms"),
                     .activation = to_activation(fields),
                     .query_scalar = fields.get<double>("queryScalar"),
                     .score_cap = fields.get<float>("scoreCap"),
                     .logit_cap = fields.get<float>("logitCap"),
                     .window_rope = {},
                     .attention_sinks = fields.get<bool>("attentionSinks"),
                     .bidirectional = fields.get<bool>("bidirectional"),
                     .layer_norm = fields.get<bool>("layerNorm"),
                     .embedding_norm = fields.get<bool>("embeddingNorm"),
                     .value_norm = fields.get<bool>("valueNorm"),
                     .layer_scalars = fields.get<bool>("layerScalars")};
  if (!fields.is_null("gdn")) config.gdn = to_gdn(fields.object("gdn"));
  if (!fields.is_null("moe")) config.moe = to_moe(fields.object("moe"));
  if (!fields.is_null("windowRope")) config.window_rope = to_window_rope(fields.object("windowRope"));
  if (!fields.is_null("globalAttention")) {
    config.global_attention = to_global_attention(fields.object("globalAttention"));
  }
  if (!fields.is_null("sharedKv")) config.shared_kv = to_shared_kv(fields.object("sharedKv"));
  if (!fields.is_null("layerEmbeddings")) {
    config.layer_embeddings = to_layer_embeddings(fields.object("layerEmbeddings"));
  }
  if (!fields.is_null("bert")) config.bert = to_bert(fields.object("bert"));
  fields.finish();
  return config;
}

PackedPart to_part(Fields fields) {
  PackedPart part{.name = fields.get<std::string>("name"),
                  .file = fields.get<std::string>("file"),
                  .dtype = fields.get<std::string>("dtype"),
                  .shape = fields.get<std::vector<int64_t>>("shape"),
                  .offset = fields.get<uint64_t>("offset"),
                  .bytes = fields.get<uint64_t>("bytes")};
  fields.finish();
  return part;
}

PackedSource to_packed(Fields fields) {
  PackedSource packed{
      .layout = fields.choice<PackedLayout>("layout", {{"columns", PackedLayout::kColumns},
                                                       {"interleaved", PackedLayout::kInterleaved},
                                                       {"rows", PackedLayout::kRows},
                                                       {"bytes", PackedLayout::kBytes}}),
      .bits = fields.get<int64_t>("bits"),
      .group_columns = fields.get<int64_t>("groupColumns"),
      .zero_offset = fields.get<int64_t>("zeroOffset"),
      .reordered = fields.get<bool>("reordered"),
      .codes = to_part(fields.object("codes")),
      .scales = to_part(fields.object("scales")),
      .zeros = {},
      .groups = {}};
  if (!fields.is_null("zeros")) packed.zeros = to_part(fields.object("zeros"));
  if (!fields.is_null("groups")) packed.groups = to_part(fields.object("groups"));
  fields.finish();
  return packed;
}

ScalesPlace to_scales(Fields fields) {
  ScalesPlace place{.file = fields.get<std::string>("file"), .offset = fields.get<uint64_t>("offset")};
  fields.finish();
  return place;
}

TensorPlace to_place(Fields fields) {
  TensorPlace place{.name = fields.get<std::string>("name"),
                    .file = fields.get<std::string>("file"),
                    .stored_name = fields.get<std::string>("storedName"),
                    .dtype = fields.get<std::string>("dtype"),
                    .shape = fields.get<std::vector<int64_t>>("shape"),
                    .offset = fields.get<uint64_t>("offset"),
                    .bytes = fields.get<uint64_t>("bytes"),
                    .quantizable = fields.get<bool>("quantizable")};
  if (fields.has("packed")) place.packed = to_packed(fields.object("packed"));
  if (!fields.is_null("restoration")) {
    place.restoration =
        fields.choice<Restoration>("restoration", {{"halvedRows", Restoration::kHalvedRows},
                                                   {"logOfDecay", Restoration::kLogOfDecay},
                                                   {"experts", Restoration::kExperts},
                                                   {"pairedExperts", Restoration::kPairedExperts},
                                                   {"blocks", Restoration::kBlocks},
                                                   {"powersOfTwo", Restoration::kPowersOfTwo},
                                                   {"fnuz", Restoration::kFnuz}});
  }
  if (fields.has("scales")) place.scales = to_scales(fields.object("scales"));
  if (fields.has("blockPart")) {
    place.block_part = fields.choice<BlockPart>(
        "blockPart",
        {{"codes", BlockPart::kCodes}, {"scales", BlockPart::kScales}, {"ones", BlockPart::kOnes}});
  }
  fields.finish();
  return place;
}

Eagle3Config to_eagle3(Fields fields) {
  Eagle3Config eagle3{.vocab = fields.get<int32_t>("vocab"),
                      .layers = fields.get<std::vector<int32_t>>("layers"),
                      .norm_before_residual = fields.get<bool>("normBeforeResidual"),
                      .norm_before_fc = fields.get<bool>("normBeforeFc"),
                      .norm_output = fields.get<bool>("normOutput")};
  if (eagle3.layers.size() != 3) Fields::wrong("eagle3.layers", "a list of three");
  fields.finish();
  return eagle3;
}

}  // namespace

CheckpointSource parse_checkpoint_source(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  Fields fields(root, "");
  CheckpointSource source{
      .dir = fields.get<std::string>("dir"),
      .config = to_config(fields.object("shape")),
      .quantization = fields.choice<LoadQuantization>("quantization", {{"none", LoadQuantization::kNone},
                                                                       {"fp8", LoadQuantization::kFp8},
                                                                       {"int8", LoadQuantization::kInt8}}),
      .tensors = {}};
  const json& tensors = fields.at("tensors");
  source.tensors.reserve(tensors.size());
  for (const json& tensor : tensors) source.tensors.push_back(to_place({tensor, "tensors[]."}));
  if (fields.has("eagle3")) source.eagle3 = to_eagle3(fields.object("eagle3"));
  fields.finish();
  return source;
}

}  // namespace llmservice
