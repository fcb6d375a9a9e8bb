// What is fuzzed: each takes any bytes as one loader's input, and aborts when the loader accepts what it must
// not. libFuzzer drives them through entry.cpp, the tests over the corpus.
#pragma once

#include <cstdint>
#include <span>

namespace llmservice {

// The text of config.json: a ModelConfig whose numbers agree with each other, or an EngineError.
void fuzz_config(std::span<const uint8_t> input);
// A whole safetensors file: tensors that lie inside it, or an EngineError.
void fuzz_safetensors(std::span<const uint8_t> input);
// A whole GGUF file: a ModelConfig and tensors that can be read, or an EngineError.
void fuzz_gguf(std::span<const uint8_t> input);

}  // namespace llmservice
