// A decoder-only transformer (llama, qwen3, gemma3), encoder (eurobert, modernbert, xlm-roberta) or hybrid
// (qwen3_5, qwen3_5_moe, qwen3_next) on a backend: tokens of a step in, logits out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/adapters.h"
#include "model/bert.h"
#include "model/caches.h"
#include "model/eagle3.h"
#include "model/layer_inputs.h"
#include "model/layers.h"
#include "model/model_step.h"
#include "model/mtp.h"
#include "model/paired_head.h"
#include "model/rope.h"
#include "model/row_faults.h"
#include "model/self_check/samples.h"
#include "model/stage.h"
#include "model/state_rounds.h"
#include "model/step_parts.h"
#include "ops/collective.h"
#include "ops/gated_ops.h"

namespace llmservice {

struct ModelOptions {
  int32_t max_tokens;  // rows of the largest step
  int32_t max_length;  // positions of the longest sequence
  DType keep;          // type of unquantized weights
  CacheSizes caches;
  Shard shard;                  // of the stage's ranks
  Collective* ranks = nullptr;  // null: the stage's only rank
  Stage stage = {};
  StageLinks* stages = nullptr;  // null: the only stage
  LoadQuantization quantization = LoadQuantization::kNone;
  bool self_check = false;           // samples are kept for check()
  const PairedHead* head = nullptr;  // null: the layer for multi-token prediction is in the checkpoint itself
  const Eagle3Source* eagle3 = nullptr;  // null: no draft model
  int32_t max_adapter_rank = 0;          // as in StepLimits
};

// What a step left to be processed, on rank 0; valid until the next call of the model.
struct StepOutcome {
  // Of each row of the last step (T): 0 when its numbers are finite, else the place where they first were
  // not, for place_of().
  std::span<const int32_t> faults;
  std::span<const SampleResult> samples;
};

// (done, total) stored bytes; may throw to cancel.
using ModelProgress = std::function<void(uint64_t done, uint64_t total)>;

class Model {
 public:
  // Reads all weights and allocates recurrent state and workspace, but for what the backend is to reserve
  // for its limits(), before the first step or check. With several ranks, each has a model of
  // its own shard; forward() and make_logits() must be called on all of them alike.
  Model(const Checkpoint& checkpoint, const ModelConfig& config, Backend& backend,
        const ModelOptions& options, const ModelProgress& on_progress);

  // Once, on all ranks at once, where the options say so: as SelfCheck::run().
  // Returns the milliseconds that it took, and what it compares with while the model was read.
  double check(const CacheSizes& sizes);
  // Once, before the first step: nothing is allocated later.
  void allocate_kv(int32_t blocks);

  const ModelConfig& config() const { return config_; }
  int32_t stages() const { return stage_.count; }
  const StepLimits& limits() const { return limits_; }
  int32_t kv_blocks() const { return kv_blocks_; }
  // All that a block holds, that of what drafts included; and all that a row of recurrent state does.
  std::vector<CacheLine> block_lines() const;
  const std::vector<CacheLine>& state_lines() const { return caches_.state_lines(); }
  size_t weight_bytes() const;
  Adapters& adapters() { return adapters_; }
  const Adapters& adapters() const { return adapters_; }
  size_t workspace_bytes() const;
  // Over all layers that attend, K and V, those of what drafts included.
  int64_t kv_bytes_per_block() const;

