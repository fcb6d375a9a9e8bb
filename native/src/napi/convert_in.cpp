// JavaScript -> engine.
#include <cstring>

#include "grammar/after_reasoning.h"
#include "napi/convert.h"
#include "napi/grammars.h"

namespace llmservice {
namespace {

[[noreturn]] void wrong(const Napi::Env& env, const std::string& path, const std::string& expected) {
  throw Napi::TypeError::New(env, path + " must be " + expected + ".");
}

// The fields of one object; `path` names it in messages.
class Fields {
 public:
  Fields(Napi::Object object, std::string path) : object_(object), path_(std::move(path)) {}

  double number(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsNumber()) wrong(object_.Env(), path_ + name, "a number");
    return value.As<Napi::Number>().DoubleValue();
  }
  float real(const char* name) const { return static_cast<float>(number(name)); }
  int32_t integer(const char* name) const {
    const double value = number(name);
    if (value != static_cast<double>(static_cast<int32_t>(value))) {
      wrong(object_.Env(), path_ + name, "a 32-bit integer");
    }
    return static_cast<int32_t>(value);
  }
  std::optional<int32_t> integer_or_null(const char* name) const {
    if (object_.Get(name).IsNull()) return std::nullopt;
    return integer(name);
  }
  std::string text(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsString()) wrong(object_.Env(), path_ + name, "a string");
    return value.As<Napi::String>().Utf8Value();
  }
  // What the text stands for among `choices`.
  template <class T, size_t n>
  T choice(const char* name, const std::pair<const char*, T> (&choices)[n]) const {
    const std::string given = text(name);
    std::string names;
    for (size_t i = 0; i < n; ++i) {
      if (given == choices[i].first) return choices[i].second;
      names += (i == 0 ? "'" : i + 1 < n ? ", '" : " or '") + std::string(choices[i].first) + "'";
    }
    wrong(object_.Env(), path_ + name, names);
  }
  bool flag(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsBoolean()) wrong(object_.Env(), path_ + name, "true or false");
    return value.As<Napi::Boolean>().Value();
  }
  uint64_t big(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsBigInt()) wrong(object_.Env(), path_ + name, "a bigint");
    bool lossless = false;  // seeds wrap at 64 bits
    return value.As<Napi::BigInt>().Uint64Value(&lossless);
  }
  std::vector<int32_t> integers(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
      wrong(object_.Env(), path_ + name, "an Int32Array");
    }
    const auto array = value.As<Napi::Int32Array>();
    return {array.Data(), array.Data() + array.ElementLength()};
  }
  std::vector<float> reals(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
      wrong(object_.Env(), path_ + name, "a Float32Array");
    }
    const auto array = value.As<Napi::Float32Array>();
    return {array.Data(), array.Data() + array.ElementLength()};
  }
  // Triples of integers, flattened in one Int32Array.
  template <typename Triple>
  std::vector<Triple> triples(const char* name) const {
    const auto flat = integers(name);
    if (flat.size() % 3 != 0) wrong(object_.Env(), path_ + name, "an Int32Array of triples");
    std::vector<Triple> out;
    out.reserve(flat.size() / 3);
    for (size_t i = 0; i < flat.size(); i += 3) out.push_back({flat[i], flat[i + 1], flat[i + 2]});
    return out;
  }
  // Pairs of integers, flattened in one Int32Array.
  template <typename Pair>
  std::vector<Pair> pairs(const char* name) const {
    const auto flat = integers(name);
    if (flat.size() % 2 != 0) wrong(object_.Env(), path_ + name, "an Int32Array of pairs");
    std::vector<Pair> out;
    out.reserve(flat.size() / 2);
    for (size_t i = 0; i < flat.size(); i += 2) out.push_back({flat[i], flat[i + 1]});
    return out;
  }
  bool is_null(const char* name) const { return object_.Get(name).IsNull(); }
  Napi::Value value(const char* name) const { return object_.Get(name); }
  Fields object(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsObject()) wrong(object_.Env(), path_ + name, "an object");
    return {value.As<Napi::Object>(), path_ + name + "."};
  }
  Napi::Array array(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsArray()) wrong(object_.Env(), path_ + name, "an array");
    return value.As<Napi::Array>();
  }

 private:
  Napi::Object object_;
  std::string path_;
};

