#include "engine/vocab_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace llmservice {
namespace {

constexpr size_t kLanes = 16;

// Cody-Waite reduction to [-ln2/2, ln2/2], then a degree-6 polynomial. For x <= 0.
inline float exp_nonpositive(float x) {
  constexpr float kRound =
      12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits
  // Masks in place of choices between floats, which compilers make branches that do not vectorize.
  const uint32_t keep = static_cast<uint32_t>(x < -87.0f) - 1;
  const float clamped =
      std::bit_cast<float>((std::bit_cast<uint32_t>(x) & keep) | (std::bit_cast<uint32_t>(-87.0f) & ~keep));
  const float shifted = clamped * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const auto power = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const float scale = std::bit_cast<float>((power + 127) << 23);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p * scale) & keep);
}

}  // namespace

bool all_finite(std::span<const float> logits) {
  uint32_t bad = 0;
  for (const float x : logits) bad |= (std::bit_cast<uint32_t>(x) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
  return bad == 0;
}

bool are_usable(std::span<const float> logits) {
  uint32_t bad = 0;
  uint32_t differs = 0;
  const float first = logits[0];
  for (const float x : logits) {
    bad |= (std::bit_cast<uint32_t>(x) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
    differs |= x != first ? 1u : 0u;
  }
  return bad == 0 && (differs != 0 || logits.size() == 1);
}

int32_t argmax(std::span<const float> logits) {
  std::array<float, kLanes> best;
  best.fill(-std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      best[lane] = logits[i + lane] > best[lane] ? logits[i + lane] : best[lane];
    }
  }
  float top = *std::max_element(best.begin(), best.end());
  for (; i < logits.size(); ++i) top = std::max(top, logits[i]);
  return static_cast<int32_t>(std::find(logits.begin(), logits.end(), top) - logits.begin());
}

int32_t rank_of(std::span<const float> logits, int32_t token) {
  const float own = logits[token];
  int32_t rank = 0;
  for (const float x : logits) rank += x >= own ? 1 : 0;
  return rank;
}

void softmax_weights(std::span<const float> logits, float top, float inverse_temperature,
                     std::span<float> out) {
  const float* in = logits.data();
  float* to = out.data();
  for (size_t i = 0; i < logits.size(); ++i) to[i] = exp_nonpositive((in[i] - top) * inverse_temperature);
}

double sum(std::span<const float> values) {
  std::array<double, kLanes> lanes{};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  double total = 0;
  for (const double lane : lanes) total += lane;
  for (; i < values.size(); ++i) total += values[i];
  return total;
}

}  // namespace llmservice