  // Forgets the recurrent state of slots that begin a new sequence.
  void reset_slots(std::span<const int32_t> slots);
  // Copies recurrent state between rows of the caches: slots, then snapshots.
  void copy_states(std::span<const StateCopy> copies);
  // Runs the step; afterwards make_logits() is for its output rows.
  void forward(const ModelStep& step);
  // Of the last step, with results [0, samples) of sample(); on ranks other than 0 nothing. As logits(), it
  // returns when the device has done all before it, on every rank: one whose device fails must see it.
  StepOutcome outcome(int32_t samples);
  FaultPlace place_of(int32_t fault) const { return fault_place(fault, whole_); }
  // The hidden states after the final norm (count, hidden) of output rows [first, first + count), count at
  // most kLogitRows. Valid until the next call.
  std::span<const float> hidden(int32_t first, int32_t count);
  // Runs the layer for multi-token prediction, or the draft model; afterwards make_logits() is for its output
  // rows. forward() came before.
  void draft(const MtpStep& step);
  // Begins logits (count, vocab) of output rows [first, first + count), count at most kLogitRows.
  void make_logits(int32_t first, int32_t count);
  // Those that were begun last; on ranks other than 0 nothing. Valid until the next call.
  std::span<const float> logits();
  // Whether rows can be drawn where their logits are; not on ranks other than 0.
  bool samples() const { return samples_; }
  // Draws from the logits that were begun last. The results are those from `first` on of outcome(): of a step
  // at most one for each row, one more for each sequence, and spare_samples().
  void sample(const SampleBatch& batch, int32_t first);
  // Results that a step leaves over which draws or scores so many rows.
  int32_t spare_samples(int32_t rows) const { return static_cast<int32_t>(max_tokens_) - rows; }

  static constexpr int32_t kLogitRows = 32;

 private:
  void allocate_workspace(const ModelOptions& options);
  StepLimits step_limits(const ModelOptions& options) const;
  void embed(const Matrix& table, std::span<const int32_t> ids);
  void norm_embeddings(int64_t rows);
  // bert.cpp
  void embed_positions(std::span<const int32_t> positions);
  void run_bert_layer(size_t layer, const ModelStep& step, int32_t place);
  void norm_behind(const DeviceVector& weight, const DeviceVector& bias, int64_t rows, int32_t place);
  void feed_ungated(const MlpWeights& weights, int64_t rows);
  // layer_inputs.cpp
  void embed_layers(int64_t rows);
  void take_layer_input(size_t layer, int64_t rows);
  void norm_sum(float* x, const DeviceVector& weight, int64_t rows);
  void norm_fed(size_t layer, int64_t rows);
  void multiply_residual(float scalar, int64_t rows);
  void norm_residual(float* update, const DeviceVector& weight, int64_t rows, float* out, int32_t place);
  // work_.residual and this rank's share of what is still to be added to it (null: nothing) in;
  // work_.residual and, still to be added, work_.output out. `place` is fault_before(index), or 0 where
  // faults do not matter. Layers that multiply the residual stream have added theirs.
  void run_layer(size_t index, float* update, const ModelStep& step, int32_t place);
  void put_mtp_columns(int64_t first, int64_t rows);
  void set_angles(std::span<const int32_t> positions);
  void mix(const AttentionWeights& weights, size_t layer, const ModelStep& step);
  void mix(const GdnWeights& weights, size_t layer, const ModelStep& step);
  // draft_states.cpp
  void plan_draft_states(const ModelStep& step);
  void keep_draft_inputs(size_t layer, int64_t stride);
  void replay_drafts(const GdnWeights& weights, size_t layer);
  void feed_forward(size_t layer, const ModelStep& step);
  void run(const MlpWeights& weights, size_t layer, const ModelStep& step);
  void run(const MoeWeights& weights, size_t layer, const ModelStep& step);
  void route(const MoeWeights& weights, int64_t rows);
  bool feed_gated(const MlpWeights& weights, int64_t rows);
  void forget(const float* x);
  void open_gates(int64_t rows, int64_t width);
  void forget_faults(int64_t rows);
  void plan_states(const ModelStep& step);
  // What comes to the model's first layer.
  void enter(const ModelStep& step);
  // Returns what is still to be added to the residual stream, this rank's share; null: nothing.
  float* run_layers(const ModelStep& step);
  // To the output rows from `first_output` on.
  void leave(float* update, const ModelStep& step, int32_t first_output);
  // stages.cpp
  void forward_in_stages(const ModelStep& step);
  void run_part(const StepPart& part, const ModelStep& whole);
  void add_update(float* update, int64_t rows);
  void pass_on(std::span<const StepPart> parts, int32_t tick);
  void bring_back(int64_t outputs);
  // Rows from the first of a region on, and what the step's rows from `first_fault` on are marked with.
  struct PassedRows {
    int64_t rows;
    int32_t first_fault;
    int64_t faults;
  };
  int64_t floats_of(const PassedRows& passed) const;
  float* receive(const PassedRows& passed);
  void send_rows(float* rows, const PassedRows& passed);
  void take_rows(float* rows, const PassedRows& passed);

