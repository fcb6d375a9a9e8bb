// Whole engines of tiny models on the GPU backend, and what holds for each.
#pragma once

#include <gtest/gtest.h>

#include "backends/gpu/backend.h"
#include "drafts_support.h"
#include "gemma4_support.h"
#include "quantized_checkpoint.h"
#include "rounding_reference.h"

namespace llmservice::testing {

inline Request request(int32_t slot, int32_t length, int32_t generate, int32_t chunk = 64) {
  return {.admission = {.slot = slot,
                        .tokens = prompt(length, slot),
                        .prompt_length = length,
                        .max_length = length + generate,
                        .stop_tokens = {},
                        .sampling = {.top_logprobs = 2}},
          .chunk = chunk};
}

enum class TinyModel : uint8_t {
  kLlama,
  kHybrid,
  kWideHybrid,  // heads of 128, whose steps take one launch
  kMoe,
  kNvfp4,
  kGguf,
  kGemma,
  kGptOss,
  kGlm,
  kGemma4,
  kGemma4Moe,
  kGemma4Small
};

struct Checkpoint {
  const char* name;
  TinyModel model;
  LoadQuantization quantization;
  DType blocks = DType::kF32;  // of kGguf's matrices
  bool rounded = false;        // compared with the reference that rounds activations as the device does

  bool hybrid() const { return model == TinyModel::kHybrid || model == TinyModel::kWideHybrid; }
};

class GpuEngine : public ::testing::TestWithParam<Checkpoint> {
 protected:
  void SetUp() override {
    if (GetParam().model == TinyModel::kLlama) {
      write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors());
    } else if (GetParam().model == TinyModel::kNvfp4) {
      write_checkpoint(dir_, tiny_llama_config(), nvfp4_tensors());
    } else if (GetParam().model == TinyModel::kGguf) {
      write_block_llama(dir_, GetParam().blocks);
    } else if (GetParam().model == TinyModel::kGemma) {
      write_checkpoint(dir_, tiny_gemma_config(), tiny_gemma_tensors());
    } else if (GetParam().model == TinyModel::kGptOss) {
      write_checkpoint(dir_, gpt_oss_config(), gpt_oss_tensors());
    } else if (GetParam().model == TinyModel::kGlm) {
      write_checkpoint(dir_, glm4_moe_config(), glm4_moe_tensors());
    } else if (GetParam().model == TinyModel::kGemma4) {
      write_checkpoint(dir_, tiny_gemma4_config(), tiny_gemma4_tensors());
    } else if (GetParam().model == TinyModel::kGemma4Moe) {
      write_checkpoint(dir_, gemma4_moe_config(), gemma4_moe_tensors());
    } else if (GetParam().model == TinyModel::kGemma4Small) {
      write_checkpoint(dir_, gemma4_small_config(), gemma4_small_tensors());
    } else if (GetParam().model == TinyModel::kMoe) {
      write_checkpoint(dir_, moe_config(), moe_tensors());
    } else {
      Tensors tensors = tiny_hybrid_tensors();
      ModelConfig config = tiny_hybrid_config();
      if (GetParam().model == TinyModel::kWideHybrid) widen_heads(config, tensors);
      add_mtp(tensors);
      write_checkpoint(dir_, config, tensors);
    }
  }

