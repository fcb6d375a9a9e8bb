// Sequences that start from what another computed: shared blocks and saved states, on any backend.
#pragma once

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {

struct Output {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  bool operator==(const Output&) const = default;
};

inline void add(Output& out, const StepResult& result) {
  out.tokens.insert(out.tokens.end(), result.tokens.begin(), result.tokens.end());
  out.logprobs.insert(out.logprobs.end(), result.logprobs.begin(), result.logprobs.end());
}

// An engine of the tiny hybrid with room for three sequences of 180 tokens and two states.
class SharedPrefixTest : public ::testing::Test {
 protected:
  void load(std::unique_ptr<Backend> backend, DType dtype) {
    write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
    const EngineOptions options{.checkpoint = dir_.checkpoint(),
                                .block_size = 16,
                                .num_blocks = 48,
                                .max_num_seqs = 3,
                                .num_state_snapshots = 2,
                                .max_model_len = 256,
                                .max_num_batched_tokens = 512,
                                .dtype = dtype};
    engine_ = std::make_unique<Engine>(options, std::move(backend), [](auto, auto) {});
  }

  // 150 tokens; `cached` of them, and the state in `snapshot`, are those of the first blocks of slot 0.
  StepPlan begin(int32_t slot, int32_t cached, std::optional<int32_t> snapshot) {
    StepPlan plan;
    plan.admit = {{.slot = slot,
                   .tokens = prompt(150),
                   .cached_tokens = cached,
                   .snapshot = snapshot,
                   .prompt_length = 150,
                   .max_length = 180,
                   .stop_tokens = {},
                   .sampling = {.temperature = 0.8F, .seed = 11, .top_logprobs = 3}}};
    for (int32_t i = 0; i < 12; ++i) plan.blocks.push_back({slot, (i < cached / 16 ? 0 : slot * 12) + i});
    plan.rows = {{slot, 150 - cached}};
    return plan;
  }

  // The plan's step and `decodes` further tokens of the slot.
  Output run(const StepPlan& plan, int32_t slot, int32_t decodes) {
    Output out;
    add(out, engine_->step(plan));
    for (int32_t i = 0; i < decodes; ++i) {
      StepPlan decode;
      decode.rows = {{slot, 1}};
      add(out, engine_->step(decode));
    }
    return out;
  }

  void expect_same_bits_from_blocks_and_states() {
    const Output plain = run(begin(0, 0, std::nullopt), 0, 5);
    StepPlan saving = begin(0, 0, std::nullopt);
    saving.release = {0};
    saving.saves = {{0, 64, 1}, {0, 128, 0}};
    EXPECT_EQ(run(saving, 0, 5), plain) << "saving states changes nothing";
    EXPECT_EQ(run(begin(1, 128, 0), 1, 5), plain);
    StepPlan shorter = begin(2, 64, 1);
    EXPECT_EQ(run(shorter, 2, 5), plain);
    // The reader's blocks and the owner's may go in any order.
    StepPlan again = begin(1, 128, 0);
    again.release = {0, 1};
    EXPECT_EQ(run(again, 1, 5), plain);
  }

  // A step whose middle sequence alone saves its state: all lie where they do without it.
  void expect_saves_to_change_no_neighbour() {
    std::vector<Output> plain;
    for (int32_t slot = 0; slot < 3; ++slot) {
      plain.push_back(run(begin(slot, 0, std::nullopt), slot, 3));
      StepPlan gone;
      gone.release = {slot};
      engine_->step(gone);
    }
    StepPlan together;
    for (int32_t slot = 0; slot < 3; ++slot) {
      const StepPlan one = begin(slot, 0, std::nullopt);
      together.admit.push_back(one.admit.front());
      together.blocks.insert(together.blocks.end(), one.blocks.begin(), one.blocks.end());
      together.rows.push_back(one.rows.front());
    }
    together.saves = {{1, 64, 0}};
    const StepResult result = engine_->step(together);
    for (size_t slot = 0; slot < 3; ++slot) EXPECT_EQ(result.tokens.at(slot), plain[slot].tokens.front());
    for (int32_t slot = 0; slot < 3; ++slot) {
      StepPlan decode;
      decode.rows = {{slot, 1}};
      for (size_t i = 1; i < 4; ++i) EXPECT_EQ(engine_->step(decode).tokens.at(0), plain[slot].tokens.at(i));
    }
  }

  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace llmservice::testing
