// Recurrent states under drafts. A state moves only over rows that count; of a row that may come to nothing
// its inputs are kept, and once the row is known to count, the next step runs it again from them, by the same
// operations in the same order, before its own rows.
#include "model/model.h"

namespace llmservice {

void Model::plan_draft_states(const ModelStep& step) {
  drafts_kept_.clear();
  for (const Segment& segment : step.segments) {
    const int32_t first = segment.first + segment.count - segment.drafts;
    for (int32_t i = 0; i < segment.drafts; ++i) {
      drafts_kept_.push_back({.from = first + i, .to = segment.slot * max_drafts_ + i});
    }
  }
  drafts_taken_.clear();
  drafts_replayed_.clear();
  for (const auto& [slot, count] : step.replays) {
    const auto first = static_cast<int32_t>(drafts_taken_.size());
    drafts_replayed_.push_back(
        {.first = first, .count = count, .position = 0, .slot = slot, .blocks = nullptr, .chunked_until = 0});
    for (int32_t i = 0; i < count; ++i) {
      drafts_taken_.push_back({.from = slot * max_drafts_ + i, .to = first + i});
    }
  }
}

// `stride`: of the projections in work_.wide.
void Model::keep_draft_inputs(size_t layer, int64_t stride) {
  if (drafts_kept_.empty()) return;
  const GdnShape shape = gdn_shape(*config_.gdn);
  const int64_t channels = gdn_channels(shape);
  const int64_t gates = 2 * static_cast<int64_t>(shape.v_heads);
  const int64_t width = draft_input_width(shape);
  float* const kept = caches_.draft_inputs(layer);
  backend_.copy_rows(drafts_kept_, work_.wide, stride, channels, kept, width);
  backend_.copy_rows(drafts_kept_, work_.gates, gates, gates, kept + channels, width);
}

void Model::replay_drafts(const GdnWeights& weights, size_t layer) {
  if (drafts_replayed_.empty()) return;
  const GdnShape shape = gdn_shape(*config_.gdn);
  const GdnState state = caches_.gdn(layer);
  const int64_t channels = gdn_channels(shape);
  const int64_t gates = 2 * static_cast<int64_t>(shape.v_heads);
  const int64_t width = draft_input_width(shape);
  const float* const kept = caches_.draft_inputs(layer);
  backend_.copy_rows(drafts_taken_, kept, width, channels, work_.wide, channels);
  backend_.copy_rows(drafts_taken_, kept + channels, width, gates, work_.gates, gates);
  backend_.gdn_conv(shape, drafts_replayed_, weights.conv.data(), work_.wide, channels, state);
  backend_.gdn(shape, drafts_replayed_, work_.wide, channels, work_.gates, work_.gates + shape.v_heads, gates,
               weights.a_log.data(), weights.dt_bias.data(), state, work_.mixed, {});
}

}  // namespace llmservice
