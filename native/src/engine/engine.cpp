// A step from plan to result. What an engine loads is in load_models.cpp; the parts of a step have files of
// their own: step_rows.cpp, outputs.cpp, draws.cpp, pooling.cpp, drafts.cpp, faults.cpp, adapters.cpp,
// kv_moves.cpp, ranks.cpp.
#include "engine/engine.h"

#include <chrono>

namespace llmservice {

Engine::Engine(const EngineOptions& o, std::unique_ptr<Backend> backend, const ModelProgress& on_progress,
               std::unique_ptr<Drafter> drafter)
    : group_(join_group(o)),
      backend_(std::move(backend)),
      ranks_(connect(o, *backend_, group_.get())),
      models_(load_models(o, *backend_, group_.get(), ranks_, on_progress)),
      model_(models_.model.get()),
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
           .weight_bytes = models_.weight_bytes(),
           .workspace_bytes = models_.workspace_bytes(),
           .num_blocks = model_->kv_blocks(),
           .kv_bytes_per_block = models_.kv_bytes_per_block(),
           .state_bytes_per_seq = state_bytes_per_slot(config),
           .draft_bytes_per_seq = draft_bytes_per_slot(config, o.speculation.tokens),
           .hybrid = config.hybrid(),
           .bidirectional = config.bidirectional,
           .collectives = ranks_ == nullptr ? std::nullopt : std::optional(ranks_->name()),
           .self_check_ms = models_.self_check_ms,
           .kv_layout = std::nullopt};
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
  open_transfer(o);
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
  result.graphs = backend_->graph_counts();
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
