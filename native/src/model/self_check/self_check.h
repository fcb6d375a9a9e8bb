// The self-check at start: what the loaded shards and the backend compute beside what the checkpoint's bytes
// and the scalar reference say. Catches a kernel that is wrong on this processor or in this mode of its
// partitions, weights or scales that were packed wrongly, and ranks whose parts do not add up.
#pragma once

#include "model/caches.h"
#include "model/self_check/samples.h"
#include "model/shard.h"
#include "model/stage.h"
#include "ops/collective.h"

namespace llmservice {

struct SelfCheck {
  Backend& backend;
  Collective& ranks;
  Shard shard;
  Stage stage;
  const ModelConfig& config;  // as this rank sees it
  CacheSizes sizes;
  Range vocab;  // of the embedding and the head on this rank
  const Matrix* embedding;
  bool tied_head;          // the embedding is the head too
  const Experts* experts;  // of the first layer that has some; null: none has

  // On all ranks at once, when all that runs is allocated but the paged KV. Throws EngineNumericalFault,
  // which names the rank, the tensor or operation, what is expected and what was found.
  void run(const Samples& samples);

 private:
  void check_matrix(const SampledMatrix& sampled);
  void check_embedding(const SampledMatrix& sampled);
  void check_experts(const std::vector<SampledExpert>& sampled);
  void check_collectives();
  void compare(const SampledOutput& output, int64_t row, const Expected& expected, double found,
               const char* what) const;
  [[noreturn]] void fail(const std::string& what) const;
};

}  // namespace llmservice
