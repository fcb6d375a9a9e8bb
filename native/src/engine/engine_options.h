// What an engine is loaded with.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/kv_blocks.h"
#include "model/arrivals.h"
#include "model/model.h"
#include "parallel/rank_group.h"
#include "transfer/kv_transfer.h"

namespace llmservice {

// BoundOptions of bridge/structs.h as the engine needs them.
struct EngineOptions {
  std::shared_ptr<const CheckpointSource> checkpoint;
  int32_t block_size;
  int32_t num_blocks;  // at most, where `memory` says how many are taken
  int32_t max_num_seqs;
  int32_t num_state_snapshots = 0;
  int32_t max_model_len;
  int32_t max_num_batched_tokens;
  DType dtype = DType::kBF16;                    // of unquantized weights
  std::optional<DType> kv_dtype = std::nullopt;  // none: as dtype
  // Of method mtp, whose layer is taken; null: the model's own. Of methods eagle3 and draft_model, the draft
  // model.
  std::shared_ptr<const CheckpointSource> head = nullptr;
  Speculation speculation = {};
  int32_t threads = 0;  // 0: one per physical core
  std::string isa = "auto";
  std::string device = "cpu";  // or a vendor of GPUs, whose device `place.rank` runs the model
  Collectives collectives = Collectives::kAuto;  // of ranks on GPUs
  bool logit_hashes = false;
  std::optional<RankPlace> place = std::nullopt;  // none: the only rank
  GroupLimits limits = {};
  std::optional<ArrivalMap> arrivals = std::nullopt;       // none: all weights are on disk
  std::optional<MemoryShare> memory = std::nullopt;        // none: num_blocks are taken
  bool self_check = false;                                 // Model::check()
  int32_t max_adapter_rank = 0;                            // of adapters that are loaded later; 0: none are
  std::optional<TransferOptions> transfer = std::nullopt;  // none: KV stays
  TransferLimits transfer_limits = {};
};

}  // namespace llmservice
