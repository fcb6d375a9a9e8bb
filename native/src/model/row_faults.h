// Where in the forward pass a row's numbers first were not finite: as a small number while the step runs, and
// in words once one is found. Numbers ascend in the order of the forward pass; 0 is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace llmservice {

struct ModelConfig;

struct FaultPlace {
  std::optional<int32_t> layer;  // none: before the first or after the last
  std::string part;
};

constexpr int32_t kEmbeddingFault = 1;
// The norm's own number; what takes the norm's output (mixer, feed-forward) has the next.
constexpr int32_t input_norm_fault(size_t layer) { return 2 + 4 * static_cast<int32_t>(layer); }
constexpr int32_t post_norm_fault(size_t layer) { return 4 + 4 * static_cast<int32_t>(layer); }

FaultPlace fault_place(int32_t fault, const ModelConfig& config);
// Of rows that leave the last layer finite.
FaultPlace after_layers();

}  // namespace llmservice
