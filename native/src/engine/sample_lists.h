// What a step wants drawn, as the flat lists that a device reads: the twin of Sampler's arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan.h"
#include "engine/token_counts.h"
#include "engine/token_rules.h"
#include "ops/sample_request.h"

namespace llmservice {

class SampleLists {
 public:
  explicit SampleLists(int32_t vocab) : vocab_(vocab) {}

  // Arguments as in Sampler::sample(), of row `row` of the logits.
  void add_draw(int32_t row, const SamplingParams& params, const TokenCounts& counts, int32_t position,
                std::span<const uint32_t> allowed = {}, const RulesAt* rules = nullptr);
  // As Sampler::score().
  void add_score(int32_t row, int32_t token, int32_t alternatives);
  void clear();

  std::span<const SampleRequest> requests() const { return requests_; }
  std::span<const uint32_t> masks() const { return masks_; }  // (M, ceil(vocab / 32))
  std::span<const TokenBias> biases() const { return biases_; }
  std::span<const TokenCount> counts() const { return counts_; }
  // What at least one request asks for.
  bool draws() const { return draws_; }
  bool edits() const { return !biases_.empty() || !counts_.empty(); }
  bool truncates() const { return truncates_; }

 private:
  int32_t add_mask(std::span<const uint32_t> allowed, const RulesAt* rules);
  ListPart add_biases(const RulesAt& rules);

  int32_t vocab_;
  std::vector<SampleRequest> requests_;
  std::vector<uint32_t> masks_;
  std::vector<TokenBias> biases_;
  std::vector<TokenCount> counts_;
  bool draws_ = false;
  bool truncates_ = false;
};

}  // namespace llmservice
