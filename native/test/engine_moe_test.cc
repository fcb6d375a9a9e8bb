// Mixture-of-experts layers of a checkpoint: both layouts of experts, and their shards.
#include <gtest/gtest.h>

#include <cmath>

#include "failures.h"
#include "model/moe.h"
#include "moe_support.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

// Random codes of finite e4m3 values.
StoredTensor fp8_tensor(std::vector<int64_t> shape, std::mt19937& random) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  std::string bytes(count, '\0');
  for (char& code : bytes) code = static_cast<char>(random() % 0x60);
  return {"F8_E4M3", std::move(shape), std::move(bytes)};
}

// The experts of one layer under "mlp.", one by one.
Tensors single_experts(bool fp8) {
  std::mt19937 random(5);
  Tensors t;
  t["mlp.gate.weight"] = bf16_tensor({kExperts, kHidden}, 0, 0.3F, random);
  for (int32_t e = 0; e < kExperts; ++e) {
    for (const char* name : {"gate_proj", "up_proj", "down_proj"}) {
      const bool down = std::string(name) == "down_proj";
      const std::vector<int64_t> shape =
          down ? std::vector<int64_t>{kHidden, kWidth} : std::vector<int64_t>{kWidth, kHidden};
      const std::string module = "mlp.experts." + std::to_string(e) + "." + name;
      t[module + ".weight"] = fp8 ? fp8_tensor(shape, random) : bf16_tensor(shape, 0, 0.3F, random);
      if (!fp8) continue;
      const std::vector<int64_t> blocks = {(shape[0] + 127) / 128, (shape[1] + 127) / 128};
      t[module + ".weight_scale_inv"] = bf16_tensor(blocks, 0.01F, 0.005F, random);
    }
  }
  return t;
}

// The same experts stacked: every expert's gate then up in one tensor, every down in another.
Tensors stacked_experts(const Tensors& single) {
  Tensors t;
  t["mlp.gate.weight"] = single.at("mlp.gate.weight");
  const auto append = [&](const std::string& to, int32_t expert, const std::string& from, int64_t times) {
    const StoredTensor& part = single.at("mlp.experts." + std::to_string(expert) + "." + from);
    StoredTensor& stack = t["mlp.experts." + to];
    stack.dtype = part.dtype;
    stack.shape = {kExperts, times * part.shape[0], part.shape[1]};
    stack.bytes += part.bytes;
  };
  for (int32_t e = 0; e < kExperts; ++e) {
    append("gate_up_proj", e, "gate_proj.weight", 2);
    append("gate_up_proj", e, "up_proj.weight", 2);
    append("down_proj", e, "down_proj.weight", 1);
  }
  return t;
}

// Stacked FP8 experts: 2 · width rows share blocks of 128 from the first on, so gate and up must agree where
// they meet in a block. One scale throughout makes the two layouts the same matrices.
void use_one_scale(Tensors& single) {
  for (auto& [name, tensor] : single) {
    if (!name.ends_with("_scale_inv")) continue;
    for (size_t i = 0; i < tensor.bytes.size(); i += 2) {
      const uint16_t bits = float_to_bf16(0.01F);
      std::memcpy(tensor.bytes.data() + i, &bits, 2);
    }
  }
}

void add_stacked_scales(Tensors& stacked, const Tensors& single) {
  const auto scales = [&](const std::string& name, int64_t rows, int64_t cols) {
    const std::string one = single.at("mlp.experts.0.down_proj.weight_scale_inv").bytes.substr(0, 2);
    std::string bytes;
    const int64_t blocks = (rows + 127) / 128 * ((cols + 127) / 128);
    for (int64_t i = 0; i < kExperts * blocks; ++i) bytes += one;
    stacked["mlp.experts." + name + "_scale_inv"] = {
        "BF16", {kExperts, (rows + 127) / 128, (cols + 127) / 128}, bytes};
  };
  scales("gate_up_proj", 2 * kWidth, kHidden);
  scales("down_proj", kHidden, kWidth);
}

class MoeLayer : public ::testing::Test {
 protected:
  MoeWeights read(const Tensors& tensors, Shard shard = {}) {
    write_checkpoint(dir_, moe_config(), tensors);
    const auto source = dir_.checkpoint();
    const ModelConfig& config = source->config;
    const Checkpoint checkpoint(*source);
    WeightReader reader(checkpoint, backend_, DType::kF32, [](uint64_t) {});
    return read_moe(reader, config, shard, "mlp.");
  }

  // What the experts make of one row that all of them run.
  std::vector<float> run(const MoeWeights& weights) {
    std::vector<float> x(kHidden), out(kHidden);
    for (int64_t i = 0; i < kHidden; ++i) x[i] = static_cast<float>(i % 7) - 3;
    std::vector<int32_t> ids = {0, 1, 2};
    std::vector<float> shares = {0.5F, 0.3F, 0.2F};
    const RoutingShape shape{kExperts, kExperts, true};
    backend_.run_experts(weights.experts, shape, {ids.data(), shares.data()}, x.data(), 1, {}, out.data());
    return out;
  }

  TempDir dir_;
  ReferenceBackend backend_;
};

TEST_F(MoeLayer, IsTheSameStackedAndOneByOne) {
  const Tensors single = single_experts(false);
  EXPECT_EQ(run(read(single)), run(read(stacked_experts(single))));
}

TEST_F(MoeLayer, IsTheSameStackedAndOneByOneInFp8) {
  Tensors single = single_experts(true);
  use_one_scale(single);
  Tensors stacked = stacked_experts(single);
  add_stacked_scales(stacked, single);
  EXPECT_EQ(run(read(single)), run(read(stacked)));
}

TEST_F(MoeLayer, RanksAddUp) {
  for (const bool stacked : {false, true}) {
    const Tensors single = single_experts(false);
    const Tensors tensors = stacked ? stacked_experts(single) : single;
    const auto all = run(read(tensors));
    const auto first = run(read(tensors, {0, 2}));
    const auto second = run(read(tensors, {1, 2}));
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_NEAR(first[i] + second[i], all[i], 1e-4 * (1 + std::fabs(all[i]))) << i;
    }
  }
}

TEST_F(MoeLayer, NamesTheExpertThatIsMissing) {
  Tensors tensors = single_experts(false);
  tensors.erase("mlp.experts.2.up_proj.weight");
  std::string message;
  EXPECT_EQ(failure_of([&] { read(tensors); }, &message), "CheckpointIncomplete");
  EXPECT_TRUE(contains(message, "mlp.experts.2.up_proj.weight"));
}

TEST_F(MoeLayer, RefusesStackedExpertsOfAnotherOrientation) {
  Tensors tensors = stacked_experts(single_experts(false));
  std::swap(tensors["mlp.experts.gate_up_proj"].shape[1], tensors["mlp.experts.gate_up_proj"].shape[2]);
  std::string message;
  EXPECT_EQ(failure_of([&] { read(tensors); }, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "gate_up_proj has shape [64, 320] where config.json implies [320, 64]"));
}

}  // namespace
}  // namespace llmservice
