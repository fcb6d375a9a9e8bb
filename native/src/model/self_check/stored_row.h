// One row of a stored matrix as numbers, by what its format means: the self-check compares what a backend
// made of the matrix with it, so that it takes nothing from what reads and packs matrices.
#pragma once

#include "model/stored_weight.h"

namespace llmservice {

// (cols), in the order of the model's columns. An unquantized value is rounded as matrices kept as `keep`
// are.
std::vector<float> stored_row(const StoredWeight& stored, int64_t row, DType keep);

}  // namespace llmservice