  std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend, const Speculation& speculation = {},
                               std::unique_ptr<Drafter> drafter = nullptr) const {
    EngineOptions options = room_for_four(dir_, speculation);
    options.dtype = DType::kBF16;
    options.checkpoint = dir_.checkpoint(GetParam().quantization);
    return std::make_unique<Engine>(
        options, std::move(backend), [](auto, auto) {}, std::move(drafter));
  }
  std::unique_ptr<Engine> load_gpu(size_t graphs = 16) const { return load(gpu_backend(graphs)); }
  static std::unique_ptr<gpu::GpuBackend> gpu_backend(size_t graphs = 16) {
    return std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0, .graphs = graphs});
  }
  static Said run_one(Engine& engine, const Request& one) { return run_requests(engine, {one}, 0).front(); }

  void expect_to_pass_the_self_check() const {
    EngineOptions options = room_for_four(dir_, {});
    options.dtype = DType::kBF16;
    options.checkpoint = dir_.checkpoint(GetParam().quantization);
    options.self_check = true;
    const Engine engine(options, gpu_backend(), [](auto, auto) {});
    EXPECT_TRUE(engine.info().self_check_ms.has_value());
  }

  std::unique_ptr<Backend> reference() const {
    if (GetParam().rounded) return std::make_unique<RoundingReference>();
    return std::make_unique<ReferenceBackend>();
  }

  void expect_what_the_reference_says() const {
    const Request one = request(0, 70, 12);
    const Said expected = run_one(*load(reference()), one);
    const Said said = run_one(*load_gpu(), one);
    // Eight-bit activations move the logits of so small a model by tenths, which leaves tenths of that where
    // the reference has them too; a wrong one moves them by several units.
    const bool narrow = GetParam().quantization == LoadQuantization::kFp8;
    const float tolerance = !narrow ? 0.08f : GetParam().rounded ? 0.25f : 0.8f;
    float sum = 0;
    size_t same = 0;
    for (; same < expected.tokens.size() && said.tokens[same] == expected.tokens[same]; ++same) {
      EXPECT_NEAR(said.logprobs[same], expected.logprobs[same], tolerance) << "token " << same;
      sum += std::fabs(said.logprobs[same] - expected.logprobs[same]);
    }
    if (same > 0) {
      EXPECT_LT(sum, static_cast<float>(same) * tolerance / 3) << "on average";
    }
    // From here on the two diverge, at the first token even: this must have been a near tie of as likely
    // tokens.
    if (same < expected.tokens.size()) {
      EXPECT_LT(expected.top_logprobs[2 * same] - expected.top_logprobs[2 * same + 1], tolerance);
      EXPECT_NEAR(said.top_logprobs[2 * same], expected.top_logprobs[2 * same], tolerance);
    }
  }

  void expect_no_bit_to_change_with_others_and_cuts() const {
    // Beyond two chunks of the delta rule, where there is one.
    const int32_t longest = GetParam().hybrid() ? 129 : 81;
    const std::vector<Request> together = {request(0, 70, 4), request(1, 33, 6), request(2, longest, 2)};
    const std::vector<Said> said = run_requests(*load_gpu(), together, 0);
    for (size_t i = 0; i < together.size(); ++i) {
      const auto alone = load_gpu();
      EXPECT_TRUE(run_one(*alone, together[i]).same_as(said[i])) << "sequence " << i;
    }
    Request cut = together[0];
    cut.chunk = GetParam().hybrid() ? 128 : 16;  // hybrids are cut on multiples of 64
    EXPECT_TRUE(run_one(*load_gpu(), cut).same_as(said[0]));
  }

  void expect_no_bit_to_change_with_tuning() const {
    const Request one = request(0, 30, 5);
    auto backend = gpu_backend();
    backend->tune({.resident = 2, .ahead_bytes = 64 << 10});
    const Backend& counted = *backend;
    const auto tuned = load(std::move(backend));
    const Said said = run_one(*tuned, one);
    EXPECT_TRUE(said.same_as(run_one(*load_gpu(), one)));
    EXPECT_TRUE(run_one(*tuned, one).same_as(said));
    EXPECT_GT(counted.graph_counts().replayed, 0u);
  }

  TempDir dir_;
};

inline const auto kCheckpoints =
    ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone},
                      Checkpoint{"llama_fp8", TinyModel::kLlama, LoadQuantization::kFp8},
                      Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone},
                      Checkpoint{"moe", TinyModel::kMoe, LoadQuantization::kNone},
                      Checkpoint{"moe_fp8", TinyModel::kMoe, LoadQuantization::kFp8});

// Weights in four and eight bits that kernels widen.
inline const auto kCodedCheckpoints =
    ::testing::Values(Checkpoint{"llama_int8", TinyModel::kLlama, LoadQuantization::kInt8},
                      Checkpoint{"moe_int8", TinyModel::kMoe, LoadQuantization::kInt8},
                      Checkpoint{"nvfp4", TinyModel::kNvfp4, LoadQuantization::kNone},
                      Checkpoint{"q8_0", TinyModel::kGguf, LoadQuantization::kNone, DType::kQ8_0},
                      Checkpoint{"q4_0", TinyModel::kGguf, LoadQuantization::kNone, DType::kQ4_0},
                      Checkpoint{"q4_k_m", TinyModel::kGguf, LoadQuantization::kNone, DType::kQ4_K},
                      Checkpoint{"q6_k", TinyModel::kGguf, LoadQuantization::kNone, DType::kQ6_K});

// Whose layers are not llama's.
inline const auto kOtherLayers =
    ::testing::Values(Checkpoint{"gemma", TinyModel::kGemma, LoadQuantization::kNone},
                      Checkpoint{"gemma_fp8", TinyModel::kGemma, LoadQuantization::kFp8},
                      Checkpoint{"gpt_oss", TinyModel::kGptOss, LoadQuantization::kNone},
                      Checkpoint{"gpt_oss_int8", TinyModel::kGptOss, LoadQuantization::kInt8},
                      Checkpoint{"glm4_moe", TinyModel::kGlm, LoadQuantization::kNone},
                      Checkpoint{"gemma4", TinyModel::kGemma4, LoadQuantization::kNone},
                      Checkpoint{"gemma4_moe", TinyModel::kGemma4Moe, LoadQuantization::kNone},
                      Checkpoint{"gemma4_moe_fp8", TinyModel::kGemma4Moe, LoadQuantization::kFp8},
                      Checkpoint{"gemma4_small", TinyModel::kGemma4Small, LoadQuantization::kNone},
                      Checkpoint{"gemma4_small_int8", TinyModel::kGemma4Small, LoadQuantization::kInt8});

inline std::string name_of_checkpoint(const ::testing::TestParamInfo<Checkpoint>& info) {
  return info.param.name;
}

}  // namespace llmservice::testing
