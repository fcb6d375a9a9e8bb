// Broken checkpoints: each is refused with its own reason and a message that names file and tensor.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/model.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

std::unique_ptr<Model> load(const TempDir& dir, Backend& backend, DType keep, const ModelProgress& progress) {
  const ModelOptions options{.max_tokens = 80,
                             .keep = keep,
                             .caches = {.block_size = 16, .slots = 4, .kv_dtype = keep},
                             .shard = {}};
  const auto source = dir.checkpoint();
  const Checkpoint checkpoint(*source);
  return std::make_unique<Model>(checkpoint, source->config, backend, options, progress);
}

std::string reason_of_loading(const TempDir& dir, std::string* message) {
  ReferenceBackend backend;
  return failure_of([&] { load(dir, backend, DType::kBF16, [](auto, auto) {}); }, message);
}

TEST(Checkpoint, NamesAFileThatIsNotThere) {
  TempDir dir;
  write_checkpoint(dir, tiny_llama_config(), tiny_llama_tensors());
  std::filesystem::remove(dir.path() / kWeightsFile);
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "CheckpointIncomplete");
  EXPECT_TRUE(contains(message, kWeightsFile));
}

TEST(Checkpoint, ThatBecameShorterIsCorrupt) {
  TempDir dir;
  write_checkpoint(dir, tiny_llama_config(), tiny_llama_tensors());
  std::filesystem::resize_file(dir.path() / kWeightsFile, 4096);
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "ended early"));
}

TEST(Checkpoint, ReadsTensorsOfSeveralFiles) {
  TempDir dir;
  write_checkpoint(dir, tiny_llama_config(), tiny_llama_tensors());
  CheckpointSource source = *dir.checkpoint();
  std::filesystem::copy(dir.path() / kWeightsFile, dir.path() / "other");
  source.tensors.back().file = "other";
  dir.keep(std::move(source));
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "") << message;
}

struct TensorCase {
  const char* name;
  void (*breaks)(Tensors&);
  const char* reason;
  const char* says;
};

StoredTensor fp8_like(const StoredTensor& tensor) {
  return {"F8_E4M3", tensor.shape, std::string(tensor.bytes.size() / 2, '\x38')};
}

constexpr const char* kUp = "model.layers.0.mlp.up_proj.weight";
constexpr const char* kDown = "model.layers.0.mlp.down_proj.weight";
constexpr const char* kDownScale = "model.layers.0.mlp.down_proj.weight_scale_inv";
StoredTensor one_scale() { return {"F32", {1, 1}, std::string("\0\0\x80\x3f", 4)}; }

class BrokenTensor : public ::testing::TestWithParam<TensorCase> {};

TEST_P(BrokenTensor, IsRefusedWithItsReason) {
  TempDir dir;
  Tensors tensors = tiny_llama_tensors();
  GetParam().breaks(tensors);
  write_checkpoint(dir, tiny_llama_config(), tensors);
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), GetParam().reason) << message;
  EXPECT_TRUE(contains(message, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenTensor,
    ::testing::Values(TensorCase{"missing", [](Tensors& t) { t.erase(kUp); }, "CheckpointIncomplete", kUp},
                      TensorCase{"missing_embedding",
                                 [](Tensors& t) { t.erase("model.embed_tokens.weight"); },
                                 "CheckpointIncomplete", "embed_tokens"},
                      TensorCase{"other_shape",
                                 [](Tensors& t) {
                                   t[kUp].shape = {64, 96};
                                 },
                                 "CheckpointCorrupt", "[64, 96]"},
                      TensorCase{"other_type", [](Tensors& t) { t[kDown].dtype = "I16"; },
                                 "UnsupportedQuantization", "I16"},
                      TensorCase{"fp8_without_scale", [](Tensors& t) { t[kDown] = fp8_like(t[kDown]); },
                                 "CheckpointIncomplete", kDownScale},
                      TensorCase{"bf16_with_scale", [](Tensors& t) { t[kDownScale] = one_scale(); },
                                 "CheckpointCorrupt", kDownScale},
                      TensorCase{"fp8_not_a_number",
                                 [](Tensors& t) {
                                   t[kDown] = fp8_like(t[kDown]);
                                   t[kDown].bytes[77] = '\xff';
                                   t[kDownScale] = one_scale();
                                 },
                                 "CheckpointCorrupt", "not numbers"},
                      TensorCase{"mixed_types_in_one_matrix",
                                 [](Tensors& t) {
                                   t[kUp] = fp8_like(t[kUp]);
                                   t["model.layers.0.mlp.up_proj.weight_scale_inv"] = one_scale();
                                 },
                                 "UnsupportedQuantization", "gate_proj"},
                      TensorCase{"fp8_sound",
                                 [](Tensors& t) {
                                   t[kDown] = fp8_like(t[kDown]);
                                   t[kDownScale] = one_scale();
                                 },
                                 "", ""}),
    [](const auto& info) { return info.param.name; });

TEST(Checkpoint, SkipsVisionAndDraftTensors) {
  TempDir dir;
  write_checkpoint(dir, tiny_hybrid_config(), tiny_hybrid_tensors());
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "") << message;
}

// As GPUs are.
class BackendOfTiles final : public ReferenceBackend {
 public:
  bool runs_all_models() const override { return false; }
};

TEST(Checkpoint, OfAModelThatABackendLacksOperationsForIsRefusedByTheirNames) {
  TempDir dir;
  ModelConfig config = tiny_llama_config();
  const auto refusal = [&] {
    write_checkpoint(dir, config, tiny_llama_tensors());
    BackendOfTiles backend;
    std::string message;
    const std::string reason =
        failure_of([&] { load(dir, backend, DType::kBF16, [](auto, auto) {}); }, &message);
    return reason + ": " + message;
  };
  EXPECT_EQ(refusal(), ": ");
  config.head_dim = 528;
  EXPECT_EQ(refusal(),
            "UnsupportedArchitecture: llama runs on CPUs alone: there are no GPU kernels for heads of more "
            "than 512 features.");
  config.head_dim = 12;
  EXPECT_TRUE(refusal().ends_with("heads that are no multiple of 16 features."));
  config.head_dim = 524;
  EXPECT_TRUE(
      refusal().ends_with("heads that are no multiple of 16 features, heads of more than 512 features."));
}

TEST(Checkpoint, ProgressReachesTheTotalAndNeverPassesIt) {
  TempDir dir;
  write_checkpoint(dir, tiny_hybrid_config(), tiny_hybrid_tensors());
  ReferenceBackend backend;
  uint64_t last = 0;
  uint64_t whole_size = 0;
  load(dir, backend, DType::kF32, [&](uint64_t done, uint64_t total) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, total);
    last = done;
    whole_size = total;
  });
  EXPECT_EQ(last, whole_size);
  EXPECT_GT(whole_size, 0U);
}

}  // namespace
}  // namespace llmservice
