// The JavaScript face of grammars: grammarCompiler(vocabulary) makes { warm, compileApart, read }, whose
// promises settle compilations in processes of their own and give opaque grammars for admissions; see
// ts/bridge/.
#pragma once

#include <napi.h>

#include <memory>

#include "engine/constraint.h"

namespace llmservice {

// grammarCompiler(vocabulary): GrammarCompiler.
Napi::Value make_grammar_compiler(const Napi::CallbackInfo& call);

// makeMemoryFile(): number.
Napi::Value make_memory_file_value(const Napi::CallbackInfo& call);

// Throws Napi::TypeError when it is no grammar that a compiler gave.
std::shared_ptr<const Grammar> to_grammar(const Napi::Value& value);

}  // namespace llmservice
