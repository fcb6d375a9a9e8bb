#include "model/eagle3.h"

#include <algorithm>

#include "model/draft_files.h"
#include "model/regions.h"
#include "model/rope.h"

namespace llmservice {
namespace {

const std::string kLayer = "eagle3.layers.0.";

// Of a token that the draft vocabulary lacks: less than any logit, and finite, as logits are to be.
constexpr float kUndrafted = -1e30f;

[[noreturn]] void refuse_drafter(const std::string& what) {
  throw EngineError(FailureReason::kInvalidEngineConfig, "engine.speculative.uri: " + what);
}

void same(const char* field, int32_t found, int32_t expected) {
  if (found == expected) return;
  refuse_drafter("config.json of the draft model has " + std::string(field) + " " + std::to_string(found) +
                 " where the model has " + std::to_string(expected) + "; take a draft model of this model.");
}

// Queries, keys and values read [embedding | hidden].
std::vector<Band> qkv_bands(const ModelConfig& config, Shard shard) {
  std::vector<Band> bands = site_bands(config, shard, Site::kQkv, kLayer);
  for (Band& band : bands) {
    band.stored_cols *= 2;
    band.cols = whole(band.stored_cols);
  }
  return bands;
}

Eagle3Weights read_weights(WeightReader& reader, const ModelConfig& c, const Eagle3Config& eagle3,
                           Shard shard) {
  const int64_t hidden = c.hidden;
  const auto norm = [&](const std::string& name, int64_t width) {
    return reader.vector(name, {width}, whole(width));
  };
  const auto table = [&](const char* module, int64_t rows) {
    return reader.matrix({{module, rows, hidden, shard_vocab(rows, shard), whole(hidden)}});
  };
  Eagle3Weights weights;
  if (reader.checkpoint().has("eagle3.embed_tokens.weight")) {
    weights.embedding = table("eagle3.embed_tokens", c.vocab);
  }
  weights.fusion =
      reader.linear({{"eagle3.fusion", hidden, 3 * hidden, whole(hidden), whole(3 * hidden)}}, false);
  if (eagle3.norm_before_fc) weights.input_norm = norm("eagle3.input_norm.weight", 3 * hidden);
  weights.embedding_norm = norm(kLayer + "input_layernorm.weight", hidden);
  weights.hidden_norm = norm(kLayer + "hidden_norm.weight", hidden);
  weights.qkv = reader.linear(qkv_bands(c, shard), c.qkv_bias);
  if (c.qk_norm) {
    weights.q_norm = norm(kLayer + "self_attn.q_norm.weight", c.head_dim);
    weights.k_norm = norm(kLayer + "self_attn.k_norm.weight", c.head_dim);
  }
  weights.o = reader.linear(site_bands(c, shard, Site::kOutput, kLayer), c.output_bias && shard.rank == 0);
  weights.post_norm = norm(kLayer + "post_attention_layernorm.weight", hidden);
  weights.gate_up = reader.linear(site_bands(c, shard, Site::kGateUp, kLayer), c.mlp_bias);
  weights.down = reader.linear(site_bands(c, shard, Site::kDown, kLayer), c.mlp_bias && shard.rank == 0);
  weights.norm = norm("eagle3.norm.weight", hidden);
  weights.head = table("eagle3.lm_head", eagle3.vocab);
  return weights;
}

// The draft token of each of the model's, or kNoRow. d2t[i] is what to add to draft token i for the model's.
std::vector<int32_t> read_own_tokens(const Checkpoint& checkpoint, const Eagle3Config& eagle3,
                                     int32_t vocab) {
  const std::string name = "eagle3.d2t";
  std::vector<int32_t> own(vocab, kNoRow);
  std::vector<int64_t> offsets(eagle3.vocab, 0);
  if (checkpoint.has(name)) offsets = checkpoint.integers(name, eagle3.vocab);
  for (int64_t i = 0; i < eagle3.vocab; ++i) {
    // Clamped far outside of any vocabulary, so that the sum does not overflow.
    constexpr int64_t kFar = int64_t{1} << 40;
    const int64_t target = i + std::clamp(offsets[i], -kFar, kFar);
    const bool is_token = target >= 0 && target < vocab;
    if (!is_token || own[target] != kNoRow) {
      throw EngineError(FailureReason::kCheckpointCorrupt,
                        "Tensor d2t of the draft model maps draft token " + std::to_string(i) + " to token " +
                            std::to_string(target) +
                            (is_token ? ", as it does another."
                                      : "; the model's vocabulary has " + std::to_string(vocab) + "."));
    }
    own[target] = static_cast<int32_t>(i);
  }
  return own;
}

}  // namespace

Eagle3Source open_eagle3(const CheckpointSource& source, const ModelConfig& trunk) {
  if (!source.eagle3) refuse_drafter("the checkpoint is no EAGLE-3 draft model.");
  same("hidden_size", source.config.hidden, trunk.hidden);
  same("vocab_size", source.config.vocab, trunk.vocab);
  for (const int32_t layer : source.eagle3->layers) {
    if (layer < 0 || layer > static_cast<int32_t>(trunk.layers.size())) {
      refuse_drafter("the draft model reads the input of layer " + std::to_string(layer) +
                     " of a model that has " + std::to_string(trunk.layers.size()) + ".");
    }
  }
  return {.dir = source.dir,
          .checkpoint = reading_draft_files(source.dir, [&] { return Checkpoint(source); }),
          .config = source.config,
          .eagle3 = *source.eagle3,
          .quantization = source.quantization};
}

size_t Eagle3Weights::bytes() const {
  return (embedding ? embedding->bytes : 0) + fusion.bytes() + input_norm.bytes() + embedding_norm.bytes() +
         hidden_norm.bytes() + post_norm.bytes() + norm.bytes() + qkv.bytes() + q_norm.bytes() +
         k_norm.bytes() + o.bytes() + gate_up.bytes() + down.bytes() + head->bytes;
}

Eagle3::Eagle3(const Eagle3Source& source, Backend& backend, Collective& ranks, const Options& options,
               const BytesRead& on_bytes)
    : config_(shard_config(source.config, options.shard)),
      eagle3_(source.eagle3),
      backend_(backend),
      ranks_(ranks),
      sizes_(options.caches),
      shard_(options.shard),
      vocab_(shard_vocab(source.eagle3.vocab, options.shard)),
      frequencies_(backend, rope_frequencies(source.config.rope)),
      caches_(backend, config_, options.caches) {
  WeightReader reader(source.checkpoint, backend, options.keep, on_bytes, source.quantization);
  weights_ =
      reading_draft_files(source.dir, [&] { return read_weights(reader, source.config, eagle3_, shard_); });
  const std::vector<int32_t> own = reading_draft_files(
      source.dir, [&] { return read_own_tokens(source.checkpoint, eagle3_, config_.vocab); });
  allocate_workspace(options);
  if (shard_.rank == 0) backend.upload(std::as_bytes(std::span(own)), own_tokens_);
}

void Eagle3::allocate_workspace(const Options& options) {
  const int64_t rows = options.max_tokens;
  const int64_t hidden = config_.hidden;
  Regions regions;
  regions.reserve(inputs_, rows, 3 * hidden);
  regions.reserve(fused_, rows, hidden);
  regions.reserve(joined_, rows, 2 * hidden);
  regions.reserve(wide_, rows, std::max(weights_.qkv.width(), weights_.gate_up.width()));
  regions.reserve(mixed_, rows, std::max(config_.heads * config_.head_dim, config_.intermediate));
  regions.reserve(cos_, rows, config_.rope.rotary / 2);
  regions.reserve(sin_, rows, config_.rope.rotary / 2);
  regions.reserve(kept_, options.caches.slots, hidden);
  regions.reserve(slice_, options.logit_rows, vocab_.count);
  const bool gathers = shard_.size > 1 && shard_.rank == 0;
  if (gathers) regions.reserve(logits_, options.logit_rows, eagle3_.vocab);
  float* own_tokens = nullptr;  // int32, as wide as a float
  if (shard_.rank == 0) regions.reserve(own_tokens, 1, config_.vocab);
  memory_ = regions.allocate(backend_);
  if (!gathers) logits_ = slice_;
  own_tokens_ = reinterpret_cast<int32_t*>(own_tokens);
  rows_.reserve(rows);
}

void Eagle3::take_input(size_t index, const float* residual, int64_t rows) {
  const int64_t hidden = config_.hidden;
  for (size_t i = 0; i < eagle3_.layers.size(); ++i) {
    if (eagle3_.layers[i] != static_cast<int32_t>(index)) continue;
    rows_.clear();
    for (int32_t row = 0; row < rows; ++row) rows_.push_back({.from = row, .to = row});
    backend_.copy_rows(rows_, residual, hidden, hidden, inputs_ + static_cast<int64_t>(i) * hidden,
                       3 * hidden);
  }
}

void Eagle3::fuse(int64_t rows) {
  if (eagle3_.norm_before_fc) {
    backend_.rms_norm(inputs_, weights_.input_norm.data(), config_.norm_eps, rows, 3 * config_.hidden,
                      inputs_);
  }
  weights_.fusion.apply(backend_, inputs_, rows, fused_);
}

void Eagle3::join_columns(const float* from, int64_t first, int64_t rows) {
  const int64_t hidden = config_.hidden;
  rows_.clear();
  for (int32_t row = 0; row < rows; ++row) rows_.push_back({.from = row, .to = row});
  backend_.copy_rows(rows_, from, hidden, hidden, joined_ + first, 2 * hidden);
}

void Eagle3::run(const MtpStep& step, const DraftRoom& room) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  const int64_t hidden = config_.hidden;
  const float eps = config_.norm_eps;
  backend_.rms_norm(room.residual, weights_.embedding_norm.data(), eps, rows, hidden, room.normed);
  join_columns(room.normed, 0, rows);
  backend_.take_rows(step.continues ? kept_ : fused_, step.hidden, hidden, room.residual);
  float* const normed = eagle3_.norm_before_residual ? room.residual : room.normed;
  backend_.rms_norm(room.residual, weights_.hidden_norm.data(), eps, rows, hidden, normed);
  join_columns(normed, hidden, rows);
  const bool wanted = !step.outputs.empty();
  attend(step, wanted, room.output);
  // Of rows that nothing is drafted from, keys and values alone are needed.
  if (wanted) {
    ranks_.all_reduce_add_rms_norm(backend_, room.residual, room.output, weights_.post_norm.data(), eps, rows,
                                   hidden, room.normed, {});
    weights_.gate_up.apply(backend_, room.normed, rows, wide_);
    backend_.silu_mul(wide_, rows, weights_.gate_up.width() / 2, mixed_);
    weights_.down.apply(backend_, mixed_, rows, room.output);
    ranks_.all_reduce_add_rms_norm(backend_, room.residual, room.output, weights_.norm.data(), eps, rows,
                                   hidden, room.normed, {});
    backend_.take_rows(room.normed, step.outputs, hidden, room.final);
    backend_.take_rows(eagle3_.norm_output ? room.normed : room.residual, step.outputs, hidden, kept_);
  }
  backend_.submit();
}

