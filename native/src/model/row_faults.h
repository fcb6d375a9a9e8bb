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

// Of the residual that comes to a layer, or behind the last to the final norm: what the embedding or the
// layer before left there. The next numbers are the layer's own: its norm, its mixer, its second norm, and
// then its feed-forward network, which is what comes to the next.
constexpr int32_t fault_before(size_t layer) { return 1 + 4 * static_cast<int32_t>(layer); }

FaultPlace fault_place(int32_t fault, const ModelConfig& config);
// Of rows that leave the last layer finite.
FaultPlace after_layers();

}  // namespace llmservice
