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

// Throws ParallelismInvalid when the band's columns begin or end within `unit` columns that share a scale; on
// every rank alike, so that none continues alone. `remedy` ends the message.
void check_column_borders(const Band& band, int64_t unit, const char* remedy);

// Throws as check_column_borders does.
MatrixPart matrix_part(const StoredWeight& stored, const Band& band, PartScales& scales,
                       const BytesRead& on_bytes);

}  // namespace llmservice
