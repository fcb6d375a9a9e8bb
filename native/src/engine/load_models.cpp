#include "engine/load_models.h"

#include <algorithm>

#include "model/draft_files.h"
#include "model/draft_model.h"

namespace llmservice {
namespace {

bool has_draft_model(const Speculation& speculation) {
  return speculation.method == DraftMethod::kEagle3 || speculation.method == DraftMethod::kDraftModel;
}

void check_options(const EngineOptions& o) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw EngineError(FailureReason::kInvalidEngineConfig, message);
  };
  require(o.block_size > 0 && (64 % o.block_size == 0 || o.block_size % 64 == 0),
          "blockSize must divide 64 or be a multiple of it; it is " + std::to_string(o.block_size) + ".");
  require(o.num_blocks > 0, "numBlocks must be at least 1.");
  require(o.max_num_seqs > 0, "maxNumSeqs must be at least 1.");
  require(o.num_state_snapshots >= 0, "numStateSnapshots must not be negative.");
  require(o.max_adapter_rank >= 0 && o.max_adapter_rank <= kMaxAdapterRank,
          "maxAdapterRank must be 0 to " + std::to_string(kMaxAdapterRank) + "; it is " +
              std::to_string(o.max_adapter_rank) + ".");
  require(o.max_model_len > 1, "maxModelLen must be at least 2.");
  require(!o.memory || (o.memory->utilization_percent >= 1 && o.memory->utilization_percent <= 100),
          "memory.utilizationPercent must be 1 to 100.");
  const Speculation& s = o.speculation;
  require(s.method == DraftMethod::kNone ? s.tokens == 0 : s.tokens > 0,
          "speculative.tokens must be at least 1, and 0 where the method is none; it is " +
              std::to_string(s.tokens) + ".");
  require(o.head == nullptr || s.method == DraftMethod::kMtp || has_draft_model(s),
          "speculative.headDir is given, but only the methods mtp, eagle3 and draft_model draft with it.");
  require(
      o.head != nullptr || !has_draft_model(s),
      "speculative.headDir is missing, the folder of the draft model of the methods eagle3 and draft_model.");
  const int64_t rows = int64_t{o.max_num_seqs} * (1 + s.tokens) + 64;
  require(o.max_num_batched_tokens >= rows,
          "maxNumBatchedTokens must be at least maxNumSeqs x (1 + speculative.tokens) + 64 (" +
              std::to_string(rows) + "); it is " + std::to_string(o.max_num_batched_tokens) + ".");
}

int32_t stages_of(const EngineOptions& o) { return o.place ? o.place->stages.value_or(1) : 1; }

// Ranks of one stage stand together.
Shard shard_of(const EngineOptions& o) {
  if (!o.place) return {};
  const int32_t size = o.place->size / stages_of(o);
  return {o.place->rank % size, size};
}

Stage stage_of(const EngineOptions& o) {
  if (!o.place) return {};
  return {o.place->rank / shard_of(o).size, stages_of(o)};
}

void check_place(const EngineOptions& o) {
  const int32_t stages = stages_of(o);
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw EngineError(FailureReason::kParallelismInvalid, message);
  };
  const std::string count = std::to_string(stages) + " stages";
  require(stages >= 1 && o.place->size % stages == 0,
          count + " cannot have equally many of " + std::to_string(o.place->size) + " ranks.");
  if (stages == 1) return;
  check_stages(o.checkpoint->config, stages);
  require(o.device == "cpu", count + " run on CPUs alone, not on " + o.device + ".");
  require(!o.place->nodes || stages % o.place->nodes->count == 0,
          count + " cannot be divided among " + std::to_string(o.place->nodes ? o.place->nodes->count : 1) +
              " nodes: each has whole stages.");
  require(o.speculation.method == DraftMethod::kNone, count + " do not draft: set speculative.method none.");
}

CacheSizes cache_sizes(const EngineOptions& o) {
  return {.block_size = o.block_size,
          .slots = o.max_num_seqs,
          .snapshots = o.num_state_snapshots,
          .kv_dtype = o.kv_dtype.value_or(o.dtype),
          .drafts = o.speculation.tokens};
}

