// An EAGLE-3 draft model: one decoder layer with a vocabulary of its own beside the model's. It reads the
// residual stream of three of the model's layers, joined by `fusion`, where multi-token prediction reads the
// final hidden; each later draft continues from the layer's own output, before its norm or behind it. Its
// entry for position p is made from the token at p and the hidden of p - 1, as in mtp.h. Source of the
// formula: the EAGLE-3 paper (arXiv 2503.01840) and the speculators format.
#pragma once

#include <memory>
#include <vector>

#include "model/caches.h"
#include "model/mtp.h"
#include "ops/collective.h"

namespace llmservice {

struct Eagle3Source {
  std::filesystem::path dir;
  Checkpoint checkpoint;
  ModelConfig config;  // of the layer, with the model's vocabulary
  Eagle3Config eagle3;
  LoadQuantization quantization;
};

// `source` outlives it. Throws InvalidEngineConfig where it is no draft model, or one of another model than
// `trunk`.
Eagle3Source open_eagle3(const CheckpointSource& source, const ModelConfig& trunk);

struct Eagle3Weights {
  std::unique_ptr<Matrix> embedding;  // null: the model's
  Linear fusion;                      // (hidden, 3 · hidden), whole on every rank
  DeviceVector input_norm;            // (3 · hidden), before fusion; empty: no norm
  DeviceVector embedding_norm;
  DeviceVector hidden_norm;
  DeviceVector post_norm;  // before the feed-forward
  DeviceVector norm;
  Linear qkv;           // of [embedding | hidden]
  DeviceVector q_norm;  // empty: no norm
  DeviceVector k_norm;
  Linear o;
  Linear gate_up;
  Linear down;
  std::unique_ptr<Matrix> head;  // (draft vocabulary, hidden)

  size_t bytes() const;
};

// Rows of the model's workspace (T, hidden), free while it drafts. `residual` comes with the embeddings of
// the step's tokens; `final` gets the hidden states that logits are made of.
struct DraftRoom {
  float* residual;
  float* normed;
  float* output;
  float* final;
};

class Eagle3 {
 public:
  struct Options {
    int64_t max_tokens;  // rows of the largest step
    DType keep;
    CacheSizes caches;
    Shard shard;
    int32_t logit_rows;  // of one make_logits()
  };

  Eagle3(const Eagle3Source& source, Backend& backend, Collective& ranks, const Options& options,
         const BytesRead& on_bytes);

  void allocate_kv(int32_t blocks) { caches_.allocate_kv(backend_, config_, blocks); }
  const std::vector<CacheLine>& block_lines() const { return caches_.block_lines(); }
  int64_t kv_bytes_per_block() const { return llmservice::kv_bytes_per_block(config_, sizes_); }
  size_t weight_bytes() const { return weights_.bytes(); }
  size_t workspace_bytes() const { return memory_->bytes(); }
  // Null: its tokens are embedded as the model's.
  const Matrix* embedding() const { return weights_.embedding.get(); }

  // The residual stream (T, hidden) that layer `index` of the model reads; of their number, what the last
  // gives.
  void take_input(size_t index, const float* residual, int64_t rows);
  // Once after the model's layers.
  void fuse(int64_t rows);
  void run(const MtpStep& step, const DraftRoom& room);
  // Begins logits (count, vocab) of the model's vocabulary, on rank 0, of rows of DraftRoom::final.
  void make_logits(const float* hidden, int32_t count, float* logits);
  // Of its layer.
  AttentionShape attention() const;

 private:
  void allocate_workspace(const Options& options);
  void join_columns(const float* from, int64_t first, int64_t rows);
  void attend(const MtpStep& step, bool wanted, float* output);

  ModelConfig config_;  // as this rank sees it
  Eagle3Config eagle3_;
  Backend& backend_;
  Collective& ranks_;
  CacheSizes sizes_;
  Shard shard_;
  Range vocab_;  // of the draft vocabulary on this rank
  Eagle3Weights weights_;
  DeviceVector frequencies_;
  Caches caches_;
  std::vector<RowCopy> rows_;

  std::unique_ptr<Buffer> memory_;
  float* inputs_;  // (T, 3 · hidden)
  float* fused_;   // (T, hidden)
  float* joined_;  // (T, 2 · hidden)
  float* wide_;    // (T, widest projection)
  float* mixed_;   // (T, widest input of an output projection)
  float* cos_;     // (T, rotary / 2)
  float* sin_;
  float* kept_;    // (sequences, hidden): outputs that later drafts continue from
  float* slice_;   // (logit rows, this rank's part of the draft vocabulary)
  float* logits_;  // (logit rows, draft vocabulary) on rank 0; on the only rank the same as slice_
  // (vocab) on rank 0: of each of the model's tokens the draft token, or kNoRow.
  int32_t* own_tokens_;
};

}  // namespace llmservice
