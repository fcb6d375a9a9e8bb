// JavaScript -> engine.
#include "napi/convert.h"
#include "napi/js_reader.h"

namespace llmservice {
namespace {

std::shared_ptr<const CheckpointSource> to_source(const Napi::Env& env, const std::string& description) {
  try {
    return std::make_shared<CheckpointSource>(parse_checkpoint_source(description));
  } catch (const std::invalid_argument& error) {
    throw Napi::TypeError::New(env, error.what());
  }
}

Collectives to_collectives(CollectivesChoice choice) {
  switch (choice) {
    case CollectivesChoice::kOwn:
      return Collectives::kOwn;
    case CollectivesChoice::kLibrary:
      return Collectives::kLibrary;
    default:
      return Collectives::kAuto;
  }
}

}  // namespace

EngineOptions to_engine_options(const Napi::Value& value) {
  // One that is declared and not passed on does not compile.
  const auto [checkpoint, head, block_size, num_blocks, memory, max_num_seqs, num_state_snapshots,
              max_model_len, max_num_batched_tokens, dtype, kv_cache_dtype, speculative, threads, device,
              collectives, isa, logit_hashes, self_check, max_adapter_rank, transfer, place] =
      JsReader::read<BoundOptions>(value, "options");
  return {.checkpoint = to_source(value.Env(), checkpoint),
          .block_size = block_size,
          .num_blocks = num_blocks,
          .max_num_seqs = max_num_seqs,
          .num_state_snapshots = num_state_snapshots,
          .max_model_len = max_model_len,
          .max_num_batched_tokens = max_num_batched_tokens,
          .dtype = dtype == ComputeDtype::kFloat32 ? DType::kF32 : DType::kBF16,
          .kv_dtype = kv_cache_dtype == KvCacheDtype::kFp8 ? std::optional(DType::kF8E4M3) : std::nullopt,
          .head = head ? to_source(value.Env(), *head) : nullptr,
          .speculation = speculative,
          .threads = threads.value_or(0),
          .isa = name_of(isa),
          .device = name_of(device),
          .collectives = to_collectives(collectives),
          .logit_hashes = logit_hashes,
          .place = place,
          .memory = memory,
          .self_check = self_check,
          .max_adapter_rank = max_adapter_rank,
          .transfer = transfer};
}

ArrivalMap to_arrival_map(const Napi::Value& value) { return JsReader::read<ArrivalMap>(value, "arrivals"); }

StepPlan to_step_plan(const Napi::Value& value) { return JsReader::read<StepPlan>(value, "plan"); }

AdapterPart to_adapter_part(const Napi::Value& value) { return JsReader::read<AdapterPart>(value, "part"); }

KvOffer to_kv_offer(const Napi::Value& value) { return JsReader::read<KvOffer>(value, "offer"); }

KvFetch to_kv_fetch(const Napi::Value& value) { return JsReader::read<KvFetch>(value, "fetch"); }

}  // namespace llmservice
