// What is to be drawn from one row of logits, and what came of it: plain tables that go to a device and come
// back, so that logits stay where they are.
#pragma once

#include <cstdint>
#include <span>

namespace llmservice {

constexpr int32_t kMaxAlternatives = 20;
// Of one batch: requests, and what they bias and count together (1 MiB).
constexpr int32_t kMaxSampleRequests = 32;
constexpr int64_t kMaxSampleEdits = 1 << 17;

// Ids that SampleRequest and SampleResult use for "none".
constexpr int32_t kNoToken = -1;
constexpr int32_t kNoMask = -1;

// One token's logit is `bias` higher; -infinity bans it.
struct TokenBias {
  int32_t token;
  float bias;
};

// A token of the sequence, and how often it was generated (0: prompt only).
struct TokenCount {
  int32_t token;
  int32_t generated;
};

// A run of a list that all requests share, each token at most once in it.
struct ListPart {
  int32_t first = 0;
  int32_t count = 0;
};

struct SampleRequest {
  int32_t row;                // of the logits; negative: nothing is wanted
  int32_t scored = kNoToken;  // its logprob and rank are wanted, and nothing is drawn
  // The adjusted logits: biases, then penalties, then the mask.
  ListPart biases = {};
  ListPart counts = {};  // empty without penalties
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  int32_t mask = kNoMask;  // of masks (M, ceil(V / 32)): a set bit allows its token
  // The draw: Gumbel-argmax over what truncation leaves of softmax(logits · inverse_temperature).
  float inverse_temperature = 0;  // 0: greedy
  float min_weight = 0;  // relative to the likeliest token: min_p, at least the smallest normal float
  int32_t top_k = 0;     // 0: off
  float top_p = 1;
  float typical_p = 1;
  int32_t top_logprobs = 0;  // alternatives wanted, at most kMaxAlternatives
  uint64_t noise_key = 0;    // of (seed, position), see engine/noise.h
};

enum class SampleStatus : int32_t {
  kDrawn,
  kNotFinite,  // the row holds a NaN or an infinity
  kCollapsed,  // all logits are equal
  kDeadEnd,    // no token is left
};

// All but `status` and `hash` mean something only where the token was drawn (or scored). Logprobs, rank and
// hash are of the unmodified logits.
struct SampleResult {
  SampleStatus status;
  int32_t token;
  float logprob;
  int32_t rank;          // of a scored token: logits that are at least its own, its own with them
  uint64_t hash;         // engine/logit_hash.h
  int32_t alternatives;  // as many as wanted, or all there are
  int32_t top_tokens[kMaxAlternatives];  // best first; of equal ones the lower id first
  float top_logprobs[kMaxAlternatives];
};

// Requests of rows of the same logits, and the lists that they name parts of; made by engine/sample_lists.h.
struct SampleBatch {
  std::span<const SampleRequest> requests;  // at most kMaxSampleRequests
  std::span<const uint32_t> masks;          // (M, ceil(V / 32)), at most one for each request
  std::span<const TokenBias> biases;        // with counts at most kMaxSampleEdits
  std::span<const TokenCount> counts;
  // What at least one request asks for, in addition to those lists.
  bool draws;  // at a temperature
  bool truncates;
};

}  // namespace llmservice
