// Tiny llamas whose matrices are stored in four and eight bits: NVFP4, and the block types of GGUF files.
#pragma once

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
    const float global = 0.06f;
    stored[name + "_scale_2"] = {
        "F32", {}, std::string(reinterpret_cast<const char*>(&global), sizeof global)};
  }
  return stored;
}

// Rows of whole blocks with random codes, of values of some tenths.
inline StoredTensor random_blocks(DType type, int64_t rows, int64_t cols, std::mt19937& random) {
  const auto step = static_cast<size_t>(block_layout(type).bytes);
  const bool tail = type == DType::kQ6_K;
  // d is one over so many times 2^10.
  const uint16_t d = type == DType::kQ8_0 ? 0x1c00 : type == DType::kQ4_0 ? 0x2800 : 0x0400;
  std::string bytes(rows * bytes_of(type, cols), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t at = 0; at < bytes.size(); at += step) {
    std::memcpy(&bytes[tail ? at + 208 : at], &d, sizeof d);
    if (type == DType::kQ4_K) {
      const uint16_t dmin = 0x1000;
      std::memcpy(&bytes[at + 2], &dmin, sizeof dmin);
    }
  }
  return {name_of(type), {rows, cols}, std::move(bytes)};
}

// Two layers of as few features as blocks of `type` have, the vocabulary of the tiny models, and all matrices
// in such blocks, the table too. kQ4_K: as in files of Q4_K_M, with some matrices in Q6_K.
inline void write_block_llama(TempDir& dir, DType type) {
  const int32_t side = block_layout(type).columns == 256 ? 256 : 64;
  std::mt19937 random(9);
  ModelConfig config = tiny_llama_config();
  config.hidden = side;
  config.intermediate = side;
  config.head_dim = side / config.heads;
  config.rope.rotary = config.head_dim;
  Tensors tensors;
  const auto add = [&](const std::string& name, int64_t rows) {
    const bool finer = name.ends_with("v_proj") || name.ends_with("down_proj") || name.ends_with("tokens");
    const DType own = type == DType::kQ4_K && finer ? DType::kQ6_K : type;
    tensors[name + ".weight"] = random_blocks(own, rows, side, random);
  };
  const StoredTensor ones = bf16_tensor({side}, 1, 0, random);
  add("model.embed_tokens", 211);
  tensors["model.norm.weight"] = ones;
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    tensors[layer + "input_layernorm.weight"] = ones;
    tensors[layer + "post_attention_layernorm.weight"] = ones;
    add(layer + "self_attn.q_proj", side);
    add(layer + "self_attn.k_proj", side / 2);
    add(layer + "self_attn.v_proj", side / 2);
    add(layer + "self_attn.o_proj", side);
    add(layer + "mlp.gate_proj", side);
    add(layer + "mlp.up_proj", side);
    add(layer + "mlp.down_proj", side);
  }
  write_checkpoint(dir, config, tensors);
}

}  // namespace llmservice::testing
