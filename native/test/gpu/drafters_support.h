// Engines that draft with models of their own on the GPU backend: EAGLE-3's, whose heads are wider than the
// model's, and whole ones.
#pragma once

#include "../eagle3_support.h"
#include "gpu_engine_support.h"

namespace llmservice::testing {
inline constexpr int32_t kDrafts = 3;

struct Drafting {
  const char* name;
  bool hybrid;
  DraftMethod method;
};

// One with 4 query heads of 32 features over 2, where the model has 16.
inline std::shared_ptr<const CheckpointSource> wide_eagle3(TempDir& dir) {
  std::mt19937 random(5);
  Tensors tensors = drafter_tensors(0.3F);
  const std::string attention = "eagle3.layers.0.self_attn.";
  for (const auto& [name, rows] :
       {std::pair{"q_proj", 128}, std::pair{"k_proj", 64}, std::pair{"v_proj", 64}}) {
    tensors[attention + name + ".weight"] = bf16_tensor({rows, 2 * kDraftHidden}, 0, 0.3F, random);
  }
  tensors[attention + "o_proj.weight"] = bf16_tensor({kDraftHidden, 128}, 0, 0.3F, random);
  ModelConfig config = tiny_llama_config();
  config.tied_head = false;
  config.head_dim = config.rope.rotary = 32;
  config.layers = {LayerKind::kAttention};
  config.feed_forward = {FeedForwardKind::kDense};
  config.windows = {0};
  write_checkpoint(dir, config, tensors);
  auto source = std::make_shared<CheckpointSource>(*dir.checkpoint());
  source->eagle3 = Eagle3Config{.vocab = kDraftVocab,
                                .layers = {0, 1, 2},
                                .norm_before_residual = false,
                                .norm_before_fc = true,
                                .norm_output = false};
  return source;
}

class GpuDrafters : public ::testing::TestWithParam<Drafting> {
 protected:
  void SetUp() override {
    if (GetParam().hybrid) {
      write_checkpoint(model_, tiny_hybrid_config(), tiny_hybrid_tensors());
    } else {
      write_checkpoint(model_, tiny_llama_config(), tiny_llama_tensors());
    }
    if (GetParam().method == DraftMethod::kEagle3) {
      head_ = wide_eagle3(other_);
    } else {
      write_checkpoint(other_, tiny_llama_config(), tiny_llama_tensors(2));
      head_ = other_.checkpoint();
    }
  }

  std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend, DraftMethod method) const {
    const bool drafts = method != DraftMethod::kNone;
    EngineOptions options = room_for_four(model_, {method, drafts ? kDrafts : 0}, std::nullopt, 1);
    options.dtype = DType::kBF16;
    options.self_check = true;
    if (drafts) options.head = head_;
    return std::make_unique<Engine>(options, std::move(backend), [](auto, auto) {});
  }
  static std::unique_ptr<gpu::GpuBackend> gpu_backend(size_t graphs = 64, bool samples = true) {
    return std::make_unique<gpu::GpuBackend>(
        gpu::GpuOptions{.device = 0, .graphs = graphs, .samples = samples});
  }
  std::unique_ptr<Engine> drafting(std::unique_ptr<Backend> backend = gpu_backend()) const {
    return load(std::move(backend), GetParam().method);
  }
  std::unique_ptr<Engine> plain() const { return load(gpu_backend(), DraftMethod::kNone); }

  TempDir model_, other_;
  std::shared_ptr<const CheckpointSource> head_;
};

inline std::string name_of_drafting(const ::testing::TestParamInfo<Drafting>& info) {
  return info.param.name;
}

}  // namespace llmservice::testing
