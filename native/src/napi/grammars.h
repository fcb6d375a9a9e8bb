// The JavaScript face of grammars: grammarCompiler(vocabulary) makes { compile(kind, text) }, whose promises
// give opaque grammars for admissions.
#pragma once

#include <napi.h>

#include <memory>

#include "engine/constraint.h"

namespace llmservice {

// grammarCompiler(vocabulary): GrammarCompiler.
Napi::Value make_grammar_compiler(const Napi::CallbackInfo& call);

// Throws Napi::TypeError when it is no grammar that a compiler gave.
std::shared_ptr<const Grammar> to_grammar(const Napi::Value& value);

}  // namespace llmservice
