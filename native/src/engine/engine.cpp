#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace llmservice {
namespace {

void check_options(const EngineOptions& o) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw EngineError("InvalidEngineConfig", message);
  };
  require(o.block_size > 0 && (64 % o.block_size == 0 || o.block_size % 64 == 0),
          "blockSize must divide 64 or be a multiple of it; it is " + std::to_string(o.block_size) + ".");
  require(o.num_blocks > 0, "numBlocks must be at least 1.");
  require(o.max_num_seqs > 0, "maxNumSeqs must be at least 1.");
  require(o.max_model_len > 1, "maxModelLen must be at least 2.");
  require(o.max_num_batched_tokens >= o.max_num_seqs + 64,
          "maxNumBatchedTokens must be at least maxNumSeqs + 64 (" + std::to_string(o.max_num_seqs + 64) +
              "); it is " + std::to_string(o.max_num_batched_tokens) + ".");
}

std::unique_ptr<Model> load_model(const EngineOptions& o, Backend& backend, const ModelProgress& on_progress) {
  check_options(o);
  const ModelConfig config = read_model_config(o.model_dir);
  const Checkpoint checkpoint(o.model_dir);
  const ModelOptions options{.max_positions = o.max_model_len,
                             .max_tokens = o.max_num_batched_tokens,
                             .max_sampled = o.max_num_seqs,
                             .keep = o.dtype,
                             .caches = {.num_blocks = o.num_blocks,
                                        .block_size = o.block_size,
                                        .slots = o.max_num_seqs,
                                        .kv_dtype = o.dtype},
                             .shard = {}};
  try {
    return std::make_unique<Model>(checkpoint, config, backend, options, on_progress);
  } catch (const std::bad_alloc&) {
    throw EngineError("ModelTooLarge", "The weights and caches do not fit in this machine's memory.");
  }
}

}  // namespace

Engine::Engine(const EngineOptions& o, std::unique_ptr<Backend> backend, const ModelProgress& on_progress)
    : backend_(std::move(backend)),
      model_(load_model(o, *backend_, on_progress)),
      slots_({.slots = o.max_num_seqs,
              .num_blocks = o.num_blocks,
              .block_size = o.block_size,
              .max_length = o.max_model_len,
              .max_tokens = o.max_num_batched_tokens,
              .vocab = model_->config().vocab,
              .hybrid = model_->config().hybrid()}),
      sampler_(model_->config().vocab) {
  const ModelConfig& config = model_->config();
  const CacheSizes sizes{o.num_blocks, o.block_size, o.max_num_seqs, o.dtype};
  info_ = {.architecture = config.architecture,
           .isa = backend_->isa(),
           .threads = backend_->threads(),
           .vocab_size = config.vocab,
           .weight_bytes = model_->weight_bytes(),
           .kv_bytes_per_block = kv_bytes_per_block(config, sizes),
           .state_bytes_per_seq = state_bytes_per_slot(config),
           .hybrid = config.hybrid()};
  ids_.reserve(o.max_num_batched_tokens);
  positions_.reserve(o.max_num_batched_tokens);
  segments_.reserve(o.max_num_seqs);
  sampled_rows_.reserve(o.max_num_seqs);
  sampled_slots_.reserve(o.max_num_seqs);
  admitted_.reserve(o.max_num_seqs);
}

StepResult Engine::step(const StepPlan& plan) {
  const auto start = std::chrono::steady_clock::now();
  slots_.check(plan);
  slots_.apply(plan);
  admitted_.clear();
  for (const Admission& admission : plan.admit) admitted_.push_back(admission.slot);
  model_->reset_slots(admitted_);
  gather_rows(plan);
  StepResult result;
  if (!ids_.empty()) {
    model_->forward({.ids = ids_, .positions = positions_, .segments = segments_, .sampled = sampled_rows_});
    sample_rows(result);
  }
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  result.compute_micros =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void Engine::gather_rows(const StepPlan& plan) {
  ids_.clear();
  positions_.clear();
  segments_.clear();
  sampled_rows_.clear();
  sampled_slots_.clear();
  for (const auto& [index, count] : plan.rows) {
    Slot& slot = slots_.at(index);
    segments_.push_back({.first = static_cast<int32_t>(ids_.size()),
                         .count = count,
                         .position = slot.position,
                         .slot = index,
                         .blocks = slot.blocks.data(),
                         .chunked_until = slot.chunked_until});
    for (int32_t i = 0; i < count; ++i) {
      ids_.push_back(slot.tokens[slot.position + i]);
      positions_.push_back(slot.position + i);
    }
    slot.position += count;
    if (slot.position == slot.known()) {
      sampled_rows_.push_back(static_cast<int32_t>(ids_.size()) - 1);
      sampled_slots_.push_back(index);
    }
  }
}

void Engine::sample_rows(StepResult& result) {
  const auto vocab = static_cast<size_t>(info_.vocab_size);
  const auto total = static_cast<int32_t>(sampled_slots_.size());
  for (int32_t first = 0; first < total; first += Model::kLogitRows) {
    const int32_t count = std::min(Model::kLogitRows, total - first);
    const std::span<const float> logits = model_->logits(first, count);
    for (int32_t i = 0; i < count; ++i) {
      sample_row(sampled_slots_[first + i], logits.subspan(i * vocab, vocab), result);
    }
  }
}

void Engine::sample_row(int32_t index, std::span<const float> logits, StepResult& result) {
  Slot& slot = slots_.at(index);
  const auto sampled = sampler_.sample(logits, slot.sampling, slot.counts, slot.position);
  result.slots.push_back(index);
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  if (!sampled) {
    slot.finished = true;
    result.tokens.push_back(0);
    result.finish.push_back(Finish::kNumericalFault);
    result.logprobs.push_back(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  result.tokens.push_back(sampled->token);
  result.finish.push_back(slots_.append(index, sampled->token));
  result.logprobs.push_back(sampled->logprob);
  for (const auto& [token, logprob] : sampled->alternatives) {
    result.top_tokens.push_back(token);
    result.top_logprobs.push_back(logprob);
  }
}

}  // namespace llmservice
