// No device: the matrix instructions of vendor/fragments.h by the vendors' documents, NVIDIA's for warps of
// 32 lanes and AMD's for 64. Products are summed in double and rounded once.
#pragma once

#include <array>
#include <functional>

#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr bool kHasFp8Mma = true;

// Byte `byte` of K, of 32, of row `row` of an operand: the lane that holds it, and where in its registers.
// Four bytes on a border of four stay together.
struct OperandPlace {
  int lane;
  int at;
};
constexpr OperandPlace weight_place(int row, int byte) {
  if (kWarpSize == 64) return {byte / 8 * 16 + row, byte % 8};
  return {row % 8 * 4 + byte % 16 / 4, (byte / 16 * 2 + row / 8) * 4 + byte % 4};
}
constexpr OperandPlace token_place(int column, int byte) {
  if (kWarpSize == 64) return {byte / 8 * 16 + column, byte % 8};
  return {column * 4 + byte % 16 / 4, byte / 16 * 4 + byte % 4};
}

template <class Code, class Widen>
void emulate_mma(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens, Widen widen,
                 Place place) {
  constexpr int kBytes = sizeof(Code);
  constexpr int kInWord = 4 / kBytes;
  constexpr int kWeights = kWarpSize == 64 ? 2 : 4;  // words
  struct Operands {
    float weights[kWeights * kInWord];
    float tokens[2 * kInWord];
  } own;
  for (int i = 0; i < kWeights * kInWord; ++i) {
    own.weights[i] = widen(static_cast<Code>(weights[i / kInWord] >> (i % kInWord * kBytes * 8)));
  }
  for (int i = 0; i < 2 * kInWord; ++i) {
    own.tokens[i] = widen(static_cast<Code>(tokens[i / kInWord] >> (i % kInWord * kBytes * 8)));
  }
  const uint64_t* const all = emulator::exchange(reinterpret_cast<uint64_t>(&own), "a product", place);
  const int lane = lane_id();
  for (int i = 0; i < 4; ++i) {
    const int row = kWarpSize == 64 ? lane / 16 * 4 + i : lane / 4 + i / 2 * 8;
    const int column = kWarpSize == 64 ? lane % 16 : lane % 4 * 2 + i % 2;
    double sum = 0;
    for (int byte = 0; byte < 32; byte += 4) {
      const OperandPlace a = weight_place(row, byte);
      const OperandPlace b = token_place(column, byte);
      const float* const left = reinterpret_cast<const Operands*>(all[a.lane])->weights + a.at / kBytes;
      const float* const right = reinterpret_cast<const Operands*>(all[b.lane])->tokens + b.at / kBytes;
      for (int j = 0; j < kInWord; ++j) sum += static_cast<double>(left[j]) * right[j];
    }
    sums[i] = static_cast<float>(sums[i] + sum);
  }
  emulator::gather_warp("the end of a product", place);  // others have read `own`
}

inline void mma_fp8(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens,
                    Place place = Here::current()) {
  static const auto values = [] {
    std::array<float, 256> table;
    for (int code = 0; code < 256; ++code) table[code] = fp8_to_float(static_cast<uint8_t>(code));
    return table;
  }();
  emulate_mma<uint8_t>(
      sums, weights, tokens, [](uint8_t code) { return values[code]; }, place);
}

inline void mma_bf16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens,
                     Place place = Here::current()) {
  emulate_mma<uint16_t>(
      sums, weights, tokens, [](uint16_t code) { return bf16_to_float(code); }, place);
}

inline void mma_f16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens,
                    Place place = Here::current()) {
  emulate_mma<uint16_t>(
      sums, weights, tokens, [](uint16_t code) { return f16_to_float(code); }, place);
}

template <class Combine>
uint32_t combine_halves(uint32_t a, uint32_t b, Combine combine) {
  uint32_t both = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const float value = combine(f16_to_float(static_cast<uint16_t>(a >> shift)),
                                f16_to_float(static_cast<uint16_t>(b >> shift)));
    both |= static_cast<uint32_t>(float_to_f16(value)) << shift;
  }
  return both;
}

// Both are exact in float.
inline uint32_t multiply_halves(uint32_t a, uint32_t b) { return combine_halves(a, b, std::multiplies()); }
inline uint32_t add_halves(uint32_t a, uint32_t b) { return combine_halves(a, b, std::plus()); }
inline OperandPair look_up(uint32_t codes, const uint32_t (&table)[4]) {
  OperandPair bytes{};
  for (int i = 0; i < 8; ++i) {
    const uint32_t code = codes >> 4 * i & 15;
    bytes.words[i % 2] |= (table[code / 4] >> code % 4 * 8 & 0xff) << i / 2 * 8;
  }
  return bytes;
}
inline float half_to_float(uint32_t word) { return f16_to_float(static_cast<uint16_t>(word)); }

constexpr bool kStartsEarly = true;

inline void keep_order() {}

class MemoryWindow {
 public:
  MemoryWindow(const void* from, uint32_t bytes)
      : from_(static_cast<const std::byte*>(from)), bytes_(bytes) {}

  template <bool kStreamed = false>
  OperandVector vector(uint32_t lane_offset, uint32_t offset) const {
    OperandVector value{};
    if (lane_offset + offset < bytes_) copy(from_ + offset + lane_offset, &value);
    return value;
  }
  float number(uint32_t lane_offset, uint32_t offset) const {
    float value = 0;
    if (lane_offset + offset < bytes_) copy(from_ + offset + lane_offset, &value);
    return value;
  }
  OperandPair pair(uint32_t lane_offset, uint32_t offset) const {
    OperandPair value{};
    if (lane_offset + offset < bytes_) copy(from_ + offset + lane_offset, &value);
    return value;
  }

 private:
  // The compiler marks no access of a memcpy() for the access checker.
  template <class T>
  static void copy(const std::byte* from, T* to) {
    watch::read(from, sizeof(T));
    std::memcpy(to, from, sizeof(T));
  }

  const std::byte* from_;
  uint32_t bytes_;
};

}  // namespace llmservice::gpu
