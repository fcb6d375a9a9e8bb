// What one step is asked to do (StepPlan of bridge/structs.h) and what it answers: StepResult as
// ts/bridge/ has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bridge/structs.h"
#include "engine/constraint.h"
#include "engine/token_rules.h"
#include "model/row_faults.h"
#include "ops/graph_counts.h"

namespace llmservice {

inline bool has_penalties(const SamplingParams& s) {
  return s.repetition_penalty != 1 || s.presence_penalty != 0 || s.frequency_penalty != 0;
}

// Guesses of a sequence's next tokens that its slot holds.
struct HeldDrafts {
  int32_t slot;
  std::vector<int32_t> tokens;
};

enum class Finish : uint8_t { kNone = 0, kStop = 1, kLength = 2, kNumericalFault = 3 };

// Why a sequence cannot continue, seen at one of its positions: its logits are not finite or do not differ,
// or its constraint and rules allow no token, or its constraint takes so long to compute what it allows that
// others would wait.
struct Fault {
  int32_t slot;
  int32_t position;
  FaultKind kind;
  FaultPlace place;
};

// Entry i belongs to slots[i].
struct Embeddings {
  std::vector<int32_t> slots;
  std::vector<float> values;  // (E, hidden), not normalized
};

// Entry i belongs to the prompt token at positions[i] of slots[i].
struct PromptLogprobs {
  std::vector<int32_t> slots;
  std::vector<int32_t> positions;
  std::vector<float> logprobs;
  std::vector<int32_t> ranks;        // 1: the most likely token
  std::vector<int32_t> top_offsets;  // (P + 1)
  std::vector<int32_t> top_tokens;
  std::vector<float> top_logprobs;
};

// Entry i of every array before `prompt` but `drafts` belongs to the i-th token. Tokens of one sequence stand
// together, in order: one that was sampled from known tokens, and one more for each draft that was equal to
// the one before it.
struct StepResult {
  std::vector<int32_t> slots;
  std::vector<int32_t> tokens;
  std::vector<Finish> finish;
  std::vector<float> logprobs;
  std::vector<int32_t> top_offsets;  // (S + 1)
  std::vector<int32_t> top_tokens;
  std::vector<float> top_logprobs;
  std::vector<HeldDrafts> drafts;      // of the slots that hold some now
  std::vector<uint64_t> logit_hashes;  // empty unless the engine was asked for them
  PromptLogprobs prompt;
  Embeddings embeddings;
  std::vector<Fault> faults;  // of all sequences that ended by one, whether they sampled or not
  int32_t rows = 0;           // that were computed, drafts' among them
  double compute_micros = 0;
  GraphCounts graphs = {};
};

}  // namespace llmservice
