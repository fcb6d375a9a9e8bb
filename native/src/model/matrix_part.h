// From a band of a stored matrix to what a backend packs: the reader of its codes, and its scales as the
// backend wants them.
#pragma once

#include "model/stored_weight.h"
#include "model/weights.h"

namespace llmservice {

// What the spans of a MatrixPart point into; lives until the part is packed.
struct PartScales {
  std::vector<float> values;
  std::vector<std::byte> groups;
};

// Throws ParallelismInvalid when the band's columns cut through values that share a scale.
MatrixPart matrix_part(const StoredWeight& stored, const Band& band, PartScales& scales,
                       const BytesRead& on_bytes);

}  // namespace llmservice
