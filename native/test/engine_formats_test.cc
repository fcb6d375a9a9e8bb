// Quantized tensors that do not fit together: each is refused by name before a matrix is read.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "failures.h"
#include "model/matrix_part.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using nlohmann::json;
using namespace llmservice::testing;

constexpr const char* kModule = "model.layers.0.mlp.down_proj";  // (200, 160)

StoredTensor zeros(const char* dtype, std::vector<int64_t> shape, int64_t unit) {
  for (const int64_t dim : shape) unit *= dim;
  return {dtype, std::move(shape), std::string(unit, '\0')};
}

Tensors fp8_with(StoredTensor scale, const char* suffix = ".weight_scale") {
  return {{std::string(kModule) + ".weight", zeros("F8_E4M3", {200, 160}, 1)},
          {std::string(kModule) + suffix, std::move(scale)}};
}

StoredTensor one_float(float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return {"F32", {1}, bytes};
}

// compressed-tensors' NVFP4; a test breaks one of the three.
Tensors nvfp4() {
  const std::string module = kModule;
  return {{module + ".weight_packed", zeros("U8", {200, 80}, 1)},
          {module + ".weight_scale", zeros("F8_E4M3", {200, 10}, 1)},
          {module + ".weight_global_scale", one_float(1)}};
}

Tensors broken(Tensors tensors, const std::string& suffix, StoredTensor tensor) {
  tensors[kModule + suffix] = std::move(tensor);
  return tensors;
}

Tensors without(Tensors tensors, const std::string& suffix) {
  tensors.erase(kModule + suffix);
  return tensors;
}

struct FormatCase {
  const char* name;
  Tensors tensors;
  const char* reason;  // empty: accepted
  const char* says;
};

class Format : public ::testing::TestWithParam<FormatCase> {};

