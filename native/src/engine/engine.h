// A model in memory, its caches and its sequences: one step at a time, on one thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/sampler.h"
#include "engine/slots.h"
#include "model/model.h"

namespace llmservice {

// The C++ twin of EngineOptions in ts/binding.ts.
struct EngineOptions {
  std::filesystem::path model_dir;
  int32_t block_size;
  int32_t num_blocks;
  int32_t max_num_seqs;
  int32_t max_model_len;
  int32_t max_num_batched_tokens;
  DType dtype = DType::kBF16;  // of KV and unquantized weights
  int32_t threads = 0;         // 0: one per physical core
  std::string isa = "auto";
};

struct EngineInfo {
  std::string architecture;
  std::string isa;
  int32_t threads;
  int32_t vocab_size;
  size_t weight_bytes;
  int64_t kv_bytes_per_block;
  int64_t state_bytes_per_seq;
  bool hybrid;
};

class Engine {
 public:
  // Throws EngineError with a reason of the contract.
  Engine(const EngineOptions& options, std::unique_ptr<Backend> backend, const ModelProgress& on_progress);

  const EngineInfo& info() const { return info_; }
  // Throws EngineFault when the plan breaks a rule; then nothing was computed or changed.
  StepResult step(const StepPlan& plan);

 private:
  void gather_rows(const StepPlan& plan);
  void sample_rows(StepResult& result);
  void sample_row(int32_t slot, std::span<const float> logits, StepResult& result);

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
  SlotTable slots_;
  Sampler sampler_;
  EngineInfo info_;

  // The step in hand; reserved once.
  std::vector<int32_t> ids_;
  std::vector<int32_t> positions_;
  std::vector<Segment> segments_;
  std::vector<int32_t> sampled_rows_;
  std::vector<int32_t> sampled_slots_;
  std::vector<int32_t> admitted_;
};

}  // namespace llmservice
