// The rules of a step plan, checked before anything is computed. A broken rule is a bug of the caller, so the
// first one is named and the engine stays as it was.
#include <algorithm>
#include <cmath>

#include "engine/slots.h"
#include "ops/error.h"

namespace llmservice {
namespace {

constexpr int32_t kMaxTopLogprobs = 20;

[[noreturn]] void broken(const std::string& where, const std::string& rule) {
  throw EngineError("EngineFault",
                    "The step plan is invalid: " + where + " " + rule + " Nothing was computed.");
}

std::string entry(const char* list, size_t index, int32_t slot) {
  return std::string(list) + "[" + std::to_string(index) + "] (slot " + std::to_string(slot) + ")";
}

void check_sampling(const SamplingParams& s, const std::string& where) {
  const auto require = [&](bool holds, const char* rule) {
    if (!holds) broken(where, rule);
  };
  require(std::isfinite(s.temperature) && s.temperature >= 0, "has a temperature below 0.");
  require(s.top_p > 0 && s.top_p <= 1, "has topP outside (0, 1].");
  require(s.top_k >= 0, "has a negative topK.");
  require(s.min_p >= 0 && s.min_p <= 1, "has minP outside [0, 1].");
  require(std::isfinite(s.repetition_penalty) && s.repetition_penalty > 0,
          "has a repetitionPenalty that is not above 0.");
  require(std::isfinite(s.presence_penalty) && std::isfinite(s.frequency_penalty),
          "has a penalty that is not finite.");
  require(!s.top_logprobs || (*s.top_logprobs >= 0 && *s.top_logprobs <= kMaxTopLogprobs),
          "asks for topLogprobs outside 0 to 20.");
}

}  // namespace

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
                   .chunked_until = slot.chunked_until,
                   .blocks = static_cast<int32_t>(slot.blocks.size())};
    }
  }

  void run() {
    check_releases();
    check_admissions();
    check_blocks();
    check_rows();
  }

 private:
  struct State {
    bool used = false;
    bool finished = false;
    bool in_rows = false;
    int32_t known = 0;
    int32_t position = 0;
    int32_t chunked_until = 0;
    int32_t blocks = 0;
  };

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
      for (const int32_t block : table_.slots_[plan_.release[i]]->blocks) freed_.push_back(block);
    }
    std::ranges::sort(freed_);
  }

  void check_admissions() {
    for (size_t i = 0; i < plan_.admit.size(); ++i) {
      const Admission& a = plan_.admit[i];
      const std::string where = entry("admit", i, a.slot);
      State& state = slot(a.slot, where);
      const auto known = static_cast<int32_t>(a.tokens.size());
      if (state.used) broken(where, "names a slot that already holds a sequence.");
      if (known == 0) broken(where, "has no tokens.");
      if (a.prompt_length < 1 || a.prompt_length > known)
        broken(where, "has a promptLength outside its tokens.");
      if (a.max_length <= known) broken(where, "has a maxLength that leaves no token to generate.");
      if (a.max_length > limits_.max_length) {
        broken(where, "has a maxLength above maxModelLen (" + std::to_string(limits_.max_length) + ").");
      }
      const auto outside = [&](int32_t token) { return token < 0 || token >= limits_.vocab; };
      if (std::ranges::any_of(a.tokens, outside)) {
        broken(where, "has a token outside the vocabulary of " + std::to_string(limits_.vocab) + ".");
      }
      check_sampling(a.sampling, where);
      if (a.prompt_logprobs && !a.sampling.top_logprobs)
        broken(where, "has promptLogprobs without topLogprobs.");
      state = {.used = true, .known = known, .chunked_until = limits_.hybrid ? a.prompt_length / 64 * 64 : 0};
    }
  }

  void check_blocks() {
    std::vector<int32_t> given;
    for (size_t i = 0; i < plan_.blocks.size(); ++i) {
      const auto [index, block] = plan_.blocks[i];
      const std::string where = entry("blocks", i, index);
      State& state = used_slot(index, where);
      if (block < 0 || block >= limits_.num_blocks) {
        broken(where, "names a block outside 0 to " + std::to_string(limits_.num_blocks - 1) + ".");
      }
      if (table_.block_taken_[block] && !std::ranges::binary_search(freed_, block)) {
        broken(where, "names block " + std::to_string(block) + ", which another sequence holds.");
      }
      given.push_back(block);
      ++state.blocks;
    }
    std::ranges::sort(given);
    const auto twice = std::ranges::adjacent_find(given);
    if (twice != given.end()) broken("blocks", "gives block " + std::to_string(*twice) + " twice.");
  }

  void check_rows() {
    int64_t total = 0;
    for (size_t i = 0; i < plan_.rows.size(); ++i) {
      const auto [index, count] = plan_.rows[i];
      const std::string where = entry("rows", i, index);
      State& state = used_slot(index, where);
      if (state.in_rows) broken(where, "names a slot twice.");
      state.in_rows = true;
      if (state.finished) broken(where, "advances a sequence that has ended.");
      if (count < 1) broken(where, "has a count below 1.");
      const int64_t end = static_cast<int64_t>(state.position) + count;
      if (end > state.known)
        broken(where, "goes beyond the known tokens (" + std::to_string(state.known) + ").");
      if (end > static_cast<int64_t>(state.blocks) * limits_.block_size) {
        broken(where, "goes beyond the blocks of the sequence (" + std::to_string(state.blocks) + ").");
      }
      if (end < state.chunked_until && end % 64 != 0) {
        broken(where, "ends a prefill chunk at " + std::to_string(end) +
                          ": below the prompt's last multiple of 64, hybrid models need a multiple of 64.");
      }
      total += count;
    }
    if (total > limits_.max_tokens) {
      broken("rows", "hold " + std::to_string(total) + " tokens, above maxNumBatchedTokens (" +
                         std::to_string(limits_.max_tokens) + ").");
    }
  }

  const SlotTable& table_;
  const SlotLimits& limits_;
  const StepPlan& plan_;
  std::vector<State> slots_;
  std::vector<int32_t> freed_;
};

void SlotTable::check(const StepPlan& plan) const { PlanChecker(*this, plan).run(); }

}  // namespace llmservice
