// Steps that are run before an engine serves: no bit of what it says later changes, and nothing stays taken.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "failures.h"
#include "warmup_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kDrafts = 3;

Request request(int32_t slot, int32_t length) {
  return {.admission = {.slot = slot,
                        .tokens = prompt(length, slot),
                        .prompt_length = length,
                        .max_length = length + 8,
                        .stop_tokens = {},
                        .sampling = {.top_logprobs = 2}}};
}

class WarmedUp : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      Tensors tensors = tiny_hybrid_tensors();
      add_mtp(tensors);
      write_checkpoint(dir_, tiny_hybrid_config(), tensors);
    } else {
      write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors());
    }
  }
  std::unique_ptr<Engine> load() const {
    const Speculation drafts{GetParam() ? DraftMethod::kMtp : DraftMethod::kNgram, kDrafts};
    return std::make_unique<Engine>(room_for_four(dir_, drafts), make_cpu_backend({.threads = 2}),
                                    [](auto, auto) {});
  }

  TempDir dir_;
};

TEST_P(WarmedUp, ChangesNoBitOfWhatIsSaidLater) {
  const std::vector<Request> requests = {request(0, 70), request(1, 20)};
  const std::vector<Said> expected = run_requests(*load(), requests, kDrafts);
  const auto engine = load();
  warm_up_prompt(*engine, 128, 120);
  for (const int32_t drafts : {0, kDrafts}) {
    warm_up(*engine, {.batch = 1, .context = 192, .drafts = drafts});
    warm_up(*engine, {.batch = 3, .context = 64, .drafts = drafts, .accepted = drafts});
  }
  const std::vector<Said> said = run_requests(*engine, requests, kDrafts);
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_TRUE(said[i].same_as(expected[i])) << "sequence " << i;
}

TEST_P(WarmedUp, LeavesNoBlockThatPassesForComputed) {
  const auto engine = load();
  warm_up_prompt(*engine, 64, 64);
  StepPlan shares;
  shares.admit = {warmup_admission(0, 16, 8)};
  shares.blocks = {{0, 0}};
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(shares); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, GetParam() ? "must have a snapshot" : "shares block 0"));
}

TEST_P(WarmedUp, IsNotForDraftsBeyondWhatASlotHolds) {
  const auto engine = load();
  std::string message;
  const WarmupDecode many{.batch = 1, .accepted = kDrafts + 1};
  EXPECT_EQ(failure_of([&] { warm_up(*engine, many); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "warmup.acceptedDrafts asks for 4 drafts"));
}

INSTANTIATE_TEST_SUITE_P(Models, WarmedUp, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "hybrid" : "llama"; });

}  // namespace
}  // namespace llmservice
