// Embeddings: hidden states after the final norm, of the first or last token or summed over the prompt. The
// sum runs token by token in float, so that its bits do not depend on how the prompt was cut into steps.
#include <algorithm>

#include "engine/engine.h"
#include "engine/vocab_math.h"

namespace llmservice {

void Engine::pool_rows(StepResult& result) {
  const auto width = static_cast<size_t>(model_->config().hidden);
  for (const auto& [index, first, count, end] : pooled_) {
    Slot& slot = slots_.at(index);
    if (slot.finished) continue;
    slot.pooled.resize(width, 0);
    for (int32_t done = 0; done < count; done += Model::kLogitRows) {
      const auto rows = model_->hidden(first + done, std::min(Model::kLogitRows, count - done));
      for (size_t row = 0; row < rows.size(); row += width) {
        for (size_t i = 0; i < width; ++i) slot.pooled[i] += rows[row + i];
      }
    }
    if (end < slot.known()) continue;
    slot.finished = true;
    if (slot.pooling == Pooling::kMean) {
      for (float& value : slot.pooled) value /= static_cast<float>(slot.known());
    }
    if (!all_finite(slot.pooled)) {
      result.faults.push_back({.slot = index,
                               .position = slot.known() - 1,
                               .kind = FaultKind::kNotFinite,
                               .place = after_layers()});
      continue;
    }
    result.embeddings.slots.push_back(index);
    result.embeddings.values.insert(result.embeddings.values.end(), slot.pooled.begin(), slot.pooled.end());
  }
}

}  // namespace llmservice
