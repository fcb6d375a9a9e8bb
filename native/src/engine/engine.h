// A model in memory, its caches and its sequences: one step at a time, on one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/device_sampler.h"
#include "engine/drafter.h"
#include "engine/engine_options.h"
#include "engine/load_models.h"
#include "engine/samplers.h"
#include "engine/slots.h"

namespace llmservice {

struct EngineInfo {
  std::string architecture;
  std::string isa;
  int32_t threads;
  int32_t vocab_size;
  size_t weight_bytes;
  size_t workspace_bytes;
  int32_t num_blocks;
  int64_t kv_bytes_per_block;
  int64_t state_bytes_per_seq;
  int64_t draft_bytes_per_seq;  // of recurrent layers, so that a state can take in drafts later
  bool hybrid;
  bool bidirectional;
  std::optional<std::string> collectives;  // Collective::name() of several ranks
  std::optional<double> self_check_ms;     // that Model::check() took; none: it was off
  std::optional<std::string> kv_layout;    // none: without EngineOptions::transfer
};

class Engine {
 public:
  // Throws EngineError with a reason of the contract. Of several ranks, returns when all have loaded.
  // `drafter`: in place of that of options.speculation.
  Engine(const EngineOptions& options, std::unique_ptr<Backend> backend, const ModelProgress& on_progress,
         std::unique_ptr<Drafter> drafter = nullptr);
  // Rank 0 ends the other ranks' follow().
  ~Engine();

  const EngineInfo& info() const { return info_; }
  // Throws EngineFault when the plan breaks a rule; then nothing was computed or changed. An error in the
  // midst of a step poisons the engine: every later step throws.
  StepResult step(const StepPlan& plan);
  // Between steps, on rank 0: the adapter's part is read on all ranks, or the adapter is on none. Throws
  // EngineError, after which the engine is as it was.
  void load_adapter(const AdapterPart& part);
  // Sequences that use it are not to be advanced any more.
  void unload_adapter(int32_t number);
  // Between steps, on rank 0, for all ranks, as ts/bridge/addon.ts has them. They throw EngineFault where
  // they break a rule; then nothing has changed.
  void offer_kv(const KvOffer& offer);
  void withdraw_kv(const std::string& ticket);
  void fetch_kv(const KvFetch& fetch);
  FetchState fetched_kv(int32_t id);
  void end_fetch(int32_t id);
  // On ranks other than 0: runs rank 0's steps until it ends the group.
  void follow();

 private:
  // A row of the step whose logits are processed.
  struct Output {
    int32_t slot;
    int32_t position;  // of the token that the row predicts
    bool sample;       // false: score the prompt token that is there
    bool draft;        // the row's own token is a draft
    int32_t row;       // of the step
    // Of DeviceSampler, where it is for the device; `free`: of the same row as if there were no constraint.
    std::optional<int32_t> result = std::nullopt;
    std::optional<int32_t> free = std::nullopt;
    int32_t reported = 0;  // of the first of the rules' reported tokens, the others' follow
    bool slow = false;     // its constraint takes too long
  };

  // What came of an output row, and of its sequence with it.
  struct Drawn {
    bool counts = true;  // false: the row of a draft that was wrong
    SampleStatus status = SampleStatus::kDrawn;
    int32_t token = 0;
    float logprob = 0;
    int32_t rank = 0;   // of a scored token
    uint64_t hash = 0;  // of the logits, where one is wanted
    std::vector<TokenLogprob> alternatives = {};
    Finish finish = Finish::kNone;
    std::optional<FaultKind> fault = std::nullopt;  // that ended the sequence
  };

  // Output rows [first, first + count) of the model, which a sequence pools.
  struct PooledRows {
    int32_t slot;
    int32_t first;
    int32_t count;
    int32_t end;  // behind the last position that the step computes
  };

