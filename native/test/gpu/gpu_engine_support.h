// Whole engines of tiny models on the GPU backend.
#pragma once

#include <gtest/gtest.h>

#include "backends/gpu/backend.h"
#include "drafts_support.h"

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

struct Checkpoint {
  const char* name;
  bool hybrid;
  LoadQuantization quantization;
};

class GpuEngine : public ::testing::TestWithParam<Checkpoint> {
 protected:
  void SetUp() override {
    if (GetParam().hybrid) {
      Tensors tensors = tiny_hybrid_tensors();
      add_mtp(tensors);
      write_checkpoint(dir_, tiny_hybrid_config(), tensors);
    } else {
      write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors());
    }
  }

  std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend, const Speculation& speculation = {},
                               std::unique_ptr<Drafter> drafter = nullptr) const {
    EngineOptions options = room_for_four(dir_, speculation);
    options.dtype = DType::kBF16;
    options.quantization = GetParam().quantization;
    return std::make_unique<Engine>(
        options, std::move(backend), [](auto, auto) {}, std::move(drafter));
  }
  std::unique_ptr<Engine> load_gpu(size_t graphs = 16) const { return load(gpu_backend(graphs)); }
  static std::unique_ptr<gpu::GpuBackend> gpu_backend(size_t graphs = 16) {
    return std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0, .graphs = graphs});
  }
  static Said run_one(Engine& engine, const Request& one) { return run_requests(engine, {one}, 0).front(); }

  TempDir dir_;
};

inline const auto kCheckpoints = ::testing::Values(Checkpoint{"llama", false, LoadQuantization::kNone},
                                                   Checkpoint{"llama_fp8", false, LoadQuantization::kFp8},
                                                   Checkpoint{"hybrid", true, LoadQuantization::kNone});

inline std::string name_of_checkpoint(const ::testing::TestParamInfo<Checkpoint>& info) {
  return info.param.name;
}

}  // namespace llmservice::testing
