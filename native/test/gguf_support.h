// Writes small GGUF files, right and wrong ones, for tests.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ops/dtype.h"

namespace llmservice::testing {

// Appends a number as it lies in memory.
template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_text(std::string& to, const std::string& text) {
  put<uint64_t>(to, text.size());
  to += text;
}

struct GgufTensorSpec {
  uint32_t type;                // number in the format
  std::vector<uint64_t> sides;  // innermost first
  std::string bytes;
};

struct GgufSpec {
  std::map<std::string, std::variant<uint32_t, float, std::string>> keys;
  std::map<std::string, GgufTensorSpec> tensors;
};

inline std::string gguf_text(const GgufSpec& spec) {
  std::string text = "GGUF";
  put<uint32_t>(text, 3);
  put<uint64_t>(text, spec.tensors.size());
  put<uint64_t>(text, spec.keys.size());
  for (const auto& [key, value] : spec.keys) {
    put_text(text, key);
    if (const auto* number = std::get_if<uint32_t>(&value)) {
      put<uint32_t>(text, 4);
      put(text, *number);
    } else if (const auto* real = std::get_if<float>(&value)) {
      put<uint32_t>(text, 6);
      put(text, *real);
    } else {
      put<uint32_t>(text, 8);
      put_text(text, std::get<std::string>(value));
    }
  }
  std::string data;
  for (const auto& [name, tensor] : spec.tensors) {
    put_text(text, name);
    put(text, static_cast<uint32_t>(tensor.sides.size()));
    for (const uint64_t side : tensor.sides) put(text, side);
    put(text, tensor.type);
    put<uint64_t>(text, data.size());
    data += tensor.bytes;
    data.resize((data.size() + 31) / 32 * 32);
  }
  text.resize((text.size() + 31) / 32 * 32);
  return text + data;
}

// Values 0, 1, 2, ... in F32.
inline GgufTensorSpec counted(std::vector<uint64_t> sides, float first = 0, float step = 1) {
  uint64_t count = 1;
  for (const uint64_t side : sides) count *= side;
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) put(bytes, first + step * static_cast<float>(i));
  return {0, std::move(sides), std::move(bytes)};
}

// One layer, two heads of four features and one of keys.
inline GgufSpec tiny_gguf_llama() {
  GgufSpec spec;
  spec.keys = {{"general.architecture", "llama"},     {"llama.block_count", 1u},
               {"llama.context_length", 64u},         {"llama.embedding_length", 8u},
               {"llama.feed_forward_length", 12u},    {"llama.attention.head_count", 2u},
               {"llama.attention.head_count_kv", 1u}, {"llama.attention.layer_norm_rms_epsilon", 1e-5f},
               {"llama.rope.freq_base", 10000.0f}};
  spec.tensors = {{"token_embd.weight", counted({8, 5})},      {"output_norm.weight", counted({8})},
                  {"blk.0.attn_norm.weight", counted({8})},    {"blk.0.ffn_norm.weight", counted({8})},
                  {"blk.0.attn_q.weight", counted({8, 8})},    {"blk.0.attn_k.weight", counted({8, 4})},
                  {"blk.0.attn_v.weight", counted({8, 4})},    {"blk.0.attn_output.weight", counted({8, 8})},
                  {"blk.0.ffn_gate.weight", counted({8, 12})}, {"blk.0.ffn_up.weight", counted({8, 12})},
                  {"blk.0.ffn_down.weight", counted({12, 8})}};
  return spec;
}

}  // namespace llmservice::testing
