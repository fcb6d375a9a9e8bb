// Models at the scale of Qwen3-0.6B, one per architecture: what they are and which tensors there are.
// The dense ones have its width, those with experts run as many features per token, the hybrids are
// Qwen3.5-0.8B's.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace llmservice::bench {

struct TensorShape {
  std::string name;
  std::vector<int64_t> dims;
  bool quantizable;  // a matrix that FP8 checkpoints quantize
  bool f32 = false;  // stored in F32 where others are in BF16

  int64_t values() const;
};

struct ModelShape {
  nlohmann::json config;     // of BF16 weights, as other engines read it
  nlohmann::json described;  // as native/src/model/checkpoint_source.h has it
  std::vector<TensorShape> tensors;

  // The share of the weights that a step of `sequences` single rows reads: all but the experts that no row
  // chose, if rows choose their experts evenly and independently.
  double share_read(int32_t sequences) const;
  // Of a prompt, in the layers' matrices and in attention: of experts the chosen alone, no head.
  double multiply_adds(int64_t tokens) const;
};

// Fields of `described` that no model of the benchmarks needs otherwise.
nlohmann::json plain_description(int64_t head_dim);

// Model types that have a shape here.
std::vector<std::string_view> benchmarked_architectures();
// Throws std::invalid_argument for an architecture that has none.
ModelShape shape_of(std::string_view architecture);

}  // namespace llmservice::bench
