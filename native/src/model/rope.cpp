#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/dtype.h"

namespace llmservice {
namespace {

// Llama 3.1: wavelengths beyond the original context are stretched by `factor`, short ones are kept, and
// those between are blended.
float llama3_frequency(float frequency, const Llama3Scaling& s) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < s.original_max_positions / s.high_freq_factor) return frequency;
  if (wavelength > s.original_max_positions / s.low_freq_factor)
    return static_cast<float>(frequency / s.factor);
  const double blend =
      (s.original_max_positions / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return static_cast<float>((1 - blend) * frequency / s.factor + blend * frequency);
}

// The index of the frequency that turns `rotations` times over the original context.
double yarn_index(double rotations, const YarnScaling& s, const RopeConfig& rope) {
  return rope.rotary * std::log(s.original_max_positions / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(rope.theta));
}

// Frequencies below the index of beta_fast are kept, those above that of beta_slow divided by `factor`, with
// a linear ramp between (arXiv 2309.00071, "NTK-by-parts").
void stretch_yarn(const YarnScaling& s, const RopeConfig& rope, std::vector<float>& frequencies) {
  double low = yarn_index(s.beta_fast, s, rope);
  double high = yarn_index(s.beta_slow, s, rope);
  if (s.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, rope.rotary - 1.0);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] = static_cast<float>(frequencies[i] / s.factor * ramp + frequencies[i] * (1 - ramp));
  }
}

void stretch(const RopeConfig& rope, std::vector<float>& frequencies) {
  if (const auto* yarn = std::get_if<YarnScaling>(&rope.scaling)) stretch_yarn(*yarn, rope, frequencies);
  if (const auto* own = std::get_if<DivisorScaling>(&rope.scaling)) {
    for (size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= own->divisors[i];
  }
  for (float& frequency : frequencies) {
    if (const auto* llama3 = std::get_if<Llama3Scaling>(&rope.scaling)) {
      frequency = llama3_frequency(frequency, *llama3);
    } else if (const auto* linear = std::get_if<LinearScaling>(&rope.scaling)) {
      frequency = static_cast<float>(frequency / linear->factor);
    }
  }
  if (const auto* part = std::get_if<ProportionalScaling>(&rope.scaling)) {
    for (size_t i = 0; i < frequencies.size(); ++i) {
      const bool rotates = i < static_cast<size_t>(part->angles);
      frequencies[i] = rotates ? static_cast<float>(frequencies[i] / part->factor) : 0;
    }
  }
}

}  // namespace

std::vector<float> rope_frequencies(const RopeConfig& rope) {
  std::vector<float> frequencies(rope.rotary / 2);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rope.rotary);
    frequencies[i] = 1.0f / std::pow(static_cast<float>(rope.theta), exponent);
  }
  stretch(rope, frequencies);
  return frequencies;
}

void read_rope_divisors(const Checkpoint& checkpoint, RopeConfig& rope) {
  const std::string name = "rope_freqs.weight";
  if (!checkpoint.has(name)) return;
  const Tensor tensor = checkpoint.tensor(name, {rope.rotary / 2});
  const auto refuse = [&](const std::string& found) {
    throw EngineError(FailureReason::kCheckpointCorrupt, tensor.file->name() + ": tensor " + name + " " +
                                                             found + "; expected positive numbers in F32.");
  };
  if (tensor.dtype != DType::kF32) refuse(std::string("has type ") + name_of(tensor.dtype));
  DivisorScaling scaling{std::vector<float>(rope.rotary / 2)};
  tensor.read(0, std::as_writable_bytes(std::span(scaling.divisors)));
  for (const float divisor : scaling.divisors) {
    if (!(divisor > 0) || !std::isfinite(divisor)) refuse("holds " + std::to_string(divisor));
  }
  rope.scaling = std::move(scaling);
}

float rope_factor(const RopeScaling& scaling) {
  const auto* yarn = std::get_if<YarnScaling>(&scaling);
  return yarn != nullptr ? static_cast<float>(yarn->attention_factor) : 1.0f;
}

}  // namespace llmservice
