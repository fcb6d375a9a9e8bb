// One position's K or V of one head in eight bits: e4m3 codes under one scale, which brings the largest of
// them to 448. The scale is of this row alone, so that its bits do not depend on what else is stored.
#pragma once

#include <algorithm>
#include <limits>

#include "ops/dtype.h"

namespace llmservice {

// Writes the codes of row (dim) and returns their scale. A row with a value that is not finite gets NaN for a
// scale, so that the fault reaches the logits.
inline float quantize_kv_row(const float* row, int32_t dim, uint8_t* codes) {
  float largest = 0;
  bool finite = true;
  for (int32_t i = 0; i < dim; ++i) {
    const float magnitude = std::fabs(row[i]);
    finite &= magnitude <= std::numeric_limits<float>::max();
    largest = std::max(largest, magnitude);
  }
  const float scale = largest / 448.0f;
  // Below the normal numbers a quotient has no precision left: such a row is as good as zero.
  if (!finite || scale < std::numeric_limits<float>::min()) {
    std::fill_n(codes, dim, uint8_t{0});
    return finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  for (int32_t i = 0; i < dim; ++i) codes[i] = float_to_e4m3(row[i] / scale);
  return scale;
}

}  // namespace llmservice