std::optional<RankPlace> to_place(const Fields& options) {
  if (options.is_null("place")) return std::nullopt;
  const Fields fields = options.object("place");
  return RankPlace{
      .rank = fields.integer("rank"), .size = fields.integer("size"), .segment = fields.integer("segment")};
}

std::optional<MemoryShare> to_memory(const Fields& options) {
  if (options.is_null("memory")) return std::nullopt;
  const Fields fields = options.object("memory");
  return MemoryShare{.utilization_percent = fields.integer("utilizationPercent"),
                     .context_bytes = static_cast<int64_t>(fields.number("contextBytes")),
                     .graph_bytes = static_cast<int64_t>(fields.number("graphBytes")),
                     .planned_blocks = fields.integer("plannedBlocks")};
}

std::shared_ptr<const CheckpointSource> to_source(const Fields& options, const char* name) {
  try {
    return std::make_shared<CheckpointSource>(parse_checkpoint_source(options.text(name)));
  } catch (const std::invalid_argument& error) {
    throw Napi::TypeError::New(options.value(name).Env(), error.what());
  }
}

DType to_dtype(const Fields& fields) {
  return fields.choice<DType>("dtype",
                              {{"auto", DType::kBF16}, {"bfloat16", DType::kBF16}, {"float32", DType::kF32}});
}

std::optional<DType> to_kv_dtype(const Fields& fields) {
  return fields.choice<std::optional<DType>>("kvCacheDtype",
                                             {{"auto", std::nullopt}, {"fp8", DType::kF8E4M3}});
}

std::string to_device(const Fields& fields) {
  return fields.choice<const char*>(
      "device", {{"cpu", "cpu"}, {"cuda", "cuda"}, {"hip", "hip"}, {"emulator", "emulator"}});
}

Collectives to_collectives(const Fields& fields) {
  return fields.choice<Collectives>(
      "collectives",
      {{"auto", Collectives::kAuto}, {"own", Collectives::kOwn}, {"library", Collectives::kLibrary}});
}

Speculation to_speculation(const Fields& fields) {
  const auto method = fields.choice<DraftMethod>(
      "method", {{"none", DraftMethod::kNone}, {"ngram", DraftMethod::kNgram}, {"mtp", DraftMethod::kMtp}});
  return {method, fields.integer("tokens")};
}

Pooling to_pooling(const Fields& fields) {
  return fields.choice<Pooling>(
      "pooling", {{"none", Pooling::kNone}, {"last", Pooling::kLast}, {"mean", Pooling::kMean}});
}

SamplingParams to_sampling(const Fields& fields) {
  return {.temperature = fields.real("temperature"),
          .top_p = fields.real("topP"),
          .top_k = fields.integer("topK"),
          .min_p = fields.real("minP"),
          .typical_p = fields.real("typicalP"),
          .seed = fields.big("seed"),
          .repetition_penalty = fields.real("repetitionPenalty"),
          .presence_penalty = fields.real("presencePenalty"),
          .frequency_penalty = fields.real("frequencyPenalty"),
          .top_logprobs = fields.integer_or_null("topLogprobs")};
}

std::shared_ptr<const Grammar> to_constraint(const Fields& fields) {
  if (fields.is_null("constraint")) return nullptr;
  const Fields constraint = fields.object("constraint");
  auto grammar = to_grammar(constraint.value("grammar"));
  if (constraint.is_null("after")) return grammar;
  const Fields after = constraint.object("after");
  return std::make_shared<AfterReasoning>(std::move(grammar),
                                          ReasoningIds{.begin = after.integer_or_null("begin"),
                                                       .end = after.integer("end"),
                                                       .stops = fields.integers("stopTokens")});
}

std::optional<ReasoningBudget> to_reasoning(const Fields& rules) {
  if (rules.is_null("reasoning")) return {};
  const Fields fields = rules.object("reasoning");
  return ReasoningBudget{.tokens = fields.integer("tokens"),
                         .begin = fields.integer_or_null("begin"),
                         .end = fields.integer("end")};
}