void Eagle3::attend(const MtpStep& step, bool wanted, float* output) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  const int64_t stride = weights_.qkv.width();
  weights_.qkv.apply(backend_, joined_, rows, wide_);
  backend_.rope_angles(step.positions, frequencies_.data(), config_.rope.rotary / 2,
                       rope_factor(config_.rope.scaling), cos_, sin_);
  float* const k = wide_ + int64_t{config_.heads} * config_.head_dim;
  float* const v = k + int64_t{config_.kv_heads} * config_.head_dim;
  const AttentionShape shape = attention();
  const KvCache cache = caches_.kv(0);
  const NormRope norm{.q_norm = weights_.q_norm.data(),
                      .k_norm = weights_.k_norm.data(),
                      .eps = config_.norm_eps,
                      .rotary = config_.rope.rotary,
                      .cos = cos_,
                      .sin = sin_};
  backend_.norm_rope_write(shape, step.segments, norm, wide_, k, v, stride, cache);
  if (!wanted) return;
  backend_.attention(shape, step.segments, wide_, stride, cache, mixed_);
  weights_.o.apply(backend_, mixed_, rows, output);
}

void Eagle3::make_logits(const float* hidden, int32_t count, float* logits) {
  backend_.matmul(*weights_.head, hidden, count, slice_);
  ranks_.gather_logits(slice_, count, eagle3_.vocab, logits_);
  if (shard_.rank != 0) return;
  backend_.take_columns(logits_, count, eagle3_.vocab, own_tokens_, config_.vocab, kUndrafted, logits);
}

AttentionShape Eagle3::attention() const {
  AttentionShape shape = attention_shape(config_, sizes_);
  shape.window = config_.windows.front();
  shape.first = 1;
  return shape;
}

}  // namespace llmservice
