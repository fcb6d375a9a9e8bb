// What differs between checkpoints of one shape: what one model computed of a prompt is nothing to its
// fine-tuned like.
#pragma once

#include <cstdint>

#include "model/checkpoint_source.h"

namespace llmservice {

// Of some bytes in the middle of each tensor, as they are stored. All files are complete. Throws as
// StoredFile.
uint64_t weight_samples(const CheckpointSource& source);

}  // namespace llmservice
