// Single operations at a model's shapes: what to launch, and what the operation costs at the very least.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backends/gpu/device.h"
#include "backends/gpu/kernels/matmul.h"
#include "ops/ops.h"
#include "qwen_shape.h"
#include "timing.h"

namespace llmservice::bench {

struct OpCase {
  nlohmann::json what;  // op, name and shape, as they are reported and as peers read them
  double bytes;         // read and written at least: weights, caches and states once, activations in float32
  double flops;         // of the matrix products in it
  bool eight_bit;       // they can run at the rate of e4m3
  int copies;           // of what is read, taken in turn so that none is found in the L2
  std::function<gpu::Launches(int copy)> launches;
};

struct OpSizes {
  QwenSizes model;
  int64_t rotated_bytes;         // of all copies together, at least
  std::vector<int64_t> rows;     // of products
  std::vector<int32_t> context;  // tokens before a row that decodes
  int32_t sequences;             // that decode together
  int32_t prompt;                // rows of a chunk
  int32_t long_prompt;           // of the whole prompt
  // Of products, each with all of them; several are named beside the shape.
  std::vector<gpu::ProductTuning> tunings = std::vector<gpu::ProductTuning>(1);
  bool probes = false;  // products that show what one costs beside its bytes
};

constexpr int32_t kBlockSize = 64;

// Called with one case after the other; what one holds on the device goes before the next one is made.
using OpVisitor = std::function<void(const OpCase&)>;
void visit_products(gpu::Device& device, const OpSizes& sizes, const OpVisitor& visit);
void visit_attention(gpu::Device& device, const OpSizes& sizes, const OpVisitor& visit);
void visit_gdn(gpu::Device& device, const OpSizes& sizes, const OpVisitor& visit);

// Microseconds of one, its copies taken in turn.
double micros_of(gpu::Stopwatch& stopwatch, const OpCase& op, bool quick);

// As many copies of `bytes` as make `all` bytes, at least one and at most 64.
int copies_of(int64_t bytes, int64_t all);

}  // namespace llmservice::bench
