#include "model/rope.h"

#include <cmath>
#include <numbers>

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

}  // namespace

std::vector<float> rope_frequencies(const RopeConfig& rope) {
  std::vector<float> frequencies(rope.rotary / 2);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rope.rotary);
    const float frequency = 1.0f / std::pow(static_cast<float>(rope.theta), exponent);
    frequencies[i] = rope.scaling ? llama3_frequency(frequency, *rope.scaling) : frequency;
  }
  return frequencies;
}

RopeTables rope_tables(const RopeConfig& rope, int32_t positions) {
  const auto frequencies = rope_frequencies(rope);
  RopeTables tables;
  tables.cos.reserve(positions * frequencies.size());
  tables.sin.reserve(positions * frequencies.size());
  for (int32_t p = 0; p < positions; ++p) {
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(p) * frequency;
      tables.cos.push_back(std::cos(angle));
      tables.sin.push_back(std::sin(angle));
    }
  }
  return tables;
}

}  // namespace llmservice
