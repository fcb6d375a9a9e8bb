// Adapters that come and go between steps. Of several ranks all have an adapter or none has: each says how
// its own read went, and a failure of one is a failure of all.
#include "model/adapters.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "engine/engine.h"
#include "engine/plan_rules.h"
#include "engine/plan_wire.h"

namespace llmservice {
namespace {

// What a rank says of its read.
struct Outcome {
  bool failed;
  FailureReason reason;
  std::array<char, 1000> message;  // cut short where it is longer; ends with 0
};

Outcome outcome_of(const std::optional<EngineError>& error) {
  Outcome outcome{};
  if (!error) return outcome;
  outcome.failed = true;
  outcome.reason = error->reason();
  std::strncpy(outcome.message.data(), error->what(), outcome.message.size() - 1);
  return outcome;
}

}  // namespace

void Engine::check_adapters(const StepPlan& plan) const {
  const auto check = [&](int32_t adapter, const char* list, size_t i, int32_t slot) {
    if (adapter == 0 || model_->adapters().has(adapter)) return;
    broken(entry(list, i, slot), "uses adapter " + std::to_string(adapter) + ", which is not loaded.");
  };
  for (size_t i = 0; i < plan.admit.size(); ++i) check(plan.admit[i].adapter, "admit", i, plan.admit[i].slot);
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const int32_t slot = plan.rows[i].slot;
    const bool admitted = std::ranges::any_of(plan.admit, [&](const Admission& a) { return a.slot == slot; });
    if (!admitted) check(slots_.at(slot).adapter, "rows", i, slot);
  }
}

void Engine::load_adapter(const AdapterPart& part) {
  refuse_half_done();
  if (model_->stages() > 1) {
    throw EngineError(FailureReason::kParallelismInvalid,
                      "Stages load no adapters: merge them into the checkpoint.");
  }
  if (!group_) return model_->adapters().load(part);
  const bool leads = group_->rank() == 0;
  if (leads) {
    // Refused before the others hear of it: what they would then drop is in use.
    if (model_->adapters().has(part.number)) return model_->adapters().load(part);
    group_->send(encode_part(part));
  }
  std::optional<EngineError> error;
  try {
    model_->adapters().load(part);
  } catch (const EngineError& failure) {
    error = failure;
  }
  const Outcome own = outcome_of(error);
  const std::vector<std::byte> all = group_->exchange(std::as_bytes(std::span(&own, 1)));
  for (size_t at = 0; at < all.size(); at += sizeof(Outcome)) {
    Outcome outcome;
    std::memcpy(&outcome, all.data() + at, sizeof(outcome));
    if (!outcome.failed) continue;
    model_->adapters().drop(part.number);
    if (leads) throw EngineError(outcome.reason, outcome.message.data());
    return;
  }
}

void Engine::unload_adapter(int32_t number) {
  refuse_half_done();
  if (group_ && group_->rank() == 0) group_->send(encode_unload(number));
  model_->adapters().drop(number);
}

}  // namespace llmservice
