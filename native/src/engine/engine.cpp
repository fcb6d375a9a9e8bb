// A step from plan to result, and before it what an engine loads. The parts of a step have files of their
// own: step_rows.cpp, outputs.cpp, draws.cpp, pooling.cpp, drafts.cpp, faults.cpp, adapters.cpp,
// ranks.cpp.
#include "engine/engine.h"

#include <chrono>

namespace llmservice {
namespace {

void check_options(const EngineOptions& o) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw EngineError(FailureReason::kInvalidEngineConfig, message);
  };
  require(o.block_size > 0 && (64 % o.block_size == 0 || o.block_size % 64 == 0),
          "blockSize must divide 64 or be a multiple of it; it is " + std::to_string(o.block_size) + ".");
  require(o.num_blocks > 0, "numBlocks must be at least 1.");
  require(o.max_num_seqs > 0, "maxNumSeqs must be at least 1.");
  require(o.num_state_snapshots >= 0, "numStateSnapshots must not be negative.");
  require(o.max_model_len > 1, "maxModelLen must be at least 2.");
  require(!o.memory || (o.memory->utilization_percent >= 1 && o.memory->utilization_percent <= 100),
          "memory.utilizationPercent must be 1 to 100.");
  const Speculation& s = o.speculation;
  require(s.method == DraftMethod::kNone ? s.tokens == 0 : s.tokens > 0,
          "speculative.tokens must be at least 1, and 0 where the method is none; it is " +
              std::to_string(s.tokens) + ".");
  require(o.head == nullptr || s.method == DraftMethod::kMtp || s.method == DraftMethod::kEagle3,
          "speculative.headDir is given, but only the methods mtp and eagle3 draft with a head.");
  require(o.head != nullptr || s.method != DraftMethod::kEagle3,
          "speculative.headDir is missing, the folder of the draft model of the method eagle3.");
  const int64_t rows = int64_t{o.max_num_seqs} * (1 + s.tokens) + 64;
  require(o.max_num_batched_tokens >= rows,
          "maxNumBatchedTokens must be at least maxNumSeqs x (1 + speculative.tokens) + 64 (" +
              std::to_string(rows) + "); it is " + std::to_string(o.max_num_batched_tokens) + ".");
}

CacheSizes cache_sizes(const EngineOptions& o) {
  return {.block_size = o.block_size,
          .slots = o.max_num_seqs,
          .snapshots = o.num_state_snapshots,
          .kv_dtype = o.kv_dtype.value_or(o.dtype),
          .drafts = o.speculation.tokens};
}

std::unique_ptr<RankGroup> join_group(const EngineOptions& o) {
  if (!o.place) return nullptr;
  // Refused before anybody waits for this rank.
  shard_config(o.checkpoint->config, {o.place->rank, o.place->size});
  return std::make_unique<RankGroup>(*o.place, o.limits);
}

// When the model lies in memory, on all ranks.
int32_t blocks_to_take(const EngineOptions& o, const Model& model, const Backend& backend, RankGroup* group) {
  const std::optional<DeviceRoom> room = o.memory ? backend.room() : std::nullopt;
  if (!room) return o.num_blocks;
  const KvDemand demand{.most = o.num_blocks,
                        .block_size = o.block_size,
                        .max_length = o.max_model_len,
                        .sequences = o.max_num_seqs,
                        .block_bytes = model.kv_bytes_per_block(),
                        .share = *o.memory};
  return blocks_that_fit(demand, rooms_of_all({*room, model.weight_bytes()}, group), backend.isa());
}

// The operator refuses the same by checkDraftDevice().
void check_runs_eagle3(const Backend& backend) {
  if (backend.runs_all_models()) return;
  throw EngineError(
      FailureReason::kInvalidEngineConfig,
      "engine.speculative.method eagle3 runs on CPUs alone: there is no GPU kernel that maps the "
      "draft vocabulary to the model's.");
}

