// Tensors whose values a converter changed, read as they were before.
#pragma once

#include <memory>

#include "model/arrivals.h"
#include "model/checkpoint_source.h"
#include "model/stored_file.h"

namespace llmservice {

// Reads `place` of `file` with its restoration undone, at the same offsets, once it has arrived. Throws
// UnsupportedQuantization or CheckpointCorrupt for a tensor that cannot have been changed so.
std::unique_ptr<TensorFile> restored_tensor(const TensorFile& file, const TensorPlace& place,
                                            int32_t head_dim, const Arrivals* arrivals);

}  // namespace llmservice
