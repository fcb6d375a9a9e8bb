// The rules of a step plan, checked before anything is computed. A broken rule is a bug of the caller, so the
// first one is named and the engine stays as it was.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "engine/plan_rules.h"
#include "engine/slots.h"

namespace llmservice {

// What the slots would be after each part of the plan, without changing them.
class PlanChecker {
 public:
  PlanChecker(const SlotTable& table, const StepPlan& plan)
      : table_(table), limits_(table.limits_), plan_(plan) {
    slots_.resize(limits_.slots);
    for (int32_t i = 0; i < limits_.slots; ++i) {
      if (!table.slots_[i]) continue;
      const Slot& slot = *table.slots_[i];
      slots_[i] = {.used = true,
                   .finished = slot.finished,
                   .in_rows = false,
                   .known = slot.known(),
                   .position = slot.position,
                   .max_length = slot.max_length,
                   .chunked_until = slot.chunked_until,
                   .blocks = static_cast<int32_t>(slot.blocks.size())};
    }
  }

  void run() {
    check_releases();
    check_admissions();
    check_replacements();
    check_blocks();
    check_rows();
    check_saves();
    check_drafts();
  }

 private:
  bool warming_up() const { return plan_.warmup.has_value(); }

  struct State {
    bool used = false;
    bool finished = false;
    bool in_rows = false;
    int32_t known = 0;
    int32_t position = 0;
    int32_t max_length = 0;
    int32_t chunked_until = 0;
    int32_t blocks = 0;
    int32_t saved = 0;  // no state at or before this position can be saved in this step
  };
  struct BlockState {
    int32_t holders;
    bool whole;
  };

  // The block as the plan has it so far.
  BlockState& block(int32_t index, const std::string& where) {
    if (index < 0 || index >= limits_.num_blocks) {
      broken(where, "names a block outside 0 to " + std::to_string(limits_.num_blocks - 1) + ".");
    }
    return blocks_.try_emplace(index, BlockState{table_.holders_[index], table_.whole_[index]}).first->second;
  }

  BlockState& whole_block(int32_t index, const std::string& where) {
    BlockState& state = block(index, where);
    if (!state.whole && !warming_up()) {
      broken(where, "shares block " + std::to_string(index) + ", whose tokens are not all computed.");
    }
    return state;
  }

  State& slot(int32_t index, const std::string& where) {
    if (index < 0 || index >= limits_.slots) {
      broken(where, "names a slot outside 0 to " + std::to_string(limits_.slots - 1) + ".");
    }
    return slots_[index];
  }

  State& used_slot(int32_t index, const std::string& where) {
    State& state = slot(index, where);
    if (!state.used) broken(where, "names a slot that holds no sequence.");
    return state;
  }

  void check_releases() {
    for (size_t i = 0; i < plan_.release.size(); ++i) {
      used_slot(plan_.release[i], entry("release", i, plan_.release[i])) = State{};
      for (const int32_t held : table_.slots_[plan_.release[i]]->blocks) --block(held, "release").holders;
    }
  }

  void check_admissions() {
    for (size_t i = 0; i < plan_.admit.size(); ++i) {
      const Admission& a = plan_.admit[i];
      const std::string where = entry("admit", i, a.slot);
      State& state = slot(a.slot, where);
      if (state.used) broken(where, "names a slot that already holds a sequence.");
      check_admission(a, limits_, table_.snapshot_position_, warming_up(), where);
      state = {.used = true,
               .known = static_cast<int32_t>(a.tokens.size()),
               .position = a.cached_tokens,
               .max_length = a.max_length,
               .chunked_until = limits_.hybrid ? a.prompt_length / 64 * 64 : 0};
    }
  }

  void check_replacements() {
    std::set<std::pair<int32_t, int32_t>> seen;
    for (size_t i = 0; i < plan_.replace.size(); ++i) {
      const auto [index, place, replacement] = plan_.replace[i];
      const std::string where = entry("replace", i, index);
      const State& state = used_slot(index, where);
      const int64_t end = (static_cast<int64_t>(place) + 1) * limits_.block_size;
      if (place < 0 || place >= state.blocks || end > state.position)
        broken(where, "names block " + std::to_string(place) + " of the table, which is not computed yet.");
      if (!seen.emplace(index, place).second) broken(where, "replaces the same block twice.");
      ++whole_block(replacement, where).holders;
      --block(table_.slots_[index]->blocks[place], where).holders;
    }
  }

