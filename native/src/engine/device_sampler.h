// Rows that are drawn where their logits are. Requests are gathered for the logits that the model began last
// and run in batches; all results of a step come back together.
#pragma once

#include <span>
#include <vector>

#include "engine/sample_lists.h"
#include "model/model.h"

namespace llmservice {

class DeviceSampler {
 public:
  explicit DeviceSampler(Model& model) : model_(model), lists_(model.config().vocab) {}

  // Nothing has been asked yet of the rows that come now.
  void begin();
  // Whether a device takes the row, or it is for the host. Arguments as in SampleLists.
  bool takes(const SamplingParams& params, const TokenCounts& counts, const RulesAt* rules,
             std::span<const int32_t> ahead) const;
  // Of rows that it takes: the index of what comes of it.
  int32_t draw(int32_t row, const SamplingParams& params, const TokenCounts& counts, int32_t position,
               std::span<const uint32_t> allowed, const RulesAt* rules, std::span<const int32_t> ahead);
  int32_t score(int32_t row, int32_t token, int32_t alternatives);
  // Before other logits are begun.
  void run();
  // What has been asked since begin().
  int32_t asked() const { return ran_ + static_cast<int32_t>(lists_.size()); }

 private:
  void make_room(int64_t edits);

  Model& model_;
  SampleLists lists_;
  int32_t ran_ = 0;
};

}  // namespace llmservice
