// Sequences with non-finite logits or none that differ: found within the step, named by place, and ended.
#include <algorithm>

#include "engine/engine.h"

namespace llmservice {

// Checks all rows, also those of which no logits are wanted: a prompt fails in the step that spoils it,
// before its KV can be reused.
void Engine::find_faulty_rows(std::span<const int32_t> faults, StepResult& result) {
  row_faults_.assign(faults.begin(), faults.end());
  if (std::ranges::all_of(faults, [](int32_t fault) { return fault == 0; })) return;
  for (const Segment& segment : segments_) {
    // What becomes of drafts is not known yet.
    const auto own = faults.subspan(segment.first, segment.count - segment.drafts);
    // Attention carries a fault to later rows, in later places: the cause is the first place, and there the
    // first row.
    const auto before = [](int32_t a, int32_t b) { return a != 0 && (b == 0 || a < b); };
    const auto first = std::ranges::min_element(own, before);
    if (*first == 0) continue;
    slots_.at(segment.slot).finished = true;
    result.faults.push_back({.slot = segment.slot,
                             .position = segment.position + static_cast<int32_t>(first - own.begin()),
                             .kind = FaultKind::kNotFinite,
                             .place = model_->place_of(*first)});
  }
}

// The row's token is not to be had. Where its residual was finite, the fault came after the last layer.
void Engine::report_fault(const Output& output, FaultKind kind, StepResult& result) const {
  // Draft rows are checked only here.
  const int32_t fault = kind == FaultKind::kNotFinite ? row_faults_[output.row] : 0;
  result.faults.push_back({.slot = output.slot,
                           .position = output.position - 1,
                           .kind = kind,
                           .place = fault == 0 ? after_layers() : model_->place_of(fault)});
}

}  // namespace llmservice
