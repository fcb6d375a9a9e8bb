// The engine on several ranks. Rank 0 alone is given plans and samples; it sends each plan, and after the
// forward pass the ids that it sampled, to the others, which keep the same slots by the same steps.
#include <algorithm>

#include "engine/engine.h"
#include "engine/plan_wire.h"

namespace llmservice {
namespace {

// In place of an id: the row's logits were not numbers.
constexpr int32_t kFaultyRow = -1;

}  // namespace

Engine::~Engine() {
  // A group in the midst of a step, or one that has lost a rank, is left as it is: the others see us go.
  if (!group_ || group_->rank() != 0 || half_done_) return;
  try {
    group_->close();
  } catch (const EngineError&) {
    return;
  }
}

void Engine::share_plan(const StepPlan& plan) {
  if (!group_) return;
  if (group_->rank() == 0) group_->send(encode_plan(plan));
}

void Engine::report_what_runs() {
  if (!group_) return;
  const bool decodes =
      std::ranges::all_of(segments_, [](const Segment& s) { return s.count - s.drafts == 1; });
  group_->doing(decodes ? Doing::kDecoding : Doing::kPrefilling);
}

void Engine::share_samples(const StepResult& result) {
  if (!group_) return;
  std::vector<int32_t> ids = result.tokens;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (result.finish[i] == Finish::kNumericalFault) ids[i] = kFaultyRow;
  }
  // Only rank 0 sees that rows are faulty, and what is drafted depends on who continues.
  for (const Fault& fault : result.faults) ids.push_back(fault.slot);
  group_->send(std::as_bytes(std::span(ids)));
}

void Engine::follow_outputs() {
  const auto total = static_cast<int32_t>(outputs_.size());
  for (int32_t first = 0; first < total; first += Model::kLogitRows) {
    model_->make_logits(first, std::min(Model::kLogitRows, total - first));
  }
  model_->outcome(0);  // nothing, but what this rank's device has failed in shows here
  const std::vector<std::byte> message = group_->receive();
  const auto* id = reinterpret_cast<const int32_t*>(message.data());
  for (const Output& output : outputs_) {
    if (!output.sample || !counts(output)) continue;
    if (*id == kFaultyRow) {
      slots_.at(output.slot).finished = true;
    } else {
      slots_.append(output.slot, *id);
    }
    ++id;
  }
  const auto* end = reinterpret_cast<const int32_t*>(message.data() + message.size());
  for (; id < end; ++id) slots_.at(*id).finished = true;
}

void Engine::follow() {
  for (;;) {
    const std::vector<std::byte> message = group_->receive();
    if (message.empty()) return group_->close();
    switch (kind_of(message)) {
      case MessageKind::kPlan:
        step(decode_plan(message));
        break;
      case MessageKind::kAdapter:
        load_adapter(decode_part(message));
        break;
      case MessageKind::kUnload:
        unload_adapter(decode_unload(message));
        break;
      case MessageKind::kOffer:
        offer_kv(decode_offer(message));
        break;
      case MessageKind::kWithdraw:
        withdraw_kv(decode_withdraw(message));
        break;
      case MessageKind::kFetch:
        fetch_kv(decode_fetch(message));
        break;
      case MessageKind::kFetched:
        fetched_kv(decode_fetch_id(message));
        break;
      case MessageKind::kEndFetch:
        end_fetch(decode_fetch_id(message));
        break;
    }
  }
}

}  // namespace llmservice
