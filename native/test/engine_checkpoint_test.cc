// Broken checkpoints: each is refused with its own reason and a message that names file and tensor.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/model.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using nlohmann::json;
using namespace llmservice::testing;

std::unique_ptr<Model> load(const std::filesystem::path& dir, Backend& backend) {
  const ModelOptions options{.max_tokens = 80,
                             .keep = DType::kBF16,
                             .caches = {.block_size = 16, .slots = 4, .kv_dtype = DType::kBF16},
                             .shard = {}};
  const Checkpoint checkpoint(dir);
  return std::make_unique<Model>(checkpoint, read_model_config(dir), backend, options, [](auto, auto) {});
}

std::string reason_of_loading(const TempDir& dir, std::string* message) {
  ReferenceBackend backend;
  return failure_of([&] { load(dir.path(), backend); }, message);
}

struct HeaderCase {
  const char* name;
  std::string file;
  const char* says;
};

class CorruptFile : public ::testing::TestWithParam<HeaderCase> {};

TEST_P(CorruptFile, IsRefusedAsCorrupt) {
  TempDir dir;
  dir.write("model.safetensors", GetParam().file);
  std::string message;
  EXPECT_EQ(failure_of([&] { Checkpoint{dir.path()}; }, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "model.safetensors"));
  EXPECT_TRUE(contains(message, GetParam().says));
}

std::string with_header(const std::string& header) { return safetensors_text(header, std::string(8, '\0')); }

INSTANTIATE_TEST_SUITE_P(
    Table, CorruptFile,
    ::testing::Values(
        HeaderCase{"empty", "", "shorter"},
        HeaderCase{"length_beyond_file", std::string("\xff\xff\xff\x00\x00\x00\x00\x00{}", 10),
                   "header length"},
        HeaderCase{"length_overflow", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "header length"},
        HeaderCase{"not_json", with_header("{\"a\":"), "JSON"},
        HeaderCase{"not_object", with_header("[1]"), "JSON"},
        HeaderCase{"entry_not_object", with_header(R"({"t":3})"), "tensor t is malformed"},
        HeaderCase{"negative_offset",
                   with_header(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})"), "malformed"},
        HeaderCase{"reversed", with_header(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"),
                   "malformed"},
        HeaderCase{"truncated", with_header(R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"),
                   "truncated"},
        HeaderCase{"shape_disagrees",
                   with_header(R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"),
                   "tensor t holds 8 bytes"},
        HeaderCase{
            "shape_overflows",
            with_header(R"({"t":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,8]}})"),
            "overflows"}),
    [](const auto& info) { return info.param.name; });

TEST(Checkpoint, WithoutWeightsIsIncomplete) {
  TempDir dir;
  EXPECT_EQ(failure_of([&] { Checkpoint{dir.path()}; }), "CheckpointIncomplete");
}

TEST(Checkpoint, NamesEveryMissingShard) {
  TempDir dir;
  dir.write("model.safetensors.index.json",
            R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  std::string message;
  EXPECT_EQ(failure_of([&] { Checkpoint{dir.path()}; }, &message), "CheckpointIncomplete");
  EXPECT_TRUE(contains(message, "one.safetensors, two.safetensors"));
}

TEST(Checkpoint, RefusesAnIndexThatNamesAPath) {
  TempDir dir;
  dir.write("model.safetensors.index.json", R"({"weight_map":{"a":"../one.safetensors"}})");
  EXPECT_EQ(failure_of([&] { Checkpoint{dir.path()}; }), "CheckpointCorrupt");
}

TEST(Checkpoint, ReadsShardsAndRefusesOneThatLacksItsTensor) {
  TempDir dir;
  Tensors first = tiny_llama_tensors();
  Tensors second;
  second.insert(first.extract("model.norm.weight"));
  json map;
  for (const auto& [name, tensor] : first) map[name] = "one.safetensors";
  map["model.norm.weight"] = "two.safetensors";
  dir.write("config.json", tiny_llama_config().dump());
  dir.write("one.safetensors", to_safetensors(first));
  dir.write("two.safetensors", to_safetensors(second));
  dir.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "") << message;
  map["model.norm.weight"] = "one.safetensors";
  dir.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  EXPECT_EQ(reason_of_loading(dir, &message), "CheckpointIncomplete");
  EXPECT_TRUE(contains(message, "model.norm.weight"));
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
                      TensorCase{"blocks_outside_of_gguf", [](Tensors& t) { t[kDown].dtype = "Q8_0"; },
                                 "UnsupportedQuantization", "Q8_0"},
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

TEST(Checkpoint, RefusesFp8InAModuleListedAsNotConverted) {
  TempDir dir;
  Tensors tensors = tiny_llama_tensors();
  tensors[kDown] = fp8_like(tensors[kDown]);
  tensors[kDownScale] = one_scale();
  json config = tiny_llama_config();
  config["quantization_config"] = {{"quant_method", "fp8"},
                                   {"weight_block_size", {128, 128}},
                                   {"modules_to_not_convert", {"model.language_model.layers.0.mlp"}}};
  write_checkpoint(dir, config, tensors);
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "modules_to_not_convert"));
}

TEST(Checkpoint, SkipsVisionAndDraftTensors) {
  TempDir dir;
  write_checkpoint(dir, tiny_hybrid_config(), tiny_hybrid_tensors());
  std::string message;
  EXPECT_EQ(reason_of_loading(dir, &message), "") << message;
}

TEST(Checkpoint, ProgressReachesTheTotalAndNeverPassesIt) {
  TempDir dir;
  write_checkpoint(dir, tiny_hybrid_config(), tiny_hybrid_tensors());
  ReferenceBackend backend;
  const Checkpoint checkpoint(dir.path());
  const ModelOptions options{.max_tokens = 80,
                             .keep = DType::kF32,
                             .caches = {.block_size = 16, .slots = 4, .kv_dtype = DType::kF32},
                             .shard = {}};
  uint64_t last = 0;
  uint64_t whole_size = 0;
  const Model model(checkpoint, read_model_config(dir.path()), backend, options,
                    [&](uint64_t done, uint64_t total) {
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
