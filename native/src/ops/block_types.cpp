#include "ops/block_types.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ops/dtype.h"

namespace llmservice {
namespace {

const uint8_t* bytes_at(const std::byte* block, int64_t offset) {
  return reinterpret_cast<const uint8_t*>(block) + offset;
}

uint32_t word_at(const std::byte* block) {
  uint32_t bits;
  std::memcpy(&bits, block, sizeof bits);
  return bits;
}

uint16_t half_at(const std::byte* block, int64_t offset) {
  uint16_t bits;
  std::memcpy(&bits, block + offset, sizeof bits);
  return bits;
}

// `count` bytes of two codes: first all low nibbles, then all high ones.
void nibbles(const uint8_t* from, int64_t count, uint8_t* codes) {
  for (int64_t i = 0; i < count; ++i) {
    codes[i] = from[i] & 15;
    codes[count + i] = from[i] >> 4;
  }
}

// A word of one bit per column, and the nibbles below them.
void five_bits(const std::byte* block, int64_t at, uint8_t* codes) {
  nibbles(bytes_at(block, at + 4), 16, codes);
  const uint8_t* high = bytes_at(block, at);
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(codes[i] | (high[i / 8] >> (i % 8) & 1) << 4);
}

// Where d lies, if there is one, and how many f16 numbers there are: one that is added or subtracted follows.
struct HalvesPlace {
  int64_t d;
  int count;
};

HalvesPlace halves_place(DType t) {
  switch (t) {
    case DType::kQ6_K:
      return {208, 1};
    case DType::kQ2_K:
      return {80, 2};
    case DType::kQ3_K:
      return {108, 1};
    case DType::kQ4_1:
    case DType::kQ5_1:
    case DType::kQ4_K:
    case DType::kQ5_K:
      return {0, 2};
    case DType::kMXFP4:
    case DType::kInt4:
    case DType::kInt8:
      return {0, 0};
    default:
      return {0, 1};
  }
}

constexpr uint8_t kE8m0NaN = 255;
constexpr int64_t kQ4KCodes = 16;  // where the codes begin
constexpr int64_t kQ2KCodes = 16;
constexpr int64_t kQ3KCodes = 32;
constexpr int64_t kQ3KScales = 96;
constexpr int64_t kIq4XsCodes = 8;
constexpr int64_t kQ5KHigh = 16;
constexpr int64_t kQ5KCodes = 48;
constexpr int64_t kQ6KHigh = 128;
constexpr int64_t kQ6KScales = 192;

// Four runs of 64 columns in 32 bytes each, from `at` on.
void k_nibbles(const std::byte* block, int64_t at, uint8_t* codes) {
  for (int64_t i = 0; i < 4; ++i) nibbles(bytes_at(block, at + 32 * i), 32, codes + 64 * i);
}

// 32 bytes, each with a bit of eight columns 32 apart, which lies above the `below` bits that are there.
void k_high_bits(const uint8_t* high, int below, uint8_t* codes) {
  for (int i = 0; i < 256; ++i) {
    codes[i] = static_cast<uint8_t>(codes[i] | (high[i % 32] >> (i / 32) & 1) << below);
  }
}

// Each half of 128 columns: 32 bytes, each with codes of two bits of four columns 32 apart.
void k_pairs(const uint8_t* from, uint8_t* codes) {
  for (int i = 0; i < 256; ++i) codes[i] = from[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

// Eight bytes hold the low nibbles of scales eight apart, four more the high bits of scales four apart.
void q3k_scales(const uint8_t* packed, BlockScales& scales) {
  for (int i = 0; i < 16; ++i) {
    const int low = packed[i % 8] >> (i / 8 * 4) & 15;
    const int high = packed[8 + i % 4] >> (i / 4 * 2) & 3;
    scales.scale[i] = static_cast<uint8_t>((low | high << 4) - 32);
  }
}

// Two bytes hold the high bits of eight scales, four more their low nibbles.
void iq4xs_scales(const std::byte* block, BlockScales& scales) {
  const uint8_t* low = bytes_at(block, 4);
  for (int i = 0; i < 8; ++i) {
    const int high = half_at(block, 2) >> (2 * i) & 3;
    scales.scale[i] = static_cast<uint8_t>(((low[i / 2] >> (i % 2 * 4) & 15) | high << 4) - 32);
  }
}

// Each half of 128 columns: 64 bytes of low nibbles, 32 bytes that hold the high bits of columns 32 apart.
void q6k_codes(const std::byte* block, uint8_t* codes) {
  for (int half = 0; half < 2; ++half, codes += 128) {
    nibbles(bytes_at(block, 64 * half), 64, codes);
    const uint8_t* high = bytes_at(block, kQ6KHigh + 32 * half);
    for (int i = 0; i < 128; ++i) {
      codes[i] = static_cast<uint8_t>(codes[i] | (high[i % 32] >> (i / 32 * 2) & 3) << 4);
    }
  }
}

// Twelve bytes hold eight scales and eight minima of six bits: the first four of each whole in the low bits
// of bytes 0..7, the others' low nibbles in bytes 8..11 and their high bits atop bytes 0..7.
void q4k_scales(const uint8_t* packed, BlockScales& scales) {
  for (int i = 0; i < 4; ++i) {
    scales.scale[i] = packed[i] & 63;
    scales.minimum[i] = packed[4 + i] & 63;
    scales.scale[4 + i] = static_cast<uint8_t>((packed[8 + i] & 15) | packed[i] >> 6 << 4);
    scales.minimum[4 + i] = static_cast<uint8_t>(packed[8 + i] >> 4 | packed[4 + i] >> 6 << 4);
  }
}

bool is_finite_half(uint16_t bits) { return (bits & 0x7c00) != 0x7c00; }

}  // namespace

void block_codes(DType t, const std::byte* block, uint8_t* codes) {
  switch (t) {
    case DType::kQ8_0:
      std::memcpy(codes, block + 2, 32);
      return;
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return nibbles(bytes_at(block, 2), 16, codes);
    case DType::kMXFP4:
      return nibbles(bytes_at(block, 1), 16, codes);
    case DType::kQ4_1:
    case DType::kInt4:
      return nibbles(bytes_at(block, 4), 16, codes);
    case DType::kInt8:
      std::memcpy(codes, block + 4, 32);
      return;
    case DType::kQ5_0:
      return five_bits(block, 2, codes);
    case DType::kQ5_1:
      return five_bits(block, 4, codes);
    case DType::kQ4_K:
      return k_nibbles(block, kQ4KCodes, codes);
    case DType::kIQ4_XS:
      for (int64_t i = 0; i < 8; ++i) nibbles(bytes_at(block, kIq4XsCodes + 16 * i), 16, codes + 32 * i);
      return;
    case DType::kQ5_K:
      k_nibbles(block, kQ5KCodes, codes);
      return k_high_bits(bytes_at(block, kQ5KHigh), 4, codes);
    case DType::kQ2_K:
      return k_pairs(bytes_at(block, kQ2KCodes), codes);
    case DType::kQ3_K:
      k_pairs(bytes_at(block, kQ3KCodes), codes);
      return k_high_bits(bytes_at(block, 0), 2, codes);
    default:
      return q6k_codes(block, codes);
  }
}

BlockScales block_scales(DType t, const std::byte* block) {
  BlockScales scales{};
  const HalvesPlace halves = halves_place(t);
  if (halves.count > 0) scales.d = half_at(block, halves.d);
  if (halves.count > 1) scales.dmin = half_at(block, halves.d + 2);
  if (t == DType::kQ4_K || t == DType::kQ5_K) q4k_scales(bytes_at(block, 4), scales);
  if (t == DType::kQ3_K) q3k_scales(bytes_at(block, kQ3KScales), scales);
  if (t == DType::kMXFP4) scales.scale[0] = *bytes_at(block, 0);
  if (is_integer_block(t)) scales.word = word_at(block);
  if (t == DType::kIQ4_XS) iq4xs_scales(block, scales);
  if (t == DType::kQ2_K) std::memcpy(scales.scale, block, 16);
  if (t == DType::kQ6_K) std::memcpy(scales.scale, block + kQ6KScales, 16);
  return scales;
}

float block_value(DType t, uint8_t code, const BlockScales& scales, int64_t column) {
  const float d = f16_to_float(scales.d);
  const auto whole = static_cast<float>(code);
  switch (t) {
    case DType::kQ8_0:
      return static_cast<float>(static_cast<int8_t>(code)) * d;
    case DType::kQ4_0:
      return (whole - 8) * d;
    case DType::kQ5_0:
      return (whole - 16) * d;
    case DType::kQ4_1:
    case DType::kQ5_1:
      return whole * d + f16_to_float(scales.dmin);
    case DType::kQ4_K:
    case DType::kQ5_K:
      return whole * (d * scales.scale[column / 32]) -
             f16_to_float(scales.dmin) * scales.minimum[column / 32];
    case DType::kQ2_K:
      return whole * (d * (scales.scale[column / 16] & 15)) -
             f16_to_float(scales.dmin) * (scales.scale[column / 16] >> 4);
    case DType::kMXFP4:
      return e2m1_to_float(code) * std::ldexp(1.0f, scales.scale[0] - 127);
    case DType::kInt4:
    case DType::kInt8:
      return (whole - static_cast<float>(scales.word & kZeroPointMask)) *
             std::bit_cast<float>(scales.word & ~kZeroPointMask);
    case DType::kIQ4_NL:
      return kIq4Values[code] * d;
    case DType::kIQ4_XS:
      return kIq4Values[code] * (d * static_cast<int8_t>(scales.scale[column / 32]));
    case DType::kQ3_K:
      return (whole - 4) * (d * static_cast<int8_t>(scales.scale[column / 16]));
    default:
      return (whole - 32) * (d * static_cast<int8_t>(scales.scale[column / 16]));
  }
}

float block_value(DType t, const std::byte* data, int64_t index) {
  const BlockLayout layout = block_layout(t);
  const std::byte* block = data + index / layout.columns * layout.bytes;
  uint8_t codes[256];
  block_codes(t, block, codes);
  const int64_t column = index % layout.columns;
  return block_value(t, codes[column], block_scales(t, block), column);
}

bool has_finite_scales(DType t, std::span<const std::byte> data) {
  const auto step = static_cast<size_t>(block_layout(t).bytes);
  const HalvesPlace halves = halves_place(t);
  bool finite = true;
  for (size_t at = 0; at + step <= data.size(); at += step) {
    const std::byte* const d = data.data() + at + halves.d;
    for (int i = 0; i < halves.count; ++i) finite = finite && is_finite_half(half_at(d, 2 * i));
    if (t == DType::kMXFP4) finite = finite && *bytes_at(d, 0) != kE8m0NaN;
    if (is_integer_block(t)) finite = finite && std::isfinite(std::bit_cast<float>(word_at(d)));
  }
  return finite;
}

}  // namespace llmservice
