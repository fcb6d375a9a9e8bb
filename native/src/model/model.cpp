// Construction of a model: weights in, caches and workspace laid out.
#include "model/model.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <set>
#include <tuple>

#include "model/regions.h"
#include "model/self_check/self_check.h"
#include "model/step_outcome.h"
#include "model/widths.h"

namespace llmservice {
namespace {

constexpr const char* kHead = "lm_head.weight";

// Releases differ in the wrapper around the text model.
std::string find_prefix(const Checkpoint& checkpoint) {
  for (const char* prefix : {"model.language_model.", "model.", "language_model.model."}) {
    if (checkpoint.has(std::string(prefix) + "embed_tokens.weight")) return prefix;
  }
  throw EngineError(
      FailureReason::kCheckpointIncomplete,
      "The checkpoint has no tensor model.embed_tokens.weight (nor one under model.language_model.).");
}

std::string find_head(const Checkpoint& checkpoint) {
  const std::string wrapped = std::string("language_model.") + kHead;
  return checkpoint.has(wrapped) ? wrapped : kHead;
}

std::string module_of(const std::string& tensor) { return tensor.substr(0, tensor.rfind('.')); }

// Whether the layer of tensor `name`, behind `prefix`, is one of `layers`.
bool holds(Range layers, const std::string& name, const std::string& prefix) {
  const int64_t layer = std::strtoll(name.c_str() + prefix.size(), nullptr, 10);
  return layer >= layers.begin && layer < layers.begin + layers.count;
}

// The same config, of which the backend has all operations. checkAccelerator() in checkpoint/src/weights
// refuses by the same table before anything is loaded.
const ModelConfig& runnable(const ModelConfig& c, const Backend& backend) {
  if (backend.runs_all_models()) return c;
  std::string missing;
  for (const auto& [operation, taken] :
       {std::pair{"heads that are no multiple of 16 features",
                  c.head_dim % 16 != 0 || (c.global_attention && c.global_attention->head_dim % 16 != 0)},
        std::pair{"heads of more than 512 features", widest_head(c) > 512},
        std::pair{"more than 512 experts, or 16 of a token",
                  c.moe && (c.moe->experts > 512 || c.moe->top_k > 16)}}) {
    if (taken) missing += (missing.empty() ? "" : ", ") + std::string(operation);
  }
  if (missing.empty()) return c;
  throw EngineError(FailureReason::kUnsupportedArchitecture,
                    c.architecture + " runs on CPUs alone: there are no GPU kernels for " + missing + ".");
}

}  // namespace

Model::Model(const Checkpoint& checkpoint, const ModelConfig& config, Backend& backend,
             const ModelOptions& options, const ModelProgress& on_progress)
    : config_(shard_config(stage_config(runnable(config, backend), options.stage), options.shard)),
      backend_(backend),
      gated_(dynamic_cast<GatedOps*>(&backend)),
      ranks_(options.ranks != nullptr ? *options.ranks : one_rank()),
      shard_(options.shard),
      stage_(options.stage),
      stages_(options.stages),
      whole_(config),
      first_layer_(stage_layers(std::ssize(config.layers), options.stage).begin),
      vocab_(shard_vocab(config.vocab, options.shard)),
      samples_(backend.samples() && options.shard.rank == 0 && options.stage.first()),
      max_samples_(samples_ ? options.max_tokens + options.caches.slots : 0),
      max_tokens_(options.max_tokens),
      frequencies_(backend, rope_frequencies(config.rope)),
      caches_(backend, config_, options.caches),
      cache_sizes_(options.caches),
      max_drafts_(options.caches.drafts),
      adapters_(backend, config, options.shard, options.keep, options.max_adapter_rank) {
  for (size_t i = 0; i < config_.layers.size(); ++i) {
    attention_.push_back(attention_shape(config_.of_layer(i), options.caches));
    attention_.back().window = config_.windows[i];
    attention_.back().first = i < config_.trunk_layers() ? 0 : 1;
  }
  if (config.value_norm) ones_ = {backend, std::vector<float>(widest_head(config), 1)};
  if (config.window_rope) window_frequencies_ = {backend, rope_frequencies(*config.window_rope)};
  const std::string prefix = find_prefix(checkpoint);
  const std::string head = find_head(checkpoint);
  const Checkpoint& mtp_checkpoint = options.head != nullptr ? options.head->checkpoint : checkpoint;
  const uint64_t trunk_bytes = checkpoint.bytes_of([&](const std::string& name) {
    if (name.starts_with(prefix + "layers."))
      return holds(stage_layers(std::ssize(config.layers), stage_), name, prefix + "layers.");
    if (name.starts_with(prefix + "norm.")) return stage_.last();
    return stage_.first() && (name.starts_with(prefix + "embed_") ||
                              name.starts_with(prefix + "per_layer_") || (!config.tied_head && name == head));
  });
  const uint64_t mtp_bytes = mtp_checkpoint.bytes_of(
      [&](const std::string& name) { return config.mtp && name.starts_with("mtp."); });
  // Integers and flags of its vocabulary are no weights.
  const auto is_weight = [](const std::string& name) {
    return name.ends_with(".weight") || name.ends_with(".bias");
  };
  const uint64_t eagle3_bytes =
      options.eagle3 != nullptr ? options.eagle3->checkpoint.bytes_of(is_weight) : 0;
  const uint64_t total = (trunk_bytes + mtp_bytes + eagle3_bytes) / options.shard.size;
  uint64_t done = 0;
  const auto on_bytes = [&](uint64_t bytes) {
    done += bytes;
    on_progress(std::min(done, total), total);
  };
  WeightReader reader(checkpoint, backend, options.keep, on_bytes, options.quantization);
  const auto table = [&](const std::string& module) {
    return reader.matrix({{module, config.vocab, config.hidden, vocab_, whole(config.hidden)}});
  };
  if (options.self_check) {
    taken_ = std::make_unique<Samples>(options.keep, options.quantization, !backend.runs_all_models());
  }
  reader.sample_to(taken_.get());
  if (stage_.first()) embedding_ = table(prefix + "embed_tokens");
  if (config.layer_embeddings) {
    layer_inputs_ = read_layer_inputs(reader, config, vocab_, prefix);
    for (int32_t i = 0; i < options.max_tokens; ++i) every_row_.push_back({i, i});
  }
  std::set<std::tuple<LayerKind, FeedForwardKind, int32_t, bool>> kinds;
  for (size_t i = first_layer_; i < first_layer_ + config_.trunk_layers(); ++i) {
    const ModelConfig own = config.of_layer(i);
    const bool first_of_kind =
        kinds.emplace(config.layers[i], config.feed_forward[i], own.head_dim, own.shares_kv).second;
    reader.sample_to(first_of_kind ? taken_.get() : nullptr);
    layers_.push_back(read_layer(reader, own, options.shard, config.layers[i], config.feed_forward[i],
                                 prefix + "layers." + std::to_string(i) + ".", i == 0));
  }
  if (config.embedding_norm) {
    embedding_norm_ = reader.vector(prefix + "embed_norm.weight", {config.hidden}, whole(config.hidden));
  }
  if (config.bert) {
    bert_ = read_bert_inputs(reader, backend, config_, options.max_tokens, prefix);
  } else if (stage_.last()) {
    final_norm_ = reader.vector(prefix + "norm.weight", {config.hidden}, whole(config.hidden),
                                config.unit_offset_norm ? 1 : 0);
  }
  reader.sample_to(taken_.get());
  if (!config.tied_head && stage_.first()) head_ = table(module_of(head));
  if (config.mtp) {
    const ModelConfig& stored_as = options.head != nullptr ? options.head->config : config;
    WeightReader mtp_reader(mtp_checkpoint, backend, options.keep, on_bytes,
                            options.head != nullptr ? options.head->quantization : options.quantization);
    layers_.push_back(read_layer(mtp_reader, stored_as, options.shard, config.layers.back(),
                                 config.feed_forward.back(), "mtp.layers.0."));
    mtp_ = read_mtp(mtp_reader, stored_as, options.shard);
    // Drafts are read from it four times and more for each token that the trunk's head gives; what they say
    // is checked.
    draft_head_ = backend.narrowed(head_ ? *head_ : *embedding_);
  }
  if (options.eagle3 != nullptr) {
    eagle3_ = std::make_unique<Eagle3>(*options.eagle3, backend, ranks_,
                                       Eagle3::Options{.max_tokens = options.max_tokens,
                                                       .keep = options.keep,
                                                       .caches = options.caches,
                                                       .shard = options.shard,
                                                       .logit_rows = kLogitRows},
                                       on_bytes);
  }
  allocate_workspace(options);
  own_ids_.reserve(options.max_tokens);
  mtp_rows_.reserve(mtp_ ? options.max_tokens : 0);
  no_faults_.resize(options.max_tokens, 0);
  limits_ = step_limits(options);
  if (done < total) on_progress(total, total);
}

double Model::check(const CacheSizes& sizes) {
  if (taken_ == nullptr) return 0;
  const auto start = std::chrono::steady_clock::now();
  const Experts* experts = nullptr;
  for (size_t i = 0; i < config_.trunk_layers() && experts == nullptr; ++i) {
    const auto* const moe = std::get_if<MoeWeights>(&layers_[i].feed_forward);
    if (moe != nullptr) experts = &moe->experts;
  }
  SelfCheck{.backend = backend_,
            .ranks = ranks_,
            .shard = shard_,
            .stage = stage_,
            .config = config_,
            .sizes = sizes,
            .vocab = vocab_,
            .embedding = embedding_.get(),
            .tied_head = head_ == nullptr,
            .experts = experts}
      .run(*taken_);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  const double milliseconds = taken_->milliseconds() + taken.count();
  taken_ = nullptr;
  return milliseconds;
}

void Model::allocate_kv(int32_t blocks) {
  caches_.allocate_kv(backend_, config_, blocks);
  if (eagle3_) eagle3_->allocate_kv(blocks);
  kv_blocks_ = blocks;
}

StepLimits Model::step_limits(const ModelOptions& options) const {
  const int64_t vocab = shard_.rank == 0 && stage_.first() ? config_.vocab : 0;
  StepLimits limits{.rows = options.max_tokens,
                    .sequences = options.caches.slots,
                    .longest = options.max_length,
                    .block_size = options.caches.block_size,
                    .result = std::max<int64_t>(outcome_floats(options.max_tokens, max_samples_),
                                                kLogitRows * std::max<int64_t>(vocab, config_.hidden)),
                    .vocab = samples_ ? config_.vocab : 0,
                    .max_adapter_rank = options.max_adapter_rank};
  const auto has = [&](LayerKind kind) {
    return std::ranges::find(config_.layers, kind) != config_.layers.end();
  };
  if (has(LayerKind::kAttention)) {
    limits.attention.push_back(attention_shape(config_, cache_sizes_));
    limits.attention.back().head_dim = static_cast<int32_t>(widest_head(config_));
  }
  if (eagle3_) limits.attention.push_back(eagle3_->attention());
  if (has(LayerKind::kGdn)) limits.gdn = gdn_shape(*config_.gdn);
  return limits;
}

void Model::allocate_workspace(const ModelOptions& options) {
  const int64_t rows = options.max_tokens;
  Regions regions;
  regions.reserve(work_.residual, rows, config_.hidden);
  regions.reserve(work_.normed, rows, config_.hidden);
  regions.reserve(work_.wide, rows, std::max(widest_projection(config_), mtp_ ? mtp_->columns.count : 0));
  regions.reserve(work_.gates, rows, config_.gdn ? 2 * config_.gdn->v_heads : 0);
  regions.reserve(work_.mixed, rows, widest_mixed(config_));
  regions.reserve(work_.output, rows, config_.hidden);
  regions.reserve(work_.cos, rows, config_.rope.rotary / 2);
  regions.reserve(work_.sin, rows, config_.rope.rotary / 2);
  const int64_t window_angles = config_.window_rope ? config_.window_rope->rotary / 2 : 0;
  regions.reserve(work_.window_cos, rows, window_angles);
  regions.reserve(work_.window_sin, rows, window_angles);
  regions.reserve(work_.layer_inputs, rows, parts_width(config_));
  float* expert_ids = nullptr;  // int32, as wide as a float
  regions.reserve(work_.expert_rows, config_.moe ? rows : 0, config_.hidden);
  regions.reserve(work_.expert_weights, rows, config_.moe ? config_.moe->top_k : 0);
  regions.reserve(expert_ids, rows, config_.moe ? config_.moe->top_k : 0);
  regions.reserve(work_.hidden, mtp_ ? rows : 0, config_.hidden);
  regions.reserve(work_.final, rows, config_.hidden);
  float* faults = nullptr;
  regions.reserve(faults, shard_.rank == 0 ? outcome_floats(rows, max_samples_) : 0, 1);
  regions.reserve(work_.slice, stage_.first() ? kLogitRows : 0, vocab_.count);
  const bool gathers = shard_.size > 1 && shard_.rank == 0 && stage_.first();
  if (gathers) regions.reserve(work_.logits, kLogitRows, config_.vocab);
  work_.memory = regions.allocate(backend_);
  if (!gathers) work_.logits = work_.slice;
  work_.expert_ids = reinterpret_cast<int32_t*>(expert_ids);
  work_.faults = reinterpret_cast<int32_t*>(faults);
}

size_t Model::weight_bytes() const {
  size_t total = (embedding_ ? embedding_->bytes : 0) + (head_ ? head_->bytes : 0) + embedding_norm_.bytes() +
                 final_norm_.bytes();
  for (const LayerWeights& layer : layers_) total += layer.bytes();
  if (layer_inputs_) total += layer_inputs_->bytes();
  if (bert_) total += bert_->bytes();
  if (mtp_) total += mtp_->bytes();
  if (draft_head_) total += draft_head_->bytes;
  if (eagle3_) total += eagle3_->weight_bytes();
  return total;
}

size_t Model::workspace_bytes() const {
  return work_.memory->bytes() + (eagle3_ ? eagle3_->workspace_bytes() : 0);
}

int64_t Model::kv_bytes_per_block() const {
  return llmservice::kv_bytes_per_block(config_, cache_sizes_) +
         (eagle3_ ? eagle3_->kv_bytes_per_block() : 0);
}

}  // namespace llmservice
