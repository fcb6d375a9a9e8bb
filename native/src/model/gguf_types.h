// Types of tensors in GGUF files, by the numbers that stand for them there. checkpoint/src/formats/gguf-types.ts has the
// same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ops/dtype.h"

namespace llmservice {

// None for types that the engine does not read.
std::optional<DType> gguf_type(uint32_t number);

// As GGUF tools call it, whether it is read or not.
std::string gguf_type_name(uint32_t number);

}  // namespace llmservice
