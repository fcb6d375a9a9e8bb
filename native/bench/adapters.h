// LoRA adapters of one batch beside the base alone.
#pragma once

#include "random_checkpoint.h"

namespace llmservice::bench {

// Decodes 32 sequences of a model of Qwen3-0.6B's scale: without adapters, with one, and with one each, in
// turn.
void report_adapters(int steps, WeightFormat format);

}  // namespace llmservice::bench
