#include "ops/block_types.h"

#include <cstring>

#include "ops/dtype.h"

namespace llmservice {
namespace {

const uint8_t* bytes_at(const std::byte* block, int64_t offset) {
  return reinterpret_cast<const uint8_t*>(block) + offset;
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

constexpr int64_t kQ4KCodes = 16;  // where the codes begin
constexpr int64_t kQ6KHigh = 128;
constexpr int64_t kQ6KScales = 192;
constexpr int64_t kQ6KD = 208;

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
      return nibbles(bytes_at(block, 2), 16, codes);
    case DType::kQ4_K:
      for (int64_t i = 0; i < 4; ++i) nibbles(bytes_at(block, kQ4KCodes + 32 * i), 32, codes + 64 * i);
      return;
    default:
      return q6k_codes(block, codes);
  }
}

BlockScales block_scales(DType t, const std::byte* block) {
  BlockScales scales{};
  scales.d = half_at(block, t == DType::kQ6_K ? kQ6KD : 0);
  if (t == DType::kQ4_K) {
    scales.dmin = half_at(block, 2);
    q4k_scales(bytes_at(block, 4), scales);
  }
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
    case DType::kQ4_K:
      return whole * (d * scales.scale[column / 32]) -
             f16_to_float(scales.dmin) * scales.minimum[column / 32];
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
  bool finite = true;
  for (size_t at = 0; at + step <= data.size(); at += step) {
    finite = finite && is_finite_half(half_at(data.data() + at, t == DType::kQ6_K ? kQ6KD : 0));
    if (t == DType::kQ4_K) finite = finite && is_finite_half(half_at(data.data() + at, 2));
  }
  return finite;
}

}  // namespace llmservice