TEST_P(Format, IsAcceptedOrRefusedByName) {
  TempDir dir;
  write_checkpoint(dir, tiny_llama_config(), GetParam().tensors);
  const auto source = dir.checkpoint();
  const Checkpoint checkpoint(*source);
  std::string message;
  EXPECT_EQ(failure_of([&] { check_stored_weights(checkpoint); }, &message), GetParam().reason);
  EXPECT_TRUE(contains(message, GetParam().says));
  if (*GetParam().reason != '\0') {
    EXPECT_TRUE(contains(message, kModule));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, Format,
    ::testing::Values(
        FormatCase{"fp8_tensor", fp8_with(zeros("F32", {}, 4)), "", ""},
        FormatCase{"fp8_tensor_of_one", fp8_with(zeros("BF16", {1}, 2)), "", ""},
        FormatCase{"fp8_channel", fp8_with(zeros("BF16", {200, 1}, 2)), "", ""},
        FormatCase{"fp8_block", fp8_with(zeros("F32", {2, 2}, 4), ".weight_scale_inv"), "", ""},
        FormatCase{"fp8_of_another_shape", fp8_with(zeros("F32", {160}, 4)), "UnsupportedQuantization",
                   "takes one scale ([] or [1]), one per row ([200, 1]) or one per 128x128 block ([2, 2])"},
        FormatCase{"fp8_scale_in_e8m0", fp8_with(zeros("F8_E8M0", {2, 2}, 1)), "UnsupportedQuantization",
                   "F8_E8M0"},
        FormatCase{"fp8_scale_in_fp8", fp8_with(zeros("F8_E4M3", {2, 2}, 1)), "UnsupportedQuantization",
                   "F32, BF16 or F16"},
        FormatCase{"fp8_without_scale", without(fp8_with(zeros("F32", {}, 4)), ".weight_scale"),
                   "CheckpointIncomplete", "weight_scale"},
        FormatCase{"int8", broken({}, ".weight", zeros("I8", {200, 160}, 1)), "UnsupportedQuantization",
                   "I8"},
        FormatCase{"int8_by_row",
                   broken(broken({}, ".weight", zeros("I8", {200, 160}, 1)), ".weight_scale",
                          zeros("BF16", {200, 1}, 2)),
                   "", ""},
        FormatCase{"int8_by_block",
                   broken(broken({}, ".weight", zeros("I8", {200, 160}, 1)), ".weight_scale",
                          zeros("F32", {2, 2}, 4)),
                   "UnsupportedQuantization", "takes [200, 1]"},
        FormatCase{"nvfp4_sound", nvfp4(), "", ""},
        FormatCase{"nvfp4_without_global", without(nvfp4(), ".weight_global_scale"),
                   "UnsupportedQuantization", "weight_global_scale"},
        FormatCase{"nvfp4_groups_of_32", broken(nvfp4(), ".weight_scale", zeros("F8_E4M3", {200, 5}, 1)),
                   "UnsupportedQuantization", "[200, 5] where"},
        FormatCase{"mxfp4_scales", broken(nvfp4(), ".weight_scale", zeros("U8", {200, 10}, 1)),
                   "UnsupportedQuantization", "F8_E4M3"},
        FormatCase{"nvfp4_torn_group", broken(nvfp4(), ".weight_packed", zeros("U8", {200, 81}, 1)),
                   "CheckpointCorrupt", "groups of 16"},
        FormatCase{"nvfp4_of_two_globals", broken(nvfp4(), ".weight_global_scale", zeros("F32", {2}, 4)),
                   "UnsupportedQuantization", "takes [1]"},
        FormatCase{"u8_alone", broken({}, ".weight", zeros("U8", {200, 80}, 1)), "UnsupportedQuantization",
                   "weight_scale"}),
    [](const auto& info) { return info.param.name; });

struct BorderCase {
  const char* name;
  Tensors tensors;  // (200, 160)
  Range cols;
  bool cut;
};

class ColumnBand : public ::testing::TestWithParam<BorderCase> {};

TEST_P(ColumnBand, MayNotCutWhatSharesAScale) {
  TempDir dir;
  write_checkpoint(dir, tiny_llama_config(), GetParam().tensors);
  const auto source = dir.checkpoint();
  const Checkpoint checkpoint(*source);
  PartScales scales;
  std::string message;
  const Band band{kModule, 200, 160, {70, 100}, GetParam().cols};
  const auto build = [&] { matrix_part(stored_weight(checkpoint, kModule), band, scales, [](uint64_t) {}); };
  EXPECT_EQ(failure_of(build, &message), GetParam().cut ? "ParallelismInvalid" : "");
  if (GetParam().cut) {
    EXPECT_TRUE(contains(message, "fewer ranks"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ColumnBand,
    ::testing::Values(BorderCase{"fp8_tensor", fp8_with(zeros("F32", {}, 4)), {40, 40}, false},
                      BorderCase{"fp8_channel", fp8_with(zeros("F32", {200, 1}, 4)), {40, 40}, false},
                      BorderCase{
                          "fp8_block_begins_within", fp8_with(zeros("F32", {2, 2}, 4)), {80, 80}, true},
                      BorderCase{"fp8_block_ends_within", fp8_with(zeros("F32", {2, 2}, 4)), {0, 80}, true},
                      BorderCase{"fp8_block_to_the_end", fp8_with(zeros("F32", {2, 2}, 4)), {128, 32}, false},
                      BorderCase{"nvfp4_group_border", nvfp4(), {80, 80}, false},
                      BorderCase{"nvfp4_within_a_group", nvfp4(), {0, 40}, true}),
    [](const auto& info) { return info.param.name; });

// compressed-tensors divides by it.
TEST(Format, GlobalScaleIsANumberOtherThanZero) {
  for (const float global : {0.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    TempDir dir;
    write_checkpoint(dir, tiny_llama_config(), broken(nvfp4(), ".weight_global_scale", one_float(global)));
    const auto source = dir.checkpoint();
    const Checkpoint checkpoint(*source);
    PartScales scales;
    std::string message;
    const Band band{kModule, 200, 160, {0, 200}, {0, 160}};
    const auto build = [&] {
      matrix_part(stored_weight(checkpoint, kModule), band, scales, [](uint64_t) {});
    };
    EXPECT_EQ(failure_of(build, &message), "CheckpointCorrupt");
    EXPECT_TRUE(contains(message, std::string(kModule) + ": the scale of its whole tensor")) << message;
  }
}

// (experts, 2 x width, hidden) of a stack, and its scales.
Tensors stack(StoredTensor experts, const char* suffix, StoredTensor scale) {
  const std::string name = "model.layers.0.mlp.experts.gate_up_proj";
  return {{name, std::move(experts)}, {name + suffix, std::move(scale)}};
}

TEST(Format, OfStackedExpertsIsKnownBeforeOneIsRead) {
  const StoredTensor fp8 = zeros("F8_E4M3", {3, 200, 160}, 1);
  const struct {
    Tensors tensors;
    const char* reason;
    const char* says;
  } table[] = {
      {stack(fp8, "_scale_inv", zeros("F32", {3, 2, 2}, 4)), "", ""},
      {stack(fp8, "_scale", zeros("BF16", {3, 200, 1}, 2)), "", ""},
      {stack(fp8, "_scale_inv", zeros("F32", {2, 2, 2}, 4)), "UnsupportedQuantization",
       "begins with that number"},
      {stack(fp8, "_scale_inv", zeros("F32", {3, 2, 1}, 4)), "UnsupportedQuantization", "takes one scale"},
      {stack(zeros("F8_E4M3", {0, 200, 160}, 1), "_scale_inv", zeros("F32", {0, 2, 2}, 4)),
       "CheckpointCorrupt", "a stack of 0"},
      {stack(fp8, "_weight_scale", zeros("F32", {3, 2, 2}, 4)), "CheckpointIncomplete", "_scale_inv nor"},
      {stack(zeros("U8", {3, 200, 80}, 1), "_weight_scale", zeros("F8_E4M3", {3, 200, 10}, 1)),
       "UnsupportedQuantization", "a release with experts one by one"},
  };
  for (const auto& [tensors, reason, says] : table) {
    TempDir dir;
    write_checkpoint(dir, tiny_llama_config(), tensors);
    const auto source = dir.checkpoint();
    const Checkpoint checkpoint(*source);
    std::string message;
    EXPECT_EQ(failure_of([&] { check_stored_weights(checkpoint); }, &message), reason) << message;
    EXPECT_TRUE(contains(message, says)) << message;
  }
}

}  // namespace
}  // namespace llmservice
