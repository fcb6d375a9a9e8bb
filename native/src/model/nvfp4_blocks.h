// Matrices of NVFP4 as GGUF files have them: codes and the scales of their groups in one block.
#pragma once

#include <memory>

#include "model/arrivals.h"
#include "model/checkpoint_source.h"
#include "model/stored_file.h"

namespace llmservice {

// What place.block_part says of the blocks at `place`, read as if it lay there alone: codes of two
// neighbouring columns to a byte, the lower one in the low nibble; scales, a byte of e4m3 for 16 columns; or
// floats of 1. Throws CheckpointCorrupt for a scale with a sign.
std::unique_ptr<TensorFile> nvfp4_part(const TensorFile& file, const TensorPlace& place,
                                       const Arrivals* arrivals);

}  // namespace llmservice
