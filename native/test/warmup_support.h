// Plans of a warm-up, for engines of room_for_four().
#pragma once

#include "engine/engine.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {

// `batch` sequences of one known token each, the first of them behind `context` tokens that nobody computed;
// each verifies `drafts` drafts.
struct WarmupDecode {
  int32_t batch;
  int32_t context = 0;
  int32_t drafts = 0;
  int32_t accepted = 0;
};

constexpr int32_t kWarmupBlocks = 3;  // of each sequence, to write to

inline Admission warmup_admission(int32_t slot, int32_t cached, int32_t rows) {
  return {.slot = slot,
          .tokens = std::vector<int32_t>(cached + rows, 3),
          .cached_tokens = cached,
          .prompt_length = cached > 0 && rows == 1 ? cached : cached + rows,
          .max_length = 256,
          .stop_tokens = {},
          .sampling = {}};
}

// Tables repeat the last block where nobody computed.
inline void give_blocks(StepPlan& plan, int32_t slot, int32_t cached, int32_t own) {
  for (int32_t i = 0; i < cached / 16; ++i) plan.blocks.push_back({slot, 63});
  for (int32_t i = 0; i < own; ++i) plan.blocks.push_back({slot, slot * kWarmupBlocks + i});
}

// Runs it three times, and leaves nothing behind.
inline void warm_up(Engine& engine, const WarmupDecode& decode) {
  StepPlan begin;
  StepPlan step;
  StepPlan end;
  begin.warmup = step.warmup = end.warmup = WarmupRun{decode.accepted};
  for (int32_t slot = 0; slot < decode.batch; ++slot) {
    const int32_t cached = slot == 0 ? decode.context : 0;
    begin.admit.push_back(warmup_admission(slot, cached, 1));
    give_blocks(begin, slot, cached, kWarmupBlocks);
    step.rows.push_back({slot, 1 + decode.drafts});
    end.release.push_back(slot);
  }
  step.drafts = decode.drafts;
  engine.step(begin);
  for (int run = 0; run < 3; ++run) engine.step(step);
  engine.step(end);
}

// A prompt's last `rows` rows behind `cached` tokens that nobody computed.
inline void warm_up_prompt(Engine& engine, int32_t cached, int32_t rows) {
  StepPlan plan;
  plan.warmup = WarmupRun{};
  plan.admit = {warmup_admission(0, cached, rows)};
  give_blocks(plan, 0, cached, (rows + 15) / 16);
  plan.rows = {{0, rows}};
  engine.step(plan);
  StepPlan end;
  end.release = {0};
  engine.step(end);
}

}  // namespace llmservice::testing