  StepResult run(const StepPlan& plan);
  void begin_sequences(const StepPlan& plan);
  // step_rows.cpp
  void gather_rows(const StepPlan& plan);
  void adapt_rows(int32_t number, const Segment& segment);
  void gather_outputs(const Segment& segment, const Slot& slot);
  void gather_pooled(const Segment& segment, const Slot& slot);
  // outputs.cpp
  void process_outputs(StepResult& result);
  void process(int32_t first, int32_t end, int32_t logits_first, StepResult& result);
  void draw_rows(int32_t first, int32_t end, int32_t logits_first);
  void settle(const Output& output, Drawn& drawn);
  void report_scored(const Output& output, const Drawn& drawn, PromptLogprobs& result);
  void report_sampled(const Output& output, const Drawn& drawn, StepResult& result);
  // draws.cpp
  void ask_device(Output& output, int32_t row);
  std::span<const uint32_t> ask_constraint(Output& output, Slot& slot);
  void list_alternatives(const Output& output, const SampleResult& result,
                         std::vector<TokenLogprob>& alternatives) const;
  // Of a row that counts: what the sequence says there, its own state untouched but for its constraint's.
  void draw_on_device(const Output& output, Drawn& drawn) const;
  void draw_on_host(Output& output, std::span<const float> logits, Sampler& sampler, Drawn& drawn);
  // drafts.cpp
  std::unique_ptr<Drafter> make_drafter(const EngineOptions& options);
  bool counts(const Output& output) const;
  void settle_drafts();
  void make_drafts(int32_t most, StepResult& result);
  // faults.cpp
  void find_faulty_rows(std::span<const int32_t> faults, StepResult& result);
  void report_fault(const Output& output, FaultKind kind, StepResult& result) const;
  // pooling.cpp
  void pool_rows(StepResult& result);
  void refuse_half_done() const;
  // adapters.cpp
  void check_adapters(const StepPlan& plan) const;
  // kv_moves.cpp
  void open_transfer(const EngineOptions& options);
  KvSet kv_set(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot) const;
  void refuse_to_move() const;
  // From rank 0 to the others, if there are some.
  void lead(const std::vector<std::byte>& message);
  void drop_offer(const std::string& ticket);
  void drop_fetch(int32_t id);
  // ranks.cpp
  void share_plan(const StepPlan& plan);
  void report_what_runs();
  void share_samples(const StepResult& result);
  void follow_outputs();
  bool follows() const { return group_ && group_->rank() != 0; }

  std::unique_ptr<RankGroup> group_;  // null: the only rank
  std::unique_ptr<Backend> backend_;
  Collective* ranks_;  // null: the only rank
  LoadedModels models_;
  Model* const model_;  // of those
  SlotTable slots_;
  Samplers samplers_;
  DeviceSampler device_sampler_;
  std::unique_ptr<Drafter> drafter_;  // null: no drafts
  EngineInfo info_;
  const bool hashes_logits_;
  bool half_done_ = false;  // a step began and did not end
  std::string lost_by_;     // the error that ended it

  // The step in hand; reserved once.
  std::vector<int32_t> ids_;
  std::vector<int32_t> positions_;
  std::vector<RowEntry> rows_;  // of the plan, in the order that they run in
  std::vector<AdaptedRows> adapted_;
  std::vector<Segment> segments_;
  std::vector<int32_t> output_rows_;
  std::vector<Output> outputs_;
  std::vector<PooledRows> pooled_;
  std::vector<int32_t> fresh_;  // slots that begin without a state
  std::vector<StateCopy> loads_;
  std::vector<StateMark> saves_;
  std::vector<StateReplay> replays_;
  std::vector<int32_t> row_faults_;  // of StepOutcome, as the next
  std::vector<SampleResult> samples_;
  int32_t spare_samples_ = 0;       // of the device, for reported tokens
  std::vector<int32_t> generated_;  // by a sequence, drafts with it
  std::vector<Drawn> drawn_;        // of the outputs that are processed together
  std::vector<int32_t> chains_;     // the first of each run of them that one thread draws
  int32_t first_snapshot_;          // state row of snapshot 0

  std::map<std::string, KvOffer> kv_offers_;
  std::map<int32_t, KvFetch> kv_fetches_;
  std::unique_ptr<KvTransfer> transfer_;  // null: KV stays; goes first
};

}  // namespace llmservice
