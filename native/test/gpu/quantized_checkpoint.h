// Tiny llamas whose matrices are stored in four and eight bits: NVFP4 in safetensors, block types in GGUF.
#pragma once

#include "gguf_support.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {

// The tiny llama's with the matrices of its layers in modelopt's NVFP4: random codes, groups' scales around
// one.
inline Tensors nvfp4_tensors() {
  std::mt19937 random(5);
  Tensors stored = tiny_llama_tensors();
  for (const auto& [name, tensor] : tiny_llama_tensors()) {
    if (tensor.shape.size() != 2 || name.find("proj") == std::string::npos) continue;
    const int64_t rows = tensor.shape[0];
    const int64_t cols = tensor.shape[1];
    StoredTensor& codes = stored[name] = {"U8", {rows, cols / 2}, {}};
    StoredTensor& scales = stored[name + "_scale"] = {"F8_E4M3", {rows, cols / 16}, {}};
    for (int64_t i = 0; i < rows * cols / 2; ++i) codes.bytes += static_cast<char>(random());
    for (int64_t i = 0; i < rows * cols / 16; ++i) scales.bytes += static_cast<char>(0x30 + random() % 16);
    put(stored[name + "_scale_2"].bytes, 0.06f);
    stored[name + "_scale_2"].dtype = "F32";
  }
  return stored;
}

// Rows of whole blocks with random codes, of values of some tenths.
inline GgufTensorSpec random_blocks(DType type, uint64_t cols, uint64_t rows, std::mt19937& random) {
  const auto step = static_cast<size_t>(block_layout(type).bytes);
  const bool tail = type == DType::kQ6_K;
  // d is one over so many times 2^10.
  const uint16_t d = type == DType::kQ8_0 ? 0x1c00 : type == DType::kQ4_0 ? 0x2800 : 0x0400;
  std::string bytes(rows * bytes_of(type, static_cast<int64_t>(cols)), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t at = 0; at < bytes.size(); at += step) {
    std::memcpy(&bytes[tail ? at + 208 : at], &d, sizeof d);
    if (type == DType::kQ4_K) {
      const uint16_t dmin = 0x1000;
      std::memcpy(&bytes[at + 2], &dmin, sizeof dmin);
    }
  }
  const uint32_t number = type == DType::kQ8_0   ? 8
                          : type == DType::kQ4_0 ? 2
                          : type == DType::kQ4_K ? 12
                                                 : 14;
  return {number, {cols, rows}, std::move(bytes)};
}

// Two layers of as few features as blocks of `type` have, the vocabulary of the tiny models, and all matrices
// in such blocks, the table too. kQ4_K: as in files of Q4_K_M, with some matrices in Q6_K.
inline GgufSpec block_gguf_llama(DType type) {
  const uint32_t side = block_layout(type).columns == 256 ? 256 : 64;
  std::mt19937 random(9);
  GgufSpec spec;
  spec.keys = {{"general.architecture", "llama"},     {"llama.block_count", 2u},
               {"llama.context_length", 256u},        {"llama.embedding_length", side},
               {"llama.feed_forward_length", side},   {"llama.attention.head_count", 4u},
               {"llama.attention.head_count_kv", 2u}, {"llama.attention.layer_norm_rms_epsilon", 1e-6f},
               {"llama.rope.freq_base", 10000.0f}};
  const auto add = [&](const std::string& name, uint64_t rows) {
    const bool finer = name.ends_with("attn_v") || name.ends_with("ffn_down") || name == "token_embd";
    const DType own = type == DType::kQ4_K && finer ? DType::kQ6_K : type;
    spec.tensors[name + ".weight"] = random_blocks(own, side, rows, random);
  };
  add("token_embd", 211);
  spec.tensors["output_norm.weight"] = counted({side}, 1, 0);
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const char* norm : {"attn_norm.weight", "ffn_norm.weight"}) {
      spec.tensors[layer + norm] = counted({side}, 1, 0);
    }
    add(layer + "attn_q", side);
    add(layer + "attn_k", side / 2);
    add(layer + "attn_v", side / 2);
    add(layer + "attn_output", side);
    add(layer + "ffn_gate", side);
    add(layer + "ffn_up", side);
    add(layer + "ffn_down", side);
  }
  return spec;
}

}  // namespace llmservice::testing
