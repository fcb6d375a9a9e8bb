// What an engine takes of a device, which only the emulator counts to the byte, against what the memory plan
// says of it: checkpoint/src/memory/device-memory.test.ts has the same numbers.
#include "drafters_support.h"

namespace llmservice::testing {
namespace {

struct Planned {
  size_t weights;
  size_t workspace;
  size_t device;  // at most
};

Planned planned(const Checkpoint& checkpoint) {
  if (checkpoint.hybrid()) return {191'968, 647'296, 4'447'488};
  if (checkpoint.model == TinyModel::kGlm) return {395'788, 909'440, 4'997'668};
  if (checkpoint.model == TinyModel::kGemma4Moe) return {578'200, 950'400, 4'891'172};
  if (checkpoint.model == TinyModel::kGemma4) return {473'472, 4'026'496, 36'408'576};
  if (checkpoint.model == TinyModel::kGemma4Small) return {456'576, 1'044'608, 4'033'792};
  switch (checkpoint.quantization) {
    case LoadQuantization::kNone:
      return {165'120, 651'392, 4'115'712};
    case LoadQuantization::kFp8:
      return {151'312, 651'392, 4'083'968};
    case LoadQuantization::kInt8:
      return {152'320, 651'392, 4'116'736};
  }
  return {};
}

size_t taken() {
  size_t free = 0;
  size_t total = 0;
  gpu::gpuMemGetInfo(&free, &total);
  return total - free;
}

class DeviceMemoryPlan : public GpuEngine {};

TEST_P(DeviceMemoryPlan, IsWhatAnEngineTakes) {
  const size_t before = taken();
  const auto engine = load_gpu();
  const EngineInfo& info = engine->info();
  const auto [weights, workspace, device] = planned(GetParam());
  EXPECT_EQ(info.weight_bytes, weights);
  EXPECT_EQ(info.workspace_bytes, workspace);
  const size_t caches = 64 * info.kv_bytes_per_block + 4 * info.state_bytes_per_seq;
  const size_t beside = taken() - before - weights - workspace - caches;
  EXPECT_LE(beside, device);
  EXPECT_GT(beside, device / 8) << "the bound is no bound of anything";
}

INSTANTIATE_TEST_SUITE_P(
    Checkpoints, DeviceMemoryPlan,
    ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone},
                      Checkpoint{"llama_fp8", TinyModel::kLlama, LoadQuantization::kFp8},
                      Checkpoint{"llama_int8", TinyModel::kLlama, LoadQuantization::kInt8},
                      Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone},
                      Checkpoint{"glm4_moe", TinyModel::kGlm, LoadQuantization::kNone},
                      Checkpoint{"gemma4_moe", TinyModel::kGemma4Moe, LoadQuantization::kNone},
                      Checkpoint{"gemma4", TinyModel::kGemma4, LoadQuantization::kNone},
                      Checkpoint{"gemma4_small", TinyModel::kGemma4Small, LoadQuantization::kNone}),
    name_of_checkpoint);

class DraftingMemoryPlan : public GpuEngine {};

// Of a llama with an EAGLE-3 draft model, and with one that is a whole model.
TEST_P(GpuDrafters, TakeWhatIsPlanned) {
  const Planned plan = GetParam().method == DraftMethod::kEagle3 ? Planned{322'560, 1'477'632, 6'262'016}
                                                                 : Planned{330'240, 1'341'760, 4'331'776};
  const size_t before = taken();
  const auto engine = drafting();
  const EngineInfo& info = engine->info();
  EXPECT_EQ(info.weight_bytes, plan.weights);
  EXPECT_EQ(info.workspace_bytes, plan.workspace);
  const size_t beside = taken() - before - plan.weights - plan.workspace - 64 * info.kv_bytes_per_block;
  EXPECT_LE(beside, plan.device);
  EXPECT_GT(beside, plan.device / 8) << "the bound is no bound of anything";
}

INSTANTIATE_TEST_SUITE_P(Drafters, GpuDrafters,
                         ::testing::Values(Drafting{"eagle3", false, DraftMethod::kEagle3},
                                           Drafting{"draft_model", false, DraftMethod::kDraftModel}),
                         name_of_drafting);

// The head, 211 rows of 64 in BF16, once more as four tiles of codes and a scale of each.
TEST_P(DraftingMemoryPlan, CountsTheHeadOfDrafts) {
  const auto engine = load(gpu_backend(), {DraftMethod::kMtp, 3});
  EXPECT_EQ(engine->info().weight_bytes, 316'272u);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, DraftingMemoryPlan,
                         ::testing::Values(Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
