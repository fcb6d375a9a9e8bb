// Engine -> JavaScript.
#include <algorithm>

#include "napi/convert.h"

namespace llmservice {
namespace {

template <typename Array, typename T>
Array typed_array(Napi::Env env, const std::vector<T>& values) {
  auto array = Array::New(env, values.size());
  std::transform(values.begin(), values.end(), array.Data(),
                 [](T value) { return static_cast<std::remove_pointer_t<decltype(array.Data())>>(value); });
  return array;
}

Napi::Int32Array from_drafts(Napi::Env env, const std::vector<HeldDrafts>& drafts) {
  std::vector<int32_t> flat;
  for (const auto& [slot, tokens] : drafts) {
    flat.push_back(slot);
    flat.push_back(static_cast<int32_t>(tokens.size()));
    flat.insert(flat.end(), tokens.begin(), tokens.end());
  }
  return typed_array<Napi::Int32Array>(env, flat);
}

Napi::Object from_prompt(Napi::Env env, const PromptLogprobs& prompt) {
  auto out = Napi::Object::New(env);
  out.Set("slots", typed_array<Napi::Int32Array>(env, prompt.slots));
  out.Set("positions", typed_array<Napi::Int32Array>(env, prompt.positions));
  out.Set("logprobs", typed_array<Napi::Float32Array>(env, prompt.logprobs));
  out.Set("ranks", typed_array<Napi::Int32Array>(env, prompt.ranks));
  out.Set("topOffsets", typed_array<Napi::Int32Array>(env, prompt.top_offsets));
  out.Set("topTokens", typed_array<Napi::Int32Array>(env, prompt.top_tokens));
  out.Set("topLogprobs", typed_array<Napi::Float32Array>(env, prompt.top_logprobs));
  return out;
}

Napi::Object from_embeddings(Napi::Env env, const Embeddings& embeddings) {
  auto out = Napi::Object::New(env);
  out.Set("slots", typed_array<Napi::Int32Array>(env, embeddings.slots));
  out.Set("values", typed_array<Napi::Float32Array>(env, embeddings.values));
  return out;
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCollapsed:
      return "collapsed";
    case FaultKind::kDeadEnd:
      return "deadEnd";
    case FaultKind::kSlowConstraint:
      return "slowConstraint";
    case FaultKind::kStuck:
      return "stuck";
    default:
      return "notFinite";
  }
}

Napi::Array from_faults(Napi::Env env, const std::vector<Fault>& faults) {
  auto out = Napi::Array::New(env, faults.size());
  for (uint32_t i = 0; i < faults.size(); ++i) {
    const auto& [slot, position, kind, place] = faults[i];
    auto fault = Napi::Object::New(env);
    fault.Set("slot", slot);
    fault.Set("position", position);
    fault.Set("kind", name_of(kind));
    fault.Set("layer", place.layer ? Napi::Number::New(env, *place.layer) : env.Null());
    fault.Set("part", place.part);
    out.Set(i, fault);
  }
  return out;
}

Napi::Error error_with(Napi::Env env, const std::string& message, FailureReason reason,
                       const EngineError::Detail& figures = {}) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("reason", Napi::String::New(env, name_of(reason)));
  if (figures.empty()) return error;
  auto detail = Napi::Object::New(env);
  for (const auto& [name, value] : figures) detail.Set(name, static_cast<double>(value));
  error.Set("detail", detail);
  return error;
}

}  // namespace

Napi::Object from_info(Napi::Env env, const EngineInfo& info) {
  auto out = Napi::Object::New(env);
  out.Set("architecture", info.architecture);
  out.Set("isa", info.isa);
  out.Set("threads", info.threads);
  out.Set("vocabSize", info.vocab_size);
  out.Set("weightBytes", static_cast<double>(info.weight_bytes));
  out.Set("workspaceBytes", static_cast<double>(info.workspace_bytes));
  out.Set("numBlocks", info.num_blocks);
  out.Set("kvBytesPerBlock", static_cast<double>(info.kv_bytes_per_block));
  out.Set("stateBytesPerSeq", static_cast<double>(info.state_bytes_per_seq));
  out.Set("draftBytesPerSeq", static_cast<double>(info.draft_bytes_per_seq));
  out.Set("hybrid", info.hybrid);
  out.Set("collectives",
          info.collectives.empty() ? env.Null() : Napi::Value(Napi::String::New(env, info.collectives)));
  return out;
}

Napi::Object from_result(Napi::Env env, const StepResult& result) {
  auto out = Napi::Object::New(env);
  out.Set("slots", typed_array<Napi::Int32Array>(env, result.slots));
  out.Set("tokens", typed_array<Napi::Int32Array>(env, result.tokens));
  out.Set("finish", typed_array<Napi::Uint8Array>(env, result.finish));
  out.Set("logprobs", typed_array<Napi::Float32Array>(env, result.logprobs));
  out.Set("topOffsets", typed_array<Napi::Int32Array>(env, result.top_offsets));
  out.Set("topTokens", typed_array<Napi::Int32Array>(env, result.top_tokens));
  out.Set("topLogprobs", typed_array<Napi::Float32Array>(env, result.top_logprobs));
  out.Set("drafts", from_drafts(env, result.drafts));
  out.Set("logitHashes", typed_array<Napi::BigUint64Array>(env, result.logit_hashes));
  out.Set("prompt", from_prompt(env, result.prompt));
  out.Set("embeddings", from_embeddings(env, result.embeddings));
  out.Set("faults", from_faults(env, result.faults));
  out.Set("rows", result.rows);
  out.Set("computeMicros", result.compute_micros);
  return out;
}

Napi::Error from_exception(Napi::Env env, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const EngineError& e) {
    return error_with(env, e.what(), e.reason(), e.detail());
  } catch (const std::bad_alloc&) {
    return error_with(env, "The engine ran out of memory.", FailureReason::kOutOfMemory);
  } catch (const std::exception& e) {
    return error_with(env, std::string("The engine failed: ") + e.what(), FailureReason::kEngineFault);
  }
}

}  // namespace llmservice
