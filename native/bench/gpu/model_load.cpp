#include "model_load.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../median.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kChunk = 64;  // prompts of hybrids are cut on its multiples

class LoadRun {
 public:
  LoadRun(Engine& engine, const Load& load, const LoadLimits& limits)
      : engine_(engine), load_(load), limits_(limits), sequences_(load.sequences) {}

  LoadTimes run(const OnStep& on_step) {
    const auto begin = std::chrono::steady_clock::now();
    while (done_ < load_.sequences) {
      StepPlan plan = next_plan();
      if (on_step) on_step(decoding_, prefills_);
      StepResult result;
      const double seconds = seconds_of([&] { result = engine_.step(plan); });
      take(result, seconds);
      const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
      if (times_.first_token_seconds == 0 && sequences_.front().tokens.size() > prompt_length()) {
        times_.first_token_seconds = all.count();
      }
      times_.seconds = all.count();
    }
    engine_.step(release_);
    for (Sequence& sequence : sequences_) times_.said.push_back(std::move(sequence.tokens));
    return std::move(times_);
  }

 private:
  struct Sequence {
    std::vector<int32_t> tokens;
    int32_t computed = 0;
    int32_t drafts = 0;
    bool done = false;
  };

  size_t prompt_length() const { return static_cast<size_t>(load_.prompt); }

  void admit(int32_t slot, StepPlan& plan) {
    Sequence& sequence = sequences_[slot];
    for (int32_t i = 0; i < load_.prompt; ++i) {
      sequence.tokens.push_back(static_cast<int32_t>((i * 7919LL + slot * 104729LL) % limits_.vocab));
    }
    const int32_t length = load_.prompt + load_.generated;
    const int32_t blocks = (length + limits_.block_size - 1) / limits_.block_size;
    plan.admit.push_back({.slot = slot,
                          .tokens = sequence.tokens,
                          .prompt_length = load_.prompt,
                          .max_length = length,
                          .stop_tokens = {},
                          .sampling = {}});
    for (int32_t b = 0; b < blocks; ++b) plan.blocks.push_back({slot, slot * blocks + b});
  }

  StepPlan next_plan() {
    StepPlan plan;
    std::swap(plan.release, release_.release);
    plan.drafts = limits_.drafts;
    int32_t left = limits_.rows;
    decoding_ = 0;
    prefills_ = false;
    for (int32_t slot = 0; slot < load_.sequences; ++slot) {
      Sequence& s = sequences_[slot];
      if (s.done || s.computed < load_.prompt) continue;
      plan.rows.push_back({slot, 1 + s.drafts});
      left -= 1 + s.drafts;
      ++decoding_;
    }
    for (int32_t slot = 0; slot < load_.sequences && left >= kChunk; ++slot) {
      Sequence& s = sequences_[slot];
      if (s.done || s.computed >= load_.prompt) continue;
      if (s.tokens.empty()) admit(slot, plan);
      const int32_t rest = load_.prompt - s.computed;
      const int32_t count = rest <= left ? rest : left / kChunk * kChunk;
      plan.rows.push_back({slot, count});
      s.computed += count;
      left -= count;
      prefills_ = true;
    }
    return plan;
  }

  void end(int32_t slot) {
    if (std::exchange(sequences_[slot].done, true)) return;
    release_.release.push_back(slot);
    ++done_;
  }

  void take(const StepResult& result, double seconds) {
    for (const Fault& fault : result.faults) {
      ++times_.faults;
      end(fault.slot);
    }
    for (size_t i = 0; i < result.tokens.size(); ++i) {
      Sequence& s = sequences_[result.slots[i]];
      s.tokens.push_back(result.tokens[i]);
      if (result.finish[i] != Finish::kNone) end(result.slots[i]);
    }
    if (!prefills_) {
      times_.decode_micros.push_back(1e6 * seconds);
      times_.decode_tokens += static_cast<int64_t>(result.tokens.size());
      times_.accepted += static_cast<int64_t>(result.tokens.size()) - decoding_;
      for (const Sequence& s : sequences_) times_.drafts += s.drafts;
    }
    for (Sequence& s : sequences_) s.drafts = 0;
    for (const auto& [slot, tokens] : result.drafts) {
      sequences_[slot].drafts = static_cast<int32_t>(tokens.size());
    }
  }

  Engine& engine_;
  const Load& load_;
  const LoadLimits& limits_;
  std::vector<Sequence> sequences_;
  StepPlan release_;
  int32_t done_ = 0;
  int32_t decoding_ = 0;
  bool prefills_ = false;
  LoadTimes times_;
};

}  // namespace

double LoadTimes::micros_per_token() const {
  const double all = std::accumulate(decode_micros.begin(), decode_micros.end(), 0.0);
  return all / static_cast<double>(decode_tokens);
}

LoadTimes run_load(Engine& engine, const Load& load, const LoadLimits& limits, const OnStep& on_step) {
  return LoadRun(engine, load, limits).run(on_step);
}

}  // namespace llmservice::bench
