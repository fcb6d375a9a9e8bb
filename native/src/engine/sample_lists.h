// What is to be drawn from a few rows of logits, as the flat lists that a device reads: the twin of Sampler's
// arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan.h"
#include "engine/token_counts.h"
#include "engine/token_rules.h"
#include "ops/ops.h"

namespace llmservice {

class SampleLists {
 public:
  explicit SampleLists(int32_t vocab) : vocab_(vocab) {}

  // Arguments as in Sampler::sample(), of row `row` of the logits. `ahead`: tokens that come after those
  // which `counts` knows; `rules` are those behind them.
  void add_draw(int32_t row, const SamplingParams& params, const TokenCounts& counts, int32_t position,
                std::span<const uint32_t> allowed = {}, const RulesAt* rules = nullptr,
                std::span<const int32_t> ahead = {});
  // As Sampler::score().
  void add_score(int32_t row, int32_t token, int32_t alternatives);
  void clear();

  // The most that a draw adds to what is biased and counted.
  static int64_t edits_of(const SamplingParams& params, const TokenCounts& counts, const RulesAt* rules,
                          std::span<const int32_t> ahead);
  // One more request with so many edits, within the bounds of a batch.
  bool have_room_for(int64_t edits) const;
  size_t size() const { return requests_.size(); }
  // Valid until the lists change.
  SampleBatch batch() const;

 private:
  int32_t add_mask(std::span<const uint32_t> allowed, const RulesAt* rules);
  ListPart add_biases(const RulesAt& rules);
  ListPart add_counts(const TokenCounts& counts, std::span<const int32_t> ahead);

  int32_t vocab_;
  std::vector<SampleRequest> requests_;
  std::vector<uint32_t> masks_;
  std::vector<TokenBias> biases_;
  std::vector<TokenCount> counts_;
  bool draws_ = false;
  bool truncates_ = false;
};

}  // namespace llmservice
