#include "napi/grammars.h"

#include <cstdint>
#include <string>

#include "grammar/grammar_compiler.h"
#include "napi/convert.h"

namespace llmservice {
namespace {

using SharedGrammar = std::shared_ptr<const Grammar>;

constexpr napi_type_tag kGrammarTag{0x6c6c6d2d6772616dULL, 0x6d61722d68616e64ULL};

std::optional<GrammarKind> to_kind(const std::string& name) {
  if (name == "json") return GrammarKind::kJson;
  if (name == "jsonSchema") return GrammarKind::kJsonSchema;
  if (name == "regex") return GrammarKind::kRegex;
  if (name == "ebnf") return GrammarKind::kEbnf;
  if (name == "format") return GrammarKind::kFormat;
  if (name == "toolCalls") return GrammarKind::kToolCalls;
  return std::nullopt;
}

Napi::Value from_grammar(Napi::Env env, SharedGrammar grammar) {
  auto handle = Napi::External<SharedGrammar>::New(env, new SharedGrammar(std::move(grammar)),
                                                   [](Napi::Env, SharedGrammar* held) { delete held; });
  handle.TypeTag(&kGrammarTag);
  return handle;
}

// One grammar, compiled on the thread pool beside steps.
class Compilation final : public Napi::AsyncWorker {
 public:
  Compilation(Napi::Env env, std::shared_ptr<GrammarCompiler> compiler, GrammarKind kind, std::string text)
      : AsyncWorker(env, "compileGrammar"),
        deferred_(Napi::Promise::Deferred::New(env)),
        compiler_(std::move(compiler)),
        kind_(kind),
        text_(std::move(text)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    try {
      grammar_ = compiler_->compile(kind_, text_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void OnOK() override {
    if (error_) {
      deferred_.Reject(from_exception(Env(), error_).Value());
    } else {
      deferred_.Resolve(from_grammar(Env(), std::move(grammar_)));
    }
  }

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<GrammarCompiler> compiler_;
  GrammarKind kind_;
  std::string text_;
  SharedGrammar grammar_;
  std::exception_ptr error_;
};

Vocabulary to_vocabulary(const Napi::Object& value) {
  const Napi::Env env = value.Env();
  const Napi::Value bytes = value.Get("bytes");
  const Napi::Value ends = value.Get("ends");
  const Napi::Value stops = value.Get("stopTokens");
  const auto is = [](const Napi::Value& array, napi_typedarray_type type) {
    return array.IsTypedArray() && array.As<Napi::TypedArray>().TypedArrayType() == type;
  };
  if (!is(bytes, napi_uint8_array) || !is(ends, napi_uint32_array) || !is(stops, napi_int32_array)) {
    throw Napi::TypeError::New(
        env, "A vocabulary is { bytes: Uint8Array, ends: Uint32Array, stopTokens: Int32Array }.");
  }
  const auto text = bytes.As<Napi::Uint8Array>();
  const auto end = ends.As<Napi::Uint32Array>();
  const auto stop = stops.As<Napi::Int32Array>();
  const auto count = static_cast<int32_t>(end.ElementLength());
  Vocabulary vocabulary;
  uint32_t from = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (end[i] < from || end[i] > text.ByteLength()) {
      throw Napi::TypeError::New(env, "vocabulary.ends must ascend, up to the number of bytes.");
    }
    vocabulary.tokens.emplace_back(reinterpret_cast<const char*>(text.Data()) + from, end[i] - from);
    from = end[i];
  }
  for (size_t i = 0; i < stop.ElementLength(); ++i) {
    if (stop[i] < 0 || stop[i] >= count)
      throw Napi::TypeError::New(env, "vocabulary.stopTokens must be ids of it.");
    vocabulary.stop_tokens.push_back(stop[i]);
  }
  return vocabulary;
}

}  // namespace

Napi::Value make_grammar_compiler(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  if (call.Length() != 1 || !call[0].IsObject()) {
    throw Napi::TypeError::New(env, "grammarCompiler takes a vocabulary.");
  }
  const auto compiler = std::make_shared<GrammarCompiler>(to_vocabulary(call[0].As<Napi::Object>()));
  const auto compile = [compiler](const Napi::CallbackInfo& of) -> Napi::Value {
    const bool texts = of.Length() == 2 && of[0].IsString() && of[1].IsString();
    const auto kind = texts ? to_kind(of[0].As<Napi::String>()) : std::nullopt;
    if (!kind) {
      throw Napi::TypeError::New(
          of.Env(),
          "compile takes 'json', 'jsonSchema', 'regex', 'ebnf', 'format' or 'toolCalls', and a text.");
    }
    auto* compilation = new Compilation(of.Env(), compiler, *kind, of[1].As<Napi::String>());
    const Napi::Promise promise = compilation->promise();
    compilation->Queue();  // deletes itself when it is done
    return promise;
  };
  auto object = Napi::Object::New(env);
  object.Set("compile", Napi::Function::New(env, compile, "compile"));
  return object;
}

SharedGrammar to_grammar(const Napi::Value& value) {
  if (!value.IsExternal() || !value.As<Napi::External<SharedGrammar>>().CheckTypeTag(&kGrammarTag)) {
    throw Napi::TypeError::New(value.Env(), "grammar of a constraint must be one that a compiler gave.");
  }
  return *value.As<Napi::External<SharedGrammar>>().Data();
}

}  // namespace llmservice