// When all models lie in memory, on all ranks.
int32_t blocks_to_take(const EngineOptions& o, const LoadedModels& models, const Backend& backend,
                       RankGroup* group) {
  const std::optional<DeviceRoom> room = o.memory ? backend.room() : std::nullopt;
  if (!room) return o.num_blocks;
  const KvDemand demand{.most = o.num_blocks,
                        .block_size = o.block_size,
                        .max_length = o.max_model_len,
                        .sequences = o.max_num_seqs,
                        .block_bytes = models.kv_bytes_per_block(),
                        .share = *o.memory};
  return blocks_that_fit(demand, rooms_of_all({*room, models.weight_bytes()}, group), backend.isa());
}

// What drafts and comes from another checkpoint, opened.
struct OpenHead {
  std::optional<PairedHead> paired;
  std::optional<Eagle3Source> eagle3;
  std::optional<DraftModelSource> draft_model;
};

OpenHead open_head(const EngineOptions& o) {
  OpenHead head;
  if (o.head == nullptr) return head;
  const ModelConfig& config = o.checkpoint->config;
  if (o.speculation.method == DraftMethod::kEagle3) {
    head.eagle3 = open_eagle3(*o.head, config);
  } else if (o.speculation.method == DraftMethod::kDraftModel) {
    head.draft_model = open_draft_model(*o.head, config);
    shard_config(head.draft_model->config, shard_of(o));
  } else {
    head.paired = open_paired_head(*o.head, config);
  }
  return head;
}

ModelOptions model_options(const EngineOptions& o, RankGroup* group, Collective* ranks,
                           const OpenHead& head) {
  const Stage stage = stage_of(o);
  return {.max_tokens = o.max_num_batched_tokens,
          .max_length = o.max_model_len,
          .keep = o.dtype,
          .caches = cache_sizes(o),
          .shard = shard_of(o),
          .ranks = ranks,
          .stage = stage,
          .stages = stage.count > 1 ? group : nullptr,
          .quantization = o.checkpoint->quantization,
          .self_check = o.self_check,
          .head = head.paired ? &*head.paired : nullptr,
          .eagle3 = head.eagle3 ? &*head.eagle3 : nullptr,
          .max_adapter_rank = o.max_adapter_rank};
}

std::unique_ptr<Model> load_draft_model(const DraftModelSource& source, Backend& backend,
                                        ModelOptions options, const ModelProgress& on_progress) {
  // Beside the rows of a step, of each sequence one for the token that the step has sampled; in whole lines,
  // as the memory plan counts them.
  options.max_tokens = (options.max_tokens + options.caches.slots + 15) / 16 * 16;
  options.caches.snapshots = 0;
  options.caches.drafts = 0;
  options.max_adapter_rank = 0;
  options.quantization = source.quantization;
  return reading_draft_files(source.dir, [&] {
    return std::make_unique<Model>(source.checkpoint, source.config, backend, options, on_progress);
  });
}

// Its models run one after the other.
void reserve_for(const LoadedModels& models, Backend& backend) {
  StepLimits limits = models.model->limits();
  if (models.draft_model) {
    const StepLimits& draft = models.draft_model->limits();
    limits.rows = std::max(limits.rows, draft.rows);
    limits.result = std::max(limits.result, draft.result);
    limits.attention.insert(limits.attention.end(), draft.attention.begin(), draft.attention.end());
  }
  backend.reserve(limits);
}

void check_models(LoadedModels& models, const ModelOptions& options) {
  if (!options.self_check) return;
  models.self_check_ms = models.model->check(options.caches);
  if (models.draft_model) *models.self_check_ms += models.draft_model->check(options.caches);
}