TokenRules to_rules(const Fields& admission) {
  if (admission.is_null("rules")) return {};
  const Fields fields = admission.object("rules");
  return {.biased = fields.integers("biased"),
          .biases = fields.reals("biases"),
          .allowed = fields.integers("allowed"),
          .banned = fields.integers("banned"),
          .banned_ends = fields.integers("bannedEnds"),
          .min_tokens = fields.integer("minTokens"),
          .reasoning = to_reasoning(fields)};
}

Admission to_admission(const Fields& fields) {
  return {.slot = fields.integer("slot"),
          .tokens = fields.integers("tokens"),
          .cached_tokens = fields.integer("cachedTokens"),
          .snapshot = fields.integer_or_null("snapshot"),
          .prompt_length = fields.integer("promptLength"),
          .max_length = fields.integer("maxLength"),
          .stop_tokens = fields.integers("stopTokens"),
          .sampling = to_sampling(fields.object("sampling")),
          .prompt_logprobs = fields.flag("promptLogprobs"),
          .pooling = to_pooling(fields),
          .grammar = to_constraint(fields),
          .rules = to_rules(fields)};
}

}  // namespace

EngineOptions to_engine_options(const Napi::Object& value) {
  const Fields fields(value, "options.");
  return {.checkpoint = to_source(fields, "checkpoint"),
          .block_size = fields.integer("blockSize"),
          .num_blocks = fields.integer("numBlocks"),
          .max_num_seqs = fields.integer("maxNumSeqs"),
          .num_state_snapshots = fields.integer("numStateSnapshots"),
          .max_model_len = fields.integer("maxModelLen"),
          .max_num_batched_tokens = fields.integer("maxNumBatchedTokens"),
          .dtype = to_dtype(fields),
          .kv_dtype = to_kv_dtype(fields),
          .head = fields.is_null("head") ? nullptr : to_source(fields, "head"),
          .speculation = to_speculation(fields.object("speculative")),
          .threads = fields.integer_or_null("threads").value_or(0),
          .isa = fields.text("isa"),
          .device = to_device(fields),
          .collectives = to_collectives(fields),
          .logit_hashes = fields.flag("logitHashes"),
          .place = to_place(fields),
          .memory = to_memory(fields)};
}

ArrivalMap to_arrival_map(const Napi::Object& value) {
  const Fields fields(value, "arrivals.");
  ArrivalMap map{.descriptor = fields.integer("descriptor"),
                 .piece_bytes = static_cast<uint64_t>(fields.integer("pieceBytes")),
                 .first_pieces = {}};
  const Napi::Value files = value.Get("firstPieces");
  if (!files.IsObject()) wrong(value.Env(), "arrivals.firstPieces", "an object");
  const Fields pieces(files.As<Napi::Object>(), "arrivals.firstPieces.");
  const Napi::Array names = files.As<Napi::Object>().GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).As<Napi::String>();
    map.first_pieces.emplace(name, pieces.integer(name.c_str()));
  }
  return map;
}

StepPlan to_step_plan(const Napi::Object& value) {
  const Fields fields(value, "plan.");
  StepPlan plan{.release = fields.integers("release"),
                .admit = {},
                .blocks = fields.pairs<SlotBlock>("blocks"),
                .rows = fields.pairs<RowEntry>("rows"),
                .replace = fields.triples<Replacement>("replace"),
                .saves = fields.triples<StateSave>("saves"),
                .drafts = fields.integer("drafts"),
                .ahead = fields.flag("ahead")};
  if (!fields.is_null("warmup"))
    plan.warmup = WarmupRun{.accepted = fields.object("warmup").integer("acceptedDrafts")};
  const Napi::Array admissions = fields.array("admit");
  for (uint32_t i = 0; i < admissions.Length(); ++i) {
    const Napi::Value entry = admissions[i];
    const std::string path = "plan.admit[" + std::to_string(i) + "]";
    if (!entry.IsObject()) wrong(value.Env(), path, "an object");
    plan.admit.push_back(to_admission({entry.As<Napi::Object>(), path + "."}));
  }
  return plan;
}

}  // namespace llmservice
