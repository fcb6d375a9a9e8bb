// Drafts by the model's own layer: they depend on the sequence alone, as everything else does, and on several
// ranks they are those of one.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "failures.h"
#include "parallel_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kDrafts = 3;

Request request(int32_t slot, int32_t length, float temperature) {
  return {.admission = {.slot = slot,
                        .tokens = prompt(length, slot),
                        .prompt_length = length,
                        .max_length = length + 24,
                        .stop_tokens = {},
                        .sampling = {.temperature = temperature, .seed = 5, .top_logprobs = 2}}};
}

class Mtp : public ::testing::Test {
 protected:
  void SetUp() override {
    Tensors tensors = tiny_hybrid_tensors();
    add_mtp(tensors);
    write_checkpoint(dir_, tiny_hybrid_config(), tensors);
  }

  EngineOptions options(DraftMethod method, std::optional<RankPlace> place = std::nullopt) const {
    return room_for_four(dir_, {method, method == DraftMethod::kNone ? 0 : kDrafts}, place, 1);
  }
  std::unique_ptr<Engine> load(DraftMethod method = DraftMethod::kMtp) const {
    return std::make_unique<Engine>(options(method), make_cpu_backend({.threads = 2}), [](auto, auto) {});
  }
  std::unique_ptr<Engine> load_rank(int32_t rank, int32_t segment) const {
    return std::make_unique<Engine>(options(DraftMethod::kMtp, RankPlace{rank, 2, segment}),
                                    std::make_unique<ReferenceBackend>(), [](auto, auto) {});
  }

  TempDir dir_;
};

// The drafts held after a prompt that is computed in the given chunks.
std::vector<int32_t> drafts_after(Engine& engine, int32_t slot, const std::vector<int32_t>& chunks) {
  StepPlan plan;
  int32_t length = 0;
  for (const int32_t chunk : chunks) length += chunk;
  plan.admit = {request(0, length, 0).admission};
  plan.admit[0].slot = slot;
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({slot, slot * kBlocksPerSlot + b});
  StepResult result;
  for (const int32_t chunk : chunks) {
    plan.rows = {{slot, chunk}};
    plan.drafts = kDrafts;
    result = engine.step(plan);
    plan = {};
  }
  plan.release = {slot};
  engine.step(plan);
  return result.drafts.at(0).tokens;
}

TEST_F(Mtp, DraftsDoNotDependOnChunksOrOnWhatTheBlocksHeldBefore) {
  const auto engine = load();
  const auto whole = drafts_after(*engine, 0, {150});
  EXPECT_EQ(whole.size(), static_cast<size_t>(kDrafts));
  EXPECT_EQ(drafts_after(*engine, 0, {64, 64, 22}), whole);
  drafts_after(*engine, 1, {37});
  EXPECT_EQ(drafts_after(*engine, 1, {128, 22}), whole);
}

TEST_F(Mtp, OutputsAreThoseWithoutDrafts) {
  for (const float temperature : {0.0F, 1.0F}) {
    std::vector<Request> requests{request(0, 130, temperature), request(1, 5, temperature),
                                  request(2, 64, temperature)};
    requests[1].joins_at = 1;
    requests[2].joins_at = 2;
    const auto plain = run_requests(*load(DraftMethod::kNone), requests, 0);
    const auto drafted = run_requests(*load(), requests, kDrafts);
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(drafted[i].same_as(plain[i])) << i;
  }
}

TEST_F(Mtp, ASequenceThatStartsFromSharedBlocksDraftsToo) {
  const auto engine = load();
  Request owner = request(0, 150, 0);
  StepPlan first;
  first.admit = {owner.admission};
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) first.blocks.push_back({0, b});
  first.rows = {{0, 150}};
  first.saves = {{0, 128, 0}};
  first.drafts = kDrafts;
  engine->step(first);
  Request reader = owner;
  reader.admission.slot = 1;
  reader.admission.cached_tokens = 128;
  reader.admission.snapshot = 0;
  const auto drafted = run_requests(*engine, {reader}, kDrafts);
  EXPECT_TRUE(drafted[0].same_as(run_requests(*load(DraftMethod::kNone), {owner}, 0)[0]));
}

TEST_F(Mtp, TwoRanksDraftAsOne) {
  const std::vector<Request> requests{request(0, 70, 0), request(1, 9, 0.9F)};
  const auto one =
      run_requests(*std::make_unique<Engine>(options(DraftMethod::kMtp), std::make_unique<ReferenceBackend>(),
                                             [](auto, auto) {}),
                   requests, kDrafts);
  const TestSegment segment(2);
  std::thread follower([&] { load_rank(1, segment.descriptor())->follow(); });
  std::vector<Said> two;
  {
    const auto engine = load_rank(0, segment.descriptor());
    two = run_requests(*engine, requests, kDrafts);
  }
  follower.join();
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(two[i].tokens, one[i].tokens);
    EXPECT_EQ(two[i].steps, one[i].steps) << "other drafts were accepted";
  }
}

TEST_F(Mtp, ACheckpointWithoutTheLayerIsRefused) {
  Tensors tensors = tiny_hybrid_tensors();
  tensors.erase("mtp.fc.weight");
  write_checkpoint(dir_, tiny_hybrid_config(), tensors);
  std::string message;
  EXPECT_EQ(failure_of([&] { load(); }, &message), "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "mtp.fc.weight")) << message;
  add_mtp(tensors);
  tensors.erase("mtp.layers.0.mlp.up_proj.weight");
  write_checkpoint(dir_, tiny_hybrid_config(), tensors);
  EXPECT_EQ(failure_of([&] { load(); }, &message), "CheckpointIncomplete");
  EXPECT_TRUE(contains(message, "mtp.layers.0.mlp.up_proj.weight")) << message;
}

}  // namespace
}  // namespace llmservice