LoadedModels load_on_rank(const EngineOptions& o, Backend& backend, RankGroup* group, Collective* ranks,
                          const ModelProgress& on_progress) {
  check_options(o);
  ModelConfig config = o.checkpoint->config;
  const OpenHead head = open_head(o);
  const uint64_t draft_bytes =
      head.draft_model
          ? head.draft_model->checkpoint.bytes_of([](const std::string&) { return true; }) / shard_of(o).size
          : 0;
  // Waiting is no progress, but the place where a load is cancelled or hears of a lost rank.
  uint64_t loaded = 0;
  uint64_t total = 0;
  const ModelProgress progress = [&](uint64_t now, uint64_t all) {
    on_progress(loaded = now, total = all + draft_bytes);
  };
  std::optional<Arrivals> arrivals;
  if (o.arrivals) arrivals.emplace(*o.arrivals, [&] { on_progress(loaded, total); });
  const Checkpoint checkpoint(*o.checkpoint, arrivals ? &*arrivals : nullptr, shard_of(o).size);
  if (o.speculation.method == DraftMethod::kMtp) {
    config = with_mtp(std::move(config), head.paired ? head.paired->checkpoint : checkpoint);
  }
  check_stored_weights(checkpoint);
  read_rope_divisors(checkpoint, config.rope);
  const ModelOptions options = model_options(o, group, ranks, head);
  try {
    LoadedModels models{.model = std::make_unique<Model>(checkpoint, config, backend, options, progress),
                        .draft_model = nullptr};
    if (head.draft_model) {
      models.draft_model = load_draft_model(
          *head.draft_model, backend, options, [&, before = loaded](uint64_t now, uint64_t all) {
            const double share = all == 0 ? 1 : static_cast<double>(now) / static_cast<double>(all);
            on_progress(before + static_cast<uint64_t>(share * static_cast<double>(draft_bytes)), total);
          });
    }
    reserve_for(models, backend);
    if (group != nullptr) group->meet();
    check_models(models, options);
    const int32_t blocks = blocks_to_take(o, models, backend, group);
    models.model->allocate_kv(blocks);
    if (models.draft_model) models.draft_model->allocate_kv(blocks);
    return models;
  } catch (const std::bad_alloc&) {
    throw EngineError(FailureReason::kModelTooLarge,
                      "The weights and caches do not fit in this machine's memory.");
  }
}

// An error of one rank is an error of all.
template <class Work>
auto with_others(RankGroup& group, const Work& work) {
  try {
    return work();
  } catch (const EngineError& error) {
    group.give_up(error);
    throw;
  }
}

}  // namespace

size_t LoadedModels::weight_bytes() const {
  return model->weight_bytes() + (draft_model ? draft_model->weight_bytes() : 0);
}

size_t LoadedModels::workspace_bytes() const {
  return model->workspace_bytes() + (draft_model ? draft_model->workspace_bytes() : 0);
}

int64_t LoadedModels::kv_bytes_per_block() const {
  return model->kv_bytes_per_block() + (draft_model ? draft_model->kv_bytes_per_block() : 0);
}

std::unique_ptr<RankGroup> join_group(const EngineOptions& o) {
  if (!o.place) return nullptr;
  // Refused before anybody waits for this rank.
  check_place(o);
  shard_config(o.checkpoint->config, shard_of(o));
  return std::make_unique<RankGroup>(*o.place, o.limits);
}

Collective* connect(const EngineOptions& o, Backend& backend, RankGroup* group) {
  if (group == nullptr) return nullptr;
  return with_others(*group, [&]() -> Collective* {
    if (shard_of(o).size == 1) return nullptr;
    group->doing(Doing::kConnecting);
    Collective* const on_device = backend.connect(*group, o.collectives);
    group->doing(Doing::kLoading);
    return on_device == nullptr ? group : on_device;
  });
}

LoadedModels load_models(const EngineOptions& o, Backend& backend, RankGroup* group, Collective* ranks,
                         const ModelProgress& on_progress) {
  if (group == nullptr) return load_on_rank(o, backend, nullptr, nullptr, on_progress);
  const auto progress = [&](uint64_t done, uint64_t total) {
    group->check();
    on_progress(done, total);
  };
  return with_others(*group, [&] {
    LoadedModels models = load_on_rank(o, backend, group, ranks, progress);
    group->meet();
    group->doing(Doing::kWaiting);
    return models;
  });
}

}  // namespace llmservice
