// What the self-check at start feeds matrices with. Multiples of 1/8 up to 1.75: float32, BF16, F16 and e4m3
// hold each of them, and since the largest comes every few columns, so do codes under one scale per 128
// columns, where the largest code is 448. What activations are rounded to then costs nothing, and a small
// difference is a fault.
#pragma once

#include <cstdint>

namespace llmservice {

constexpr int64_t kProbeRows = 2;

// Of a row of activations and a column of the whole matrix, over all ranks.
inline float probe_value(int64_t row, int64_t column) {
  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t bits = static_cast<uint64_t>(row * 0x100000000 + column + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  const auto eighths = static_cast<float>(column % 16 == 0 ? 14 : bits % 14 + 1);
  return ((bits >> 32) & 1) != 0 ? eighths / 8 : -eighths / 8;
}

}  // namespace llmservice
