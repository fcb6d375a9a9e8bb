// Compiled grammars as bytes, from the process that compiles to the one that samples. XGrammar's own
// serialization, JSON, holds all automata once for each rule: 400 properties of 15 MB become 67 MB that take
// 4 s to write and to read; these, 5 ms.
#pragma once

#include <xgrammar/xgrammar.h>

#include <string>
#include <string_view>

namespace llmservice {

std::string to_bytes(const xgrammar::CompiledGrammar& compiled);

// Of the same build, machine and vocabulary. Throws std::runtime_error where the bytes are no whole grammar
// of it.
xgrammar::CompiledGrammar from_bytes(std::string_view bytes, const xgrammar::TokenizerInfo& tokenizer);

}  // namespace llmservice