std::unique_ptr<Model> load_model(const EngineOptions& o, Backend& backend, RankGroup* group,
                                  Collective* ranks, const ModelProgress& on_progress,
                                  std::optional<double>& self_check_ms) {
  check_options(o);
  ModelConfig config = o.checkpoint->config;
  // Waiting is no progress, but the place where a load is cancelled or hears of a lost rank.
  uint64_t loaded = 0;
  uint64_t total = 0;
  const ModelProgress progress = [&](uint64_t now, uint64_t all) { on_progress(loaded = now, total = all); };
  std::optional<Arrivals> arrivals;
  if (o.arrivals) arrivals.emplace(*o.arrivals, [&] { on_progress(loaded, total); });
  const Checkpoint checkpoint(*o.checkpoint, arrivals ? &*arrivals : nullptr);
  std::optional<PairedHead> head;
  std::optional<Eagle3Source> eagle3;
  if (o.speculation.method == DraftMethod::kEagle3) {
    eagle3 = open_eagle3(*o.head, config);
    check_runs_eagle3(backend);
  } else if (o.head != nullptr) {
    head = open_paired_head(*o.head, config);
  }
  if (o.speculation.method == DraftMethod::kMtp) {
    config = with_mtp(std::move(config), head ? head->checkpoint : checkpoint);
  }
  check_stored_weights(checkpoint);
  read_rope_divisors(checkpoint, config.rope);
  const ModelOptions options{.max_tokens = o.max_num_batched_tokens,
                             .max_length = o.max_model_len,
                             .keep = o.dtype,
                             .caches = cache_sizes(o),
                             .shard = o.place ? Shard{o.place->rank, o.place->size} : Shard{},
                             .ranks = ranks,
                             .quantization = o.checkpoint->quantization,
                             .self_check = o.self_check,
                             .head = head ? &*head : nullptr,
                             .eagle3 = eagle3 ? &*eagle3 : nullptr};
  try {
    auto model = std::make_unique<Model>(checkpoint, config, backend, options, progress);
    if (group != nullptr) group->meet();
    if (o.self_check) self_check_ms = model->check(cache_sizes(o));
    model->allocate_kv(blocks_to_take(o, *model, backend, group));
    return model;
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

Collective* connect(const EngineOptions& o, Backend& backend, RankGroup* group) {
  if (group == nullptr) return nullptr;
  return with_others(*group, [&]() -> Collective* {
    group->doing(Doing::kConnecting);
    Collective* const on_device = backend.connect(*group, o.collectives);
    group->doing(Doing::kLoading);
    return on_device == nullptr ? group : on_device;
  });
}

// Of several ranks, returns when all have loaded.
std::unique_ptr<Model> load_with_others(const EngineOptions& o, Backend& backend, RankGroup* group,
                                        Collective* ranks, const ModelProgress& on_progress,
                                        std::optional<double>& self_check_ms) {
  if (group == nullptr) return load_model(o, backend, nullptr, nullptr, on_progress, self_check_ms);
  const auto progress = [&](uint64_t done, uint64_t total) {
    group->check();
    on_progress(done, total);
  };
  return with_others(*group, [&] {
    auto model = load_model(o, backend, group, ranks, progress, self_check_ms);
    group->meet();
    group->doing(Doing::kWaiting);
    return model;
  });
}

}  // namespace

Engine::Engine(const EngineOptions& o, std::unique_ptr<Backend> backend, const ModelProgress& on_progress,
               std::unique_ptr<Drafter> drafter)
    : group_(join_group(o)),
      backend_(std::move(backend)),
      ranks_(connect(o, *backend_, group_.get())),
      model_(load_with_others(o, *backend_, group_.get(), ranks_, on_progress, self_check_ms_)),
      slots_({.slots = o.max_num_seqs,
              .num_blocks = model_->kv_blocks(),
              .snapshots = o.num_state_snapshots,
              .block_size = o.block_size,
              .max_length = o.max_model_len,
              .max_tokens = o.max_num_batched_tokens,
              .vocab = model_->config().vocab,
              .hybrid = model_->config().hybrid(),
              .drafts = o.speculation.tokens,
              .bidirectional = model_->config().bidirectional}),
      samplers_(*backend_, model_->config().vocab),
      device_sampler_(*model_),
      drafter_(make_drafter(o)),
      hashes_logits_(o.logit_hashes) {
  if (drafter) {
    drafter->stand_in_for(std::move(drafter_));
    drafter_ = std::move(drafter);
  }
  const ModelConfig& config = model_->config();
  info_ = {.architecture = config.architecture,
           .isa = backend_->isa(),
           .threads = backend_->threads(),
           .vocab_size = config.vocab,
           .weight_bytes = model_->weight_bytes(),
           .workspace_bytes = model_->workspace_bytes(),
           .num_blocks = model_->kv_blocks(),
           .kv_bytes_per_block = model_->kv_bytes_per_block(),
           .state_bytes_per_seq = state_bytes_per_slot(config),
           .draft_bytes_per_seq = draft_bytes_per_slot(config, o.speculation.tokens),
           .hybrid = config.hybrid(),
           .bidirectional = config.bidirectional,
           .collectives = ranks_ == nullptr ? std::nullopt : std::optional(ranks_->name()),
           .self_check_ms = self_check_ms_};
  ids_.reserve(o.max_num_batched_tokens);
  positions_.reserve(o.max_num_batched_tokens);
  rows_.reserve(o.max_num_seqs);
  adapted_.reserve(o.max_num_seqs);
  segments_.reserve(o.max_num_seqs);
  output_rows_.reserve(o.max_num_batched_tokens);
  outputs_.reserve(o.max_num_batched_tokens);
  fresh_.reserve(o.max_num_seqs);
  loads_.reserve(o.max_num_seqs);
  saves_.reserve(o.num_state_snapshots);
  replays_.reserve(o.max_num_seqs);
  row_faults_.reserve(o.max_num_batched_tokens);
  first_snapshot_ = o.max_num_seqs;
}

StepResult Engine::step(const StepPlan& plan) {
  // Before the other ranks are notified, which do not know of every end.
  if (plan.ahead && !plan.warmup) return step(slots_.without_ended(plan));
  const auto start = std::chrono::steady_clock::now();
  refuse_half_done();
  slots_.check(plan);
  check_adapters(plan);
  half_done_ = true;
  StepResult result;
  try {
    result = run(plan);
  } catch (const EngineError& error) {
    lost_by_ = error.what();
    if (group_) group_->give_up(error);
    throw;
  } catch (const std::exception& error) {
    lost_by_ = error.what();
    throw;
  }
  half_done_ = false;
  if (group_) group_->doing(Doing::kWaiting);
  result.compute_micros =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void Engine::refuse_half_done() const {
  if (!half_done_) return;
  throw EngineError(FailureReason::kEngineFault, "An earlier step failed half-way (" + lost_by_ +
                                                     "), so the sequences are lost. Load the engine again.");
}

StepResult Engine::run(const StepPlan& plan) {
  share_plan(plan);
  slots_.apply(plan);
  begin_sequences(plan);
  gather_rows(plan);
  report_what_runs();
  StepResult result;
  result.rows = static_cast<int32_t>(ids_.size());
  if (!ids_.empty()) {
    model_->forward({.ids = ids_,
                     .positions = positions_,
                     .segments = segments_,
                     .outputs = output_rows_,
                     .saves = saves_,
                     .replays = replays_,
                     .adapted = adapted_});
    if (follows()) {
      follow_outputs();
    } else {
      process_outputs(result);
      pool_rows(result);
    }
    settle_drafts();
    make_drafts(plan.drafts, result);
  } else {
    backend_->submit();  // states that were reset or copied are no part of the next step
  }
  result.top_offsets.push_back(static_cast<int32_t>(result.top_tokens.size()));
  result.prompt.top_offsets.push_back(static_cast<int32_t>(result.prompt.top_tokens.size()));
  return result;
}

void Engine::begin_sequences(const StepPlan& plan) {
  fresh_.clear();
  loads_.clear();
  for (const Admission& admission : plan.admit) {
    if (admission.snapshot) {
      loads_.push_back({.from = first_snapshot_ + *admission.snapshot, .to = admission.slot});
    } else {
      fresh_.push_back(admission.slot);
    }
  }
  model_->reset_slots(fresh_);
  model_->copy_states(loads_);
}

}  // namespace llmservice
