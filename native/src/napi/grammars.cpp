#include "napi/grammars.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "grammar/compile_process.h"
#include "grammar/grammar_compiler.h"
#include "napi/convert.h"
#include "napi/js_reader.h"
#include "napi/js_writer.h"

namespace llmservice {
namespace {

using SharedGrammar = std::shared_ptr<const Grammar>;

constexpr napi_type_tag kGrammarTag{0x6c6c6d2d6772616dULL, 0x6d61722d68616e64ULL};

// The collector learns what hangs on the handle: without it, handles of 20 MB each would not be worth a
// collection.
Napi::Value from_grammar(Napi::Env env, SharedGrammar grammar, int64_t bytes) {
  auto handle = Napi::External<SharedGrammar>::New(
      env, new SharedGrammar(std::move(grammar)), [bytes](Napi::Env env, SharedGrammar* held) {
        delete held;
        Napi::MemoryManagement::AdjustExternalMemory(env, -bytes);
      });
  Napi::MemoryManagement::AdjustExternalMemory(env, bytes);
  handle.TypeTag(&kGrammarTag);
  return handle;
}

struct Asked {
  GrammarKind kind;
  std::string text;
  int file;
};

// A thread of the pool waits for the process that compiles.
class Compilation final : public Napi::AsyncWorker {
 public:
  Compilation(Napi::Env env, std::shared_ptr<GrammarCompiler> compiler, Asked asked, CompileLimits limits)
      : AsyncWorker(env, "compileGrammar"),
        deferred_(Napi::Promise::Deferred::New(env)),
        process_(std::make_shared<CompileProcess>()),
        compiler_(std::move(compiler)),
        asked_(std::move(asked)),
        limits_(limits) {}

  Napi::Promise promise() const { return deferred_.Promise(); }
  std::shared_ptr<CompileProcess> process() const { return process_; }

 protected:
  void Execute() override {
    outcome_ = process_->run(*compiler_, asked_.kind, asked_.text, asked_.file, limits_);
  }
  void OnOK() override { deferred_.Resolve(JsWriter(Env()).write(outcome_)); }

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<CompileProcess> process_;
  std::shared_ptr<GrammarCompiler> compiler_;
  Asked asked_;
  CompileLimits limits_;
  CompileOutcome outcome_{};
};

// What such a process wrote, read on the thread pool alongside steps.
class Reading final : public Napi::AsyncWorker {
 public:
  Reading(Napi::Env env, std::shared_ptr<GrammarCompiler> compiler, Asked asked, int64_t bytes)
      : AsyncWorker(env, "readGrammar"),
        deferred_(Napi::Promise::Deferred::New(env)),
        compiler_(std::move(compiler)),
        asked_(std::move(asked)),
        bytes_(static_cast<size_t>(bytes)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    try {
      const std::string content = content_of_file(asked_.file, bytes_);
      grammar_ = compiler_->read(asked_.kind, asked_.text, content);
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void OnOK() override {
    if (error_) {
      deferred_.Reject(from_exception(Env(), error_).Value());
    } else {
      deferred_.Resolve(from_grammar(Env(), std::move(grammar_), static_cast<int64_t>(bytes_)));
    }
  }

 private:
  static std::string content_of_file(int file, size_t bytes) {
    std::string content(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
      const ssize_t count = pread(file, content.data() + done, bytes - done, static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw std::runtime_error("A compiled grammar was cut.");
      done += static_cast<size_t>(count);
    }
    return content;
  }

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<GrammarCompiler> compiler_;
  Asked asked_;
  size_t bytes_;
  SharedGrammar grammar_;
  std::exception_ptr error_;
};

// (kind, text, file, …)
Asked to_asked(const Napi::CallbackInfo& call) {
  return {.kind = JsReader::read<GrammarKind>(call[0], "kind"),
          .text = JsReader::read<std::string>(call[1], "text"),
          .file = JsReader::read<int32_t>(call[2], "file")};
}

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
  const auto warm = [compiler](const Napi::CallbackInfo& of) -> Napi::Value {
    compiler->compile(GrammarKind::kJson, "");
    return of.Env().Undefined();
  };
  const auto compile_apart = [compiler](const Napi::CallbackInfo& of) -> Napi::Value {
    const Asked asked = to_asked(of);
    auto* compilation =
        new Compilation(of.Env(), compiler, asked, JsReader::read<CompileLimits>(of[3], "limits"));
    auto out = Napi::Object::New(of.Env());
    const auto kill = [process = compilation->process()](const Napi::CallbackInfo&) { process->kill(); };
    const auto cpu_seconds = [process = compilation->process()](const Napi::CallbackInfo& at) -> Napi::Value {
      return Napi::Number::New(at.Env(), process->cpu_seconds());
    };
    out.Set("outcome", compilation->promise());
    out.Set("kill", Napi::Function::New(of.Env(), kill, "kill"));
    out.Set("cpuSeconds", Napi::Function::New(of.Env(), cpu_seconds, "cpuSeconds"));
    compilation->Queue();  // deletes itself when it is done
    return out;
  };
  const auto read = [compiler](const Napi::CallbackInfo& of) -> Napi::Value {
    const Asked asked = to_asked(of);
    if (!of[3].IsNumber()) throw Napi::TypeError::New(of.Env(), "read takes a number of bytes.");
    auto* reading = new Reading(of.Env(), compiler, asked, of[3].As<Napi::Number>().Int64Value());
    const Napi::Promise promise = reading->promise();
    reading->Queue();  // deletes itself when it is done
    return promise;
  };
  auto object = Napi::Object::New(env);
  object.Set("warm", Napi::Function::New(env, warm, "warm"));
  object.Set("compileApart", Napi::Function::New(env, compile_apart, "compileApart"));
  object.Set("read", Napi::Function::New(env, read, "read"));
  return object;
}

Napi::Value make_memory_file_value(const Napi::CallbackInfo& call) {
  try {
    return Napi::Number::New(call.Env(), make_memory_file());
  } catch (const EngineError&) {
    throw from_exception(call.Env(), std::current_exception());
  }
}

SharedGrammar to_grammar(const Napi::Value& value) {
  if (!value.IsExternal() || !value.As<Napi::External<SharedGrammar>>().CheckTypeTag(&kGrammarTag)) {
    throw Napi::TypeError::New(value.Env(), "grammar of a constraint must be one that a compiler gave.");
  }
  return *value.As<Napi::External<SharedGrammar>>().Data();
}

}  // namespace llmservice
