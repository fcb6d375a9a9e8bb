#include <cstdlib>
#include <cstring>
#include <string_view>

#include "model/safetensors.h"
#include "ops/error.h"
#include "targets.h"

namespace llmservice {

void fuzz_safetensors(std::span<const uint8_t> input) {
  uint64_t header_bytes = 0;
  if (input.size() < sizeof header_bytes) return;
  std::memcpy(&header_bytes, input.data(), sizeof header_bytes);
  // The loader refuses such a length before it reads the header.
  if (header_bytes > input.size() - sizeof header_bytes) return;
  const uint64_t data_start = sizeof header_bytes + header_bytes;
  const std::string_view header(reinterpret_cast<const char*>(input.data()) + sizeof header_bytes,
                                header_bytes);
  try {
    for (const auto& [name, tensor] : parse_safetensors_header(header, data_start, input.size(), "input")) {
      if (tensor.offset < data_start || tensor.offset + tensor.bytes > input.size()) std::abort();
    }
  } catch (const EngineError&) {
    // Refused, which is an answer.
  }
}

}  // namespace llmservice
