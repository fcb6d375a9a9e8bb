#include "backends/cpu/packed_blocks.h"

#include <cstring>

namespace llmservice::cpu {
namespace {

// Element `output` of a row of 64.
template <class T>
T* element(std::byte* row, int64_t output) {
  return reinterpret_cast<T*>(row) + output;
}

// Codes of `Bits` bits, the first in the low ones, in one word.
template <int Bits>
uint32_t to_word(const uint8_t* codes, int shift) {
  uint32_t word = 0;
  for (int i = 32 / Bits - 1; i >= 0; --i) word = word << Bits | (codes[i] >> shift & ((1u << Bits) - 1));
  return word;
}

void put_codes(const BlockPanel& to, int64_t first, const uint8_t* codes, int64_t columns) {
  if (to.dtype == DType::kQ8_0) {
    for (int64_t i = 0; i < columns; ++i) {
      *element<uint8_t>(to.weights + (first + i) * kPanelRows, to.output) = codes[i];
    }
    return;
  }
  for (int64_t i = 0; i < columns; i += 8) {
    *element<uint32_t>(to.weights + (first + i) / 2 * kPanelRows, to.output) = to_word<4>(codes + i, 0);
  }
}

void put_shared(const BlockPanel& to, std::byte* shared, const BlockScales& scales, const uint8_t* codes) {
  *element<uint16_t>(shared + kSharedD, to.output) = scales.d;
  if (to.dtype == DType::kQ4_K) {
    *element<uint16_t>(shared + kQ4KSharedDmin, to.output) = scales.dmin;
    for (int64_t g = 0; g < 8; ++g) {
      *element<uint8_t>(shared + q4k_shared_group(g), to.output) = scales.scale[g];
      *element<uint8_t>(shared + q4k_shared_group(g) + kPanelRows, to.output) = scales.minimum[g];
    }
  }
  if (to.dtype == DType::kQ6_K) {
    for (int64_t g = 0; g < 16; ++g) {
      *element<uint8_t>(shared + q6k_shared_scale(g), to.output) = scales.scale[g];
      *element<uint32_t>(shared + q6k_shared_high(g), to.output) = to_word<2>(codes + 16 * g, 4);
    }
  }
}

BlockScales get_shared(const BlockPanel& from, std::byte* shared) {
  BlockScales scales{};
  scales.d = *element<uint16_t>(shared + kSharedD, from.output);
  if (from.dtype == DType::kQ4_K) {
    scales.dmin = *element<uint16_t>(shared + kQ4KSharedDmin, from.output);
    for (int64_t g = 0; g < 8; ++g) {
      scales.scale[g] = *element<uint8_t>(shared + q4k_shared_group(g), from.output);
      scales.minimum[g] = *element<uint8_t>(shared + q4k_shared_group(g) + kPanelRows, from.output);
    }
  }
  for (int64_t g = 0; g < 16 && from.dtype == DType::kQ6_K; ++g) {
    scales.scale[g] = *element<uint8_t>(shared + q6k_shared_scale(g), from.output);
  }
  return scales;
}

uint8_t get_code(const BlockPanel& from, std::byte* shared, int64_t first, int64_t i) {
  const int64_t column = first + i;
  if (from.dtype == DType::kQ8_0) return *element<uint8_t>(from.weights + column * kPanelRows, from.output);
  const uint32_t low = *element<uint32_t>(from.weights + column / 8 * 4 * kPanelRows, from.output);
  const uint32_t code = low >> (column % 8 * 4) & 15;
  if (from.dtype != DType::kQ6_K) return static_cast<uint8_t>(code);
  const uint32_t high = *element<uint32_t>(shared + q6k_shared_high(i / 16), from.output);
  return static_cast<uint8_t>(code | (high >> (i % 16 * 2) & 3) << 4);
}

}  // namespace

void pack_block_row(const BlockPanel& to, const std::byte* row, int64_t cols) {
  const BlockLayout layout = block_layout(to.dtype);
  std::byte* shared = to.shared;
  for (int64_t first = 0; first < cols; first += layout.columns, row += layout.bytes) {
    uint8_t codes[256];
    block_codes(to.dtype, row, codes);
    put_codes(to, first, codes, layout.columns);
    put_shared(to, shared, block_scales(to.dtype, row), codes);
    shared += kPanelRows * shared_bytes(to.dtype);
  }
}

void widen_block_row(const BlockPanel& from, int64_t cols, float* out) {
  const int64_t columns = block_layout(from.dtype).columns;
  std::byte* shared = from.shared;
  for (int64_t first = 0; first < cols; first += columns) {
    const BlockScales scales = get_shared(from, shared);
    for (int64_t i = 0; i < columns; ++i) {
      out[first + i] = block_value(from.dtype, get_code(from, shared, first, i), scales, i);
    }
    shared += kPanelRows * shared_bytes(from.dtype);
  }
}

}  // namespace llmservice::cpu
