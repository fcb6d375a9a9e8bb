// Shared blocks and saved states: a sequence that starts from what another computed continues with the same
// bits.
#include "backends/cpu/backend.h"
#include "ops/reference.h"
#include "shared_prefix_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

class SharedPrefix : public SharedPrefixTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    auto backend = std::string(GetParam()) == "reference"
                       ? std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>())
                       : make_cpu_backend({.threads = 2, .isa = GetParam()});
    load(std::move(backend), DType::kF32);
  }
};

TEST_P(SharedPrefix, GivesTheSameBits) { expect_same_bits_from_blocks_and_states(); }

TEST_P(SharedPrefix, SavesChangeNoNeighbour) { expect_saves_to_change_no_neighbour(); }

TEST_P(SharedPrefix, ATwinTakesTheOthersBlocks) {
  const Output plain = run(begin(0, 0, std::nullopt), 0, 5);
  Output twin = run(begin(1, 0, std::nullopt), 1, 2);
  StepPlan swap;
  for (int32_t i = 0; i < 8; ++i) swap.replace.push_back({1, i, i});
  swap.rows = {{1, 1}};
  add(twin, engine_->step(swap));
  // What it had is free: another sequence writes to it.
  StepPlan third = begin(2, 0, std::nullopt);
  for (int32_t i = 0; i < 8; ++i) third.blocks[i].block = 12 + i;
  EXPECT_EQ(run(third, 2, 5), plain);
  StepPlan rest;
  rest.rows = {{1, 1}};
  for (int32_t i = 0; i < 2; ++i) add(twin, engine_->step(rest));
  EXPECT_EQ(twin, plain);
}

INSTANTIATE_TEST_SUITE_P(Backends, SharedPrefix, ::testing::Values("reference", "portable", "auto"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace llmservice