  void check_blocks() {
    for (size_t i = 0; i < plan_.blocks.size(); ++i) {
      const auto [index, appended] = plan_.blocks[i];
      const std::string where = entry("blocks", i, index);
      State& state = used_slot(index, where);
      ++state.blocks;
      if (static_cast<int64_t>(state.blocks) * limits_.block_size <= state.position) {
        ++whole_block(appended, where).holders;
        continue;
      }
      BlockState& written = block(appended, where);
      if (written.holders > 0) {
        broken(where,
               "names block " + std::to_string(appended) + " to be written, which another sequence holds.");
      }
      written = {.holders = 1, .whole = false};
    }
  }

  void check_rows() {
    int64_t total = 0;
    for (size_t i = 0; i < plan_.rows.size(); ++i) {
      const auto [index, count] = plan_.rows[i];
      const std::string where = entry("rows", i, index);
      State& state = used_slot(index, where);
      if (state.in_rows) broken(where, "names a slot twice.");
      state.in_rows = true;
      if (state.finished && !warming_up()) broken(where, "advances a sequence that has ended.");
      if (count < 1) broken(where, "has a count below 1.");
      const int64_t end = static_cast<int64_t>(state.position) + count;
      if (end > state.known) check_draft_rows(state, end, where);
      if (end > static_cast<int64_t>(state.blocks) * limits_.block_size) {
        broken(where, "goes beyond the blocks of the sequence (" + std::to_string(state.blocks) + ").");
      }
      if (limits_.bidirectional && end != state.known) {
        broken(where, "ends at " + std::to_string(end) + " of " + std::to_string(state.known) +
                          " tokens: where attention is bidirectional, all are computed in one step.");
      }
      if (end < state.chunked_until && end % 64 != 0) {
        broken(where, "ends a prefill chunk at " + std::to_string(end) +
                          ": below the prompt's last multiple of 64, hybrid models need a multiple of 64.");
      }
      state.saved = state.position;
      state.position = static_cast<int32_t>(std::min<int64_t>(end, state.known));
      total += count;
    }
    if (total > limits_.max_tokens) {
      broken("rows", "hold " + std::to_string(total) + " tokens, above maxNumBatchedTokens (" +
                         std::to_string(limits_.max_tokens) + ").");
    }
  }

  void check_draft_rows(const State& state, int64_t end, const std::string& where) const {
    if (end > state.known + limits_.drafts) {
      broken(where, "goes beyond the known tokens (" + std::to_string(state.known) + ") and the " +
                        std::to_string(limits_.drafts) + " drafts that a slot may hold.");
    }
    // The row of the last token samples nothing that counts.
    if (end >= state.max_length)
      broken(where, "verifies drafts up to maxLength (" + std::to_string(state.max_length) + ").");
  }

  void check_drafts() const {
    const auto check = [&](int32_t drafts, const char* where) {
      if (drafts >= 0 && drafts <= limits_.drafts) return;
      broken(where, "asks for " + std::to_string(drafts) + " drafts; a slot may hold 0 to " +
                        std::to_string(limits_.drafts) + ".");
    };
    check(plan_.drafts, "drafts");
    if (plan_.warmup) check(plan_.warmup->accepted_drafts, "warmup.acceptedDrafts");
  }

  void check_saves() {
    std::set<int32_t> written;
    for (size_t i = 0; i < plan_.saves.size(); ++i) {
      const auto [index, position, snapshot] = plan_.saves[i];
      const std::string where = entry("saves", i, index);
      State& state = used_slot(index, where);
      check_snapshot(snapshot, limits_, where);
      if (!written.insert(snapshot).second) broken(where, "writes a snapshot that another entry writes.");
      if (!state.in_rows || position <= state.saved || position > state.position) {
        broken(where, "saves the state at " + std::to_string(position) +
                          ", which no row of this step after the slot's earlier saves computes.");
      }
      if (position % 64 != 0 || position > state.chunked_until) {
        broken(where, "saves the state at " + std::to_string(position) +
                          ": only multiples of 64 within the prompt can be reused.");
      }
      state.saved = position;
    }
  }

  const SlotTable& table_;
  const SlotLimits& limits_;
  const StepPlan& plan_;
  std::vector<State> slots_;
  std::unordered_map<int32_t, BlockState> blocks_;  // those that the plan touches
};

void SlotTable::check(const StepPlan& plan) const { PlanChecker(*this, plan).run(); }

}  // namespace llmservice
