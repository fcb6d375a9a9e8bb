#include "engine/plan_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ops/error.h"
#include "ops/sample_request.h"

namespace llmservice {
namespace {

constexpr int32_t kMaxTopLogprobs = kMaxAlternatives;
constexpr int64_t kMaxReported = 128;

void check_sampling(const SamplingParams& s, const std::string& where) {
  const auto require = [&](bool holds, const char* rule) {
    if (!holds) broken(where, rule);
  };
  require(std::isfinite(s.temperature) && s.temperature >= 0, "has a temperature below 0.");
  require(s.top_p > 0 && s.top_p <= 1, "has topP outside (0, 1].");
  require(s.top_k >= 0, "has a negative topK.");
  require(s.min_p >= 0 && s.min_p <= 1, "has minP outside [0, 1].");
  require(s.typical_p > 0 && s.typical_p <= 1, "has typicalP outside (0, 1].");
  require(std::isfinite(s.repetition_penalty) && s.repetition_penalty > 0,
          "has a repetitionPenalty that is not above 0.");
  require(std::isfinite(s.presence_penalty) && std::isfinite(s.frequency_penalty),
          "has a penalty that is not finite.");
  require(!s.top_logprobs || (*s.top_logprobs >= 0 && *s.top_logprobs <= kMaxTopLogprobs),
          "asks for topLogprobs outside 0 to 20.");
}

void check_rules(const TokenRules& r, int32_t vocab, const std::string& where) {
  const auto require = [&](bool holds, const char* rule) {
    if (!holds) broken(where, rule);
  };
  const auto outside = [&](int32_t id) { return id < 0 || id >= vocab; };
  const auto rising = [](const std::vector<int32_t>& values) {
    return std::ranges::adjacent_find(values, std::ranges::greater_equal()) == values.end();
  };
  require(std::ranges::none_of(r.biased, outside) && std::ranges::none_of(r.allowed, outside) &&
              std::ranges::none_of(r.banned, outside) && std::ranges::none_of(r.reported, outside),
          "has a rule for a token outside the vocabulary.");
  require(r.biases.size() == r.biased.size() &&
              std::ranges::all_of(r.biases, [](float bias) { return std::isfinite(bias); }),
          "has biases that are not one finite value for each biased token.");
  require(rising(r.allowed), "has allowed tokens that do not ascend.");
  const bool whole = r.banned_ends.empty() ? r.banned.empty()
                                           : r.banned_ends.front() > 0 && rising(r.banned_ends) &&
                                                 r.banned_ends.back() == std::ssize(r.banned);
  require(whole, "has bannedEnds that do not cut the banned tokens into sequences.");
  require(r.min_tokens >= 0, "has negative minTokens.");
  require(std::ssize(r.reported) <= kMaxReported, "has more than 128 reported tokens.");
  require(!r.reasoning || (r.reasoning->tokens >= 0 && !outside(r.reasoning->end) &&
                           !outside(r.reasoning->begin.value_or(r.reasoning->end))),
          "has a budget of reasoning below 0, or around it tokens outside the vocabulary.");
}

void check_pooling(const Admission& a, const SlotLimits& limits, bool warming_up, const std::string& where) {
  if (limits.bidirectional && a.cached_tokens > 0)
    broken(where, "has cachedTokens, but attention is bidirectional: they are others in every sequence.");
  if (limits.bidirectional && a.pooling == Pooling::kNone && !warming_up)
    broken(where, "has no pooling, but a model whose attention is bidirectional generates nothing.");
  const auto known = static_cast<int32_t>(a.tokens.size());
  if (a.pooling == Pooling::kNone) {
    // Behind a prompt that fills the context, a token is sampled that is none of the sequence.
    if (a.max_length < known) broken(where, "has a maxLength below its tokens.");
    return;
  }
  if (a.prompt_length != known || a.max_length != known || a.sampling.top_logprobs)
    broken(where, "has pooling, but also tokens to generate, or logprobs.");
  if (a.pooling != Pooling::kLast && a.cached_tokens > 0)
    broken(where,
           "has mean or cls pooling and cachedTokens: the hidden states of cached positions are gone.");
}

void check_cached(const Admission& a, const SlotLimits& limits, std::span<const int32_t> snapshot_position,
                  bool warming_up, const std::string& where) {
  const int32_t cached = a.cached_tokens;
  if (cached < 0 || cached >= static_cast<int32_t>(a.tokens.size()) || cached % limits.block_size != 0) {
    broken(where, "has cachedTokens (" + std::to_string(cached) +
                      ") that are not whole blocks, or leave no token to compute.");
  }
  if (cached > 0 && a.prompt_logprobs)
    broken(where, "has promptLogprobs and cachedTokens: cached positions have no logits.");
  if (a.snapshot.has_value() != (limits.hybrid && cached > 0 && !warming_up))
    broken(where, "must have a snapshot where a hybrid model's sequence has cachedTokens, and only there.");
  if (!limits.hybrid || cached == 0) return;
  if (cached % 64 != 0 || cached > a.prompt_length / 64 * 64) {
    broken(where, "has cachedTokens (" + std::to_string(cached) +
                      ") that are no multiple of 64 within the prompt, as hybrid models need.");
  }
  if (!a.snapshot) return;
  check_snapshot(*a.snapshot, limits, where);
  if (snapshot_position[*a.snapshot] != cached) {
    broken(where, "has " + std::to_string(cached) + " cachedTokens, but its snapshot is of " +
                      std::to_string(snapshot_position[*a.snapshot]) + " tokens.");
  }
}

}  // namespace

void broken(const std::string& where, const std::string& rule) {
  throw EngineError(FailureReason::kEngineFault,
                    "The step plan is invalid: " + where + " " + rule + " Nothing was computed.");
}

std::string entry(const char* list, size_t index, int32_t slot) {
  return std::string(list) + "[" + std::to_string(index) + "] (slot " + std::to_string(slot) + ")";
}

void check_admission(const Admission& a, const SlotLimits& limits, std::span<const int32_t> snapshot_position,
                     bool warming_up, const std::string& where) {
  if (a.tokens.empty()) broken(where, "has no tokens.");
  if (a.prompt_length < 1 || a.prompt_length > static_cast<int32_t>(a.tokens.size()))
    broken(where, "has a promptLength outside its tokens.");
  check_pooling(a, limits, warming_up, where);
  if (a.max_length > limits.max_length) {
    broken(where, "has a maxLength above maxModelLen (" + std::to_string(limits.max_length) + ").");
  }
  const auto outside = [&](int32_t token) { return token < 0 || token >= limits.vocab; };
  if (std::ranges::any_of(a.tokens, outside)) {
    broken(where, "has a token outside the vocabulary of " + std::to_string(limits.vocab) + ".");
  }
  check_sampling(a.sampling, where);
  check_rules(a.rules, limits.vocab, where);
  if (a.prompt_logprobs && !a.sampling.top_logprobs) broken(where, "has promptLogprobs without topLogprobs.");
  if (!a.rules.reported.empty() && !a.sampling.top_logprobs)
    broken(where, "has reported tokens without topLogprobs.");
  check_cached(a, limits, snapshot_position, warming_up, where);
}

void check_snapshot(int32_t snapshot, const SlotLimits& limits, const std::string& where) {
  if (snapshot < 0 || snapshot >= limits.snapshots) {
    broken(where, "names snapshot " + std::to_string(snapshot) + "; there are " +
                      std::to_string(limits.snapshots) + ".");
  }
}

}  // namespace llmservice
