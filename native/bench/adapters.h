// LoRA adapters of one batch beside the base alone.
#pragma once

namespace llmservice::bench {

// Decodes 32 sequences of a model of Qwen3-0.6B's scale: without adapters, with one, and with one each, in
// turn.
void report_adapters(int rounds);

}  // namespace llmservice::bench