  ModelConfig config_;  // as this rank sees it, of its stage's layers
  Backend& backend_;
  GatedOps* const gated_;  // of the backend; null: it has none
  Collective& ranks_;
  Shard shard_;
  Stage stage_;
  StageLinks* stages_;       // null: the only stage
  ModelConfig whole_;        // of all ranks and stages
  size_t first_layer_;       // of this stage
  int32_t first_row_ = 0;    // of the step's, of the part in hand
  std::vector<float> sent_;  // to another stage
  std::vector<float> received_;
  std::vector<int64_t> passed_;  // floats that each stage passes on
  Range vocab_;                  // of the embedding and the head on this rank
  std::vector<int32_t> own_ids_;
  std::vector<int32_t> no_faults_;  // zeros, one per row of the largest step
  int64_t step_rows_ = 0;
  int64_t logit_rows_ = 0;  // of the logits that were begun last
  bool samples_;
  int32_t max_samples_ = 0;
  std::vector<AttentionShape> attention_;  // of each layer
  int64_t max_tokens_;
  DeviceVector frequencies_;         // of rotation
  DeviceVector window_frequencies_;  // of layers with a window, where theirs differ
  DeviceVector ones_;                // as wide as the widest head, where values are normed
  Caches caches_;
  int32_t kv_blocks_ = 0;
  StepLimits limits_{};
  CacheSizes cache_sizes_;
  int32_t max_drafts_;
  // Of the step in hand, on hybrids.
  std::vector<StateRound> rounds_;
  std::vector<RowCopy> drafts_kept_;      // rows of the step to draft inputs
  std::vector<RowCopy> drafts_taken_;     // draft inputs to rows of the workspace
  std::vector<Segment> drafts_replayed_;  // in the workspace
  std::unique_ptr<Matrix> embedding_;
  std::unique_ptr<Matrix> head_;        // null: tied to the embedding
  std::unique_ptr<Matrix> draft_head_;  // of draft(), narrower; null: the same
  bool drafted_last_ = false;           // draft() came after forward()
  DeviceVector embedding_norm_;         // empty: embeddings stay
  std::optional<BertInputs> bert_;
  std::optional<LayerInputs> layer_inputs_;
  std::vector<RowCopy> every_row_;  // of the largest step, each to its own place; where layers have inputs
  DeviceVector final_norm_;
  Adapters adapters_;
  std::vector<LayerWeights> layers_;
  std::optional<MtpWeights> mtp_;
  std::unique_ptr<Eagle3> eagle3_;
  std::vector<RowCopy> mtp_rows_;
  std::unique_ptr<Samples> taken_;  // until check()

  // Workspace, one row per token of the step.
  struct Workspace {
    std::unique_ptr<Buffer> memory;
    float* residual;    // (T, hidden)
    float* normed;      // (T, hidden)
    float* wide;        // (T, widest projection)
    float* gates;       // (T, 2 · GDN v_heads): [b | a]
    float* mixed;       // (T, widest input of an output projection)
    float* output;      // (T, hidden)
    float* cos;         // (T, rotary / 2)
    float* sin;         // (T, rotary / 2)
    float* window_cos;  // (T, rotary / 2) of layers with a window, where they rotate by other angles
    float* window_sin;
    float* layer_inputs;    // (T, layers · width), of models with embeddings of layers
    float* expert_rows;     // (T, hidden), of models with experts, as the next two
    float* expert_weights;  // (T, top_k)
    int32_t* expert_ids;    // (T, top_k)
    float* hidden;          // (T, hidden), of models with multi-token prediction: after the final norm
    float* final;           // (outputs, hidden)
    float* slice;           // (kLogitRows, this rank's part of vocab)
    int32_t* faults;        // (T), on rank 0; behind those of the step in hand, what was sampled of it
    float* logits;          // (kLogitRows, vocab) on rank 0; on the only rank the same as slice
  } work_;
};

}  // namespace llmservice
