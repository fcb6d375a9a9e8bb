// Sequences in flight: tokens, progress, block tables. Slots change only by a checked plan and by sampling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/logits_run.h"
#include "engine/plan.h"
#include "engine/thread_seconds.h"
#include "engine/token_counts.h"

namespace llmservice {

struct SlotLimits {
  int32_t slots;
  int32_t num_blocks;
  int32_t snapshots;
  int32_t block_size;
  int32_t max_length;
  int32_t max_tokens;  // rows of a step
  int32_t vocab;
  bool hybrid;
  int32_t drafts = 0;          // that a slot may hold
  bool bidirectional = false;  // what a position is depends on all of its sequence
};

struct Slot {
  std::vector<int32_t> tokens;  // known tokens; [0, position) have been computed
  int32_t position = 0;
  int32_t cached = 0;  // tokens that others computed before it was admitted
  int32_t prompt_length = 0;
  int32_t max_length = 0;
  int32_t chunked_until = 0;  // positions below use the chunked recurrent form
  bool finished = false;
  std::vector<int32_t> blocks;
  std::vector<int32_t> stop_tokens;
  SamplingParams sampling;
  TokenRules rules;
  bool prompt_logprobs = false;
  int32_t adapter = 0;  // 0: none
  Pooling pooling = Pooling::kNone;
  std::vector<float> pooled;  // (hidden): the sum so far
  LogitsRun run;
  TokenCounts counts;                      // kept only when there are penalties
  std::unique_ptr<Constraint> constraint;  // null: none
  double constraint_seconds = 0;           // that it has taken in all
  int32_t constrained_tokens = 0;
  std::vector<int32_t> drafts;  // guesses of the tokens after the known ones
  bool warming_up = false;      // nothing that is computed here is anybody's
  int32_t replays = 0;          // of the computed tokens, the last ones that the recurrent state lacks

  // What a constraint makes of tokens counts as its time, like what it makes of the next one.
  void accept(std::span<const int32_t> taken) {
    const double begun = thread_seconds();
    for (const int32_t token : taken) constraint->accept(token);
    constraint_seconds += thread_seconds() - begun;
  }

  int32_t known() const { return static_cast<int32_t>(tokens.size()); }
  RulesAt rules_now() const {
    return {
        .rules = rules, .generated = std::span(tokens).subspan(prompt_length), .stop_tokens = stop_tokens};
  }
  // Drafts that can still matter: the token after the last of them is the sequence's last.
  int32_t room_for_drafts(int32_t most) const {
    const bool decodes = !finished && position == known() - 1;
    return decodes ? std::clamp(max_length - 1 - known(), 0, most) : 0;
  }
};

class SlotTable {
 public:
  explicit SlotTable(const SlotLimits& limits);

  // A plan made ahead as it is to be run now: without rows and saves of sequences that have ended, or rows of
  // drafts that are not held. All else stays, so that block tables are what the plan's maker takes them for.
  StepPlan without_ended(StepPlan plan) const;
  // Throws EngineFault naming the first rule that the plan breaks. Changes nothing.
  void check(const StepPlan& plan) const;
  // Applies all of a plan that check() accepts but its rows.
  void apply(const StepPlan& plan);
  // Throws EngineFault naming what is not as the moves of KV need it: `computed`, to be read, or free, to be
  // written.
  void check_kv(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot, bool computed) const;
  // From now on no plan may write to the blocks; and the end of that.
  void hold(const std::vector<int32_t>& blocks);
  void let_go(const std::vector<int32_t>& blocks);
  // What free blocks and a snapshot hold: nothing, or what others computed, the state after so many tokens.
  void empty(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot);
  void fill(const std::vector<int32_t>& blocks, std::optional<int32_t> snapshot, int32_t position);
  int32_t snapshot_position(int32_t snapshot) const { return snapshot_position_[snapshot]; }
  // Moves a slot over rows that are computed.
  void advance(int32_t slot, int32_t count);
  // Appends a sampled token and says whether the sequence ends with it.
  Finish append(int32_t slot, int32_t token);

  Slot& at(int32_t slot) { return *slots_[slot]; }
  const Slot& at(int32_t slot) const { return *slots_[slot]; }

 private:
  void admit(const Admission& admission);
  void release(int32_t slot);
  // Makes up the drafts that a warm-up run is to verify, and what was accepted before.
  void warm_up(const StepPlan& plan);

  SlotLimits limits_;
  std::vector<std::optional<Slot>> slots_;
  std::vector<int32_t> holders_;            // of each block: tables that have it
  std::vector<bool> whole_;                 // all of the block's tokens have been computed
  std::vector<int32_t> snapshot_position_;  // tokens that the snapshot is the state of; 0: none
  friend class PlanChecker;
};

}  // namespace llmservice
