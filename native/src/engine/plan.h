// What one step is asked to do and what it answers: the C++ twin of StepPlan and StepResult in ts/binding.ts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/constraint.h"
#include "engine/token_rules.h"
#include "model/row_faults.h"

namespace llmservice {

struct SamplingParams {
  float temperature = 0;  // 0: greedy
  float top_p = 1;
  int32_t top_k = 0;  // 0: off
  float min_p = 0;
  float typical_p = 1;  // 1: off
  uint64_t seed = 0;
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::optional<int32_t> top_logprobs = std::nullopt;  // none: no logprobs at all

  bool has_penalties() const {
    return repetition_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0;
  }
};

// What is wanted of a sequence instead of tokens: the hidden state of its last token, or the mean of all,
// after the final norm.
enum class Pooling : uint8_t { kNone, kLast, kMean };

struct Admission {
  int32_t slot;
  std::vector<int32_t> tokens;
  int32_t cached_tokens = 0;
  std::optional<int32_t> snapshot = std::nullopt;
  int32_t prompt_length;
  int32_t max_length;
  std::vector<int32_t> stop_tokens;
  SamplingParams sampling;
  bool prompt_logprobs = false;
  Pooling pooling = Pooling::kNone;
  std::shared_ptr<const Grammar> grammar = nullptr;  // of all that follows the prompt; null: free
  TokenRules rules = {};
};

struct SlotBlock {
  int32_t slot;
  int32_t block;
};

struct Replacement {
  int32_t slot;
  int32_t index;
  int32_t block;
};

// At most `count` rows: known tokens, then the drafts that the slot holds.
struct RowEntry {
  int32_t slot;
  int32_t count;
};

// Guesses of a sequence's next tokens that its slot holds.
struct HeldDrafts {
  int32_t slot;
  std::vector<int32_t> tokens;
};

struct StateSave {
  int32_t slot;
  int32_t position;
  int32_t snapshot;
};

// Of a step that is run for its time alone.
struct WarmupRun {
  int32_t accepted = 0;  // drafts that each sequence's last step is taken to have had right
};

struct StepPlan {
  std::vector<int32_t> release;
  std::vector<Admission> admit;
  std::vector<SlotBlock> blocks;
  std::vector<RowEntry> rows;
  std::vector<Replacement> replace = {};
  std::vector<StateSave> saves = {};
  // Drafts to make at most for each sequence of this step that is left with one known token to compute.
  int32_t drafts = 0;
  std::optional<WarmupRun> warmup = std::nullopt;
  // Made before the step before it ended: rows and saves of sequences that have ended since are left out.
  bool ahead = false;
};

enum class Finish : uint8_t { kNone = 0, kStop = 1, kLength = 2, kNumericalFault = 3 };

enum class FaultKind : uint8_t { kNotFinite, kCollapsed, kStuck, kDeadEnd, kSlowConstraint };

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
};

}  // namespace llmservice
