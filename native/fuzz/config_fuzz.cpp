#include <cstdlib>
#include <string_view>

#include "model/config.h"
#include "ops/error.h"
#include "targets.h"

namespace llmservice {

void fuzz_config(std::span<const uint8_t> input) {
  try {
    const ModelConfig config =
        parse_model_config({reinterpret_cast<const char*>(input.data()), input.size()});
    const bool consistent = config.heads > 0 && config.kv_heads > 0 && config.heads % config.kv_heads == 0 &&
                            config.rope.rotary <= config.head_dim && !config.layers.empty();
    if (!consistent) std::abort();
  } catch (const EngineError&) {
    // Refused, which is an answer.
  }
}

}  // namespace llmservice
