#include "engine/device_sampler.h"

namespace llmservice {

void DeviceSampler::begin() {
  lists_.clear();
  ran_ = 0;
}

bool DeviceSampler::takes(const SamplingParams& params, const TokenCounts& counts, const RulesAt* rules,
                          std::span<const int32_t> ahead) const {
  return model_.samples() && SampleLists::edits_of(params, counts, rules, ahead) <= kMaxSampleEdits;
}

int32_t DeviceSampler::draw(int32_t row, const SamplingParams& params, const TokenCounts& counts,
                            int32_t position, std::span<const uint32_t> allowed, const RulesAt* rules,
                            std::span<const int32_t> ahead) {
  make_room(SampleLists::edits_of(params, counts, rules, ahead));
  const int32_t index = asked();
  lists_.add_draw(row, params, counts, position, allowed, rules, ahead);
  return index;
}

int32_t DeviceSampler::score(int32_t row, int32_t token, int32_t alternatives) {
  make_room(0);
  const int32_t index = asked();
  lists_.add_score(row, token, alternatives);
  return index;
}

void DeviceSampler::run() {
  if (lists_.size() == 0) return;
  model_.sample(lists_.batch(), ran_);
  ran_ = asked();
  lists_.clear();
}

void DeviceSampler::make_room(int64_t edits) {
  if (!lists_.have_room_for(edits)) run();
}

}  // namespace llmservice
