#include "engine/sample_lists.h"

#include <algorithm>
#include <limits>

#include "engine/noise.h"
#include "engine/truncation.h"

namespace llmservice {

void SampleLists::add_draw(int32_t row, const SamplingParams& params, const TokenCounts& counts,
                           int32_t position, std::span<const uint32_t> allowed, const RulesAt* rules,
                           std::span<const int32_t> ahead) {
  const RulesAt* const applied = rules != nullptr && rules->apply() ? rules : nullptr;
  SampleRequest request{.row = row};
  request.mask = add_mask(allowed, applied);
  if (applied != nullptr) request.biases = add_biases(*applied);
  if (has_penalties(params)) {
    request.counts = add_counts(counts, ahead);
    request.repetition_penalty = params.repetition_penalty;
    request.presence_penalty = params.presence_penalty;
    request.frequency_penalty = params.frequency_penalty;
  }
  if (params.temperature != 0) {
    request.inverse_temperature = 1 / params.temperature;
    request.noise_key = noise_key(params.seed, position);
    request.min_weight = std::max(params.min_p, std::numeric_limits<float>::min());
    request.top_k = params.top_k;
    request.top_p = params.top_p;
    request.typical_p = params.typical_p;
    draws_ = true;
    truncates_ = truncates_ || Truncation::applies(params);
  }
  request.top_logprobs = params.top_logprobs.value_or(0);
  requests_.push_back(request);
}

void SampleLists::add_score(int32_t row, int32_t token, int32_t alternatives) {
  requests_.push_back({.row = row, .scored = token, .top_logprobs = alternatives});
}

void SampleLists::clear() {
  requests_.clear();
  masks_.clear();
  biases_.clear();
  counts_.clear();
  draws_ = false;
  truncates_ = false;
}

int64_t SampleLists::edits_of(const SamplingParams& params, const TokenCounts& counts, const RulesAt* rules,
                              std::span<const int32_t> ahead) {
  const int64_t counted = has_penalties(params) ? std::ssize(counts.generated()) + std::ssize(ahead) : 0;
  if (rules == nullptr) return counted;
  return counted + std::ssize(rules->rules.biased) + std::ssize(rules->rules.banned_ends) +
         std::ssize(rules->stop_tokens);
}

bool SampleLists::have_room_for(int64_t edits) const {
  return std::ssize(requests_) < kMaxSampleRequests &&
         std::ssize(biases_) + std::ssize(counts_) + edits <= kMaxSampleEdits;
}

SampleBatch SampleLists::batch() const {
  return {.requests = requests_,
          .masks = masks_,
          .biases = biases_,
          .counts = counts_,
          .draws = draws_,
          .truncates = truncates_};
}

int32_t SampleLists::add_mask(std::span<const uint32_t> allowed, const RulesAt* rules) {
  const bool must_end = rules != nullptr && rules->reasoning_must_end();
  const std::span<const int32_t> only = must_end           ? std::span(&rules->rules.reasoning->end, 1)
                                        : rules != nullptr ? std::span<const int32_t>(rules->rules.allowed)
                                                           : std::span<const int32_t>();
  if (allowed.empty() && only.empty()) return kNoMask;
  const size_t words = (static_cast<size_t>(vocab_) + 31) / 32;
  const size_t first = masks_.size();
  if (only.empty()) {
    masks_.insert(masks_.end(), allowed.begin(), allowed.begin() + static_cast<ptrdiff_t>(words));
  } else {
    masks_.resize(first + words, 0);
    for (const int32_t token : only) {
      const uint32_t bit = uint32_t{1} << (token % 32);
      masks_[first + token / 32] |= allowed.empty() ? bit : allowed[token / 32] & bit;
    }
  }
  return static_cast<int32_t>(first / words);
}

ListPart SampleLists::add_biases(const RulesAt& at) {
  const size_t first = biases_.size();
  // Then only one token is left, whatever its logit.
  if (at.reasoning_must_end()) return {};
  std::vector<int32_t> banned = banned_tokens(at, vocab_);
  std::ranges::sort(banned);
  banned.erase(std::ranges::unique(banned).begin(), banned.end());
  for (const int32_t token : banned) biases_.push_back({token, -std::numeric_limits<float>::infinity()});
  for (size_t i = 0; i < at.rules.biased.size(); ++i) {
    if (std::ranges::binary_search(banned, at.rules.biased[i])) continue;
    biases_.push_back({at.rules.biased[i], at.rules.biases[i]});
  }
  return {.first = static_cast<int32_t>(first), .count = static_cast<int32_t>(biases_.size() - first)};
}

ListPart SampleLists::add_counts(const TokenCounts& counts, std::span<const int32_t> ahead) {
  const size_t first = counts_.size();
  const auto times_ahead = [&](int32_t token) {
    return static_cast<int32_t>(std::ranges::count(ahead, token));
  };
  for (const auto& [token, generated] : counts.generated()) {
    counts_.push_back({token, generated + times_ahead(token)});
  }
  for (auto token = ahead.begin(); token != ahead.end(); ++token) {
    const bool listed =
        counts.generated().contains(*token) || std::find(ahead.begin(), token, *token) != token;
    if (!listed) counts_.push_back({*token, times_ahead(*token)});
  }
  return {.first = static_cast<int32_t>(first), .count = static_cast<int32_t>(counts_.size() - first)};
}

}  // namespace llmservice
