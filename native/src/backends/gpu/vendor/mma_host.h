// No device: mma.h slot by slot as the instructions document it, in either vendor's layout.
#pragma once

#include <cmath>

#include "backends/gpu/vendor/emulator.h"

namespace llmservice::gpu {

// Element `slot` of an operand's line, from the lane and register that the instruction takes it from.
inline float operand_slot(const Operand& (*operand)(uint64_t), const uint64_t* lanes, int line, int slot) {
  const int lane = kLines == 2 ? line % 8 * 4 + slot % 8 / 2 : line + slot / 4 * 16;
  const Quad& quad = operand(lanes[lane]).line[kLines == 2 ? line / 8 : 0];
  const bool high = kLines == 2 ? slot >= 8 : slot % 4 >= 2;
  const uint32_t word = high ? quad.high : quad.low;
  return bf16_to_float(static_cast<uint16_t>(slot % 2 == 0 ? word : word >> 16));
}

inline void multiply(const Operand& a, const Operand& b, Accumulator& d) {
  struct Operands {
    Operand a;
    Operand b;
  };
  const Operands own{a, b};
  const uint64_t* const lanes = emulator::exchange(reinterpret_cast<uint64_t>(&own));
  const auto rows = [](uint64_t lane) -> const Operand& {
    return reinterpret_cast<const Operands*>(lane)->a;
  };
  const auto columns = [](uint64_t lane) -> const Operand& {
    return reinterpret_cast<const Operands*>(lane)->b;
  };
  float left[kResultRows][16];
  float right[kResultColumns][16];
  for (int slot = 0; slot < 16; ++slot) {
    for (int r = 0; r < kResultRows; ++r) left[r][slot] = operand_slot(rows, lanes, result_row(r), slot);
    for (int c = 0; c < kResultColumns; ++c)
      right[c][slot] = operand_slot(columns, lanes, result_column(c), slot);
  }
  for (int r = 0; r < kResultRows; ++r) {
    for (int c = 0; c < kResultColumns; ++c) {
      for (int slot = 0; slot < 16; ++slot) d.at[r][c] += left[r][slot] * right[c][slot];
    }
  }
  emulator::meet_warp();  // the others' operands lie on their stacks
}

inline uint32_t pack_bf16(float low, float high) {
  return float_to_bf16(low) | static_cast<uint32_t>(float_to_bf16(high)) << 16;
}
inline uint32_t low_halves(uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }
inline uint32_t high_halves(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }

inline Quad widen_fp8(uint32_t codes) {
  const auto widen = [codes](int i) { return bits_of(fp8_to_float(static_cast<uint8_t>(codes >> 8 * i))); };
  return {high_halves(widen(0), widen(1)), high_halves(widen(2), widen(3))};
}

inline float fast_exp2(float x) { return x < -126 ? 0.0f : std::exp2(x); }

// The host's compiler is told never to fuse (-ffp-contract=off).
inline float separate_product(float a, float b) { return a * b; }

}  // namespace llmservice::gpu
