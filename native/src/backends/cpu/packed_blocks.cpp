#include "backends/cpu/packed_blocks.h"

namespace llmservice::cpu {
namespace {

// Element `output` of a row of 64.
template <class T>
T* element(std::byte* row, int64_t output) {
  return reinterpret_cast<T*>(row) + output;
}

uint32_t low_bits(uint32_t word, int bits) { return word & ((1u << bits) - 1); }

// The low `bits` of each code, the first code's in the low ones, in one word.
uint32_t to_word(const uint8_t* codes, int bits) {
  uint32_t word = 0;
  for (int i = 32 / bits - 1; i >= 0; --i) word = word << bits | low_bits(codes[i], bits);
  return word;
}

// The bits of codes above those that lie with the columns.
uint32_t to_high_word(const uint8_t* codes, const PanelForm& form) {
  uint32_t word = 0;
  for (int i = 0; i < 32 / form.high_bits; ++i) {
    word |= low_bits(codes[i] >> form.code_bits, form.high_bits) << high_shift(form.high_bits, i);
  }
  return word;
}

void put_codes(const BlockPanel& to, int64_t first, const uint8_t* codes, int64_t columns) {
  const int bits = panel_form(to.dtype).code_bits;
  if (bits == 8) {
    for (int64_t i = 0; i < columns; ++i) {
      *element<uint8_t>(to.weights + (first + i) * kPanelRows, to.output) = codes[i];
    }
    return;
  }
  for (int64_t i = 0; i < columns; i += 32 / bits) {
    *element<uint32_t>(to.weights + (first + i) * bits / 8 * kPanelRows, to.output) =
        to_word(codes + i, bits);
  }
}

void put_shared(const BlockPanel& to, std::byte* shared, const BlockScales& scales, const uint8_t* codes) {
  const PanelForm form = panel_form(to.dtype);
  if (form.words > 0) *element<uint32_t>(shared, to.output) = scales.word;
  if (form.halves > 0) *element<uint16_t>(shared + shared_half(0), to.output) = scales.d;
  if (form.halves > 1) *element<uint16_t>(shared + shared_half(1), to.output) = scales.dmin;
  for (int64_t g = 0; g < form.groups; ++g) {
    std::byte* const group = shared + shared_group(to.dtype, g);
    *element<uint8_t>(group, to.output) = scales.scale[g];
    if (form.group_bytes > 1) *element<uint8_t>(group + kPanelRows, to.output) = scales.minimum[g];
  }
  const int64_t words = block_layout(to.dtype).columns * form.high_bits / 32;
  for (int64_t word = 0; word < words; ++word) {
    *element<uint32_t>(shared + shared_high(to.dtype, word), to.output) =
        to_high_word(codes + word * 32 / form.high_bits, form);
  }
}

BlockScales get_shared(const BlockPanel& from, std::byte* shared) {
  const PanelForm form = panel_form(from.dtype);
  BlockScales scales{};
  if (form.words > 0) scales.word = *element<uint32_t>(shared, from.output);
  if (form.halves > 0) scales.d = *element<uint16_t>(shared + shared_half(0), from.output);
  if (form.halves > 1) scales.dmin = *element<uint16_t>(shared + shared_half(1), from.output);
  for (int64_t g = 0; g < form.groups; ++g) {
    std::byte* const group = shared + shared_group(from.dtype, g);
    scales.scale[g] = *element<uint8_t>(group, from.output);
    if (form.group_bytes > 1) scales.minimum[g] = *element<uint8_t>(group + kPanelRows, from.output);
  }
  return scales;
}

// The word of code `i` of those that lie `bits` each in words for 64 outputs.
uint32_t word_of(std::byte* words, int64_t output, int64_t i, int bits) {
  return *element<uint32_t>(words + i / (32 / bits) * 4 * kPanelRows, output);
}

uint8_t get_code(const BlockPanel& from, std::byte* shared, int64_t first, int64_t i) {
  const PanelForm form = panel_form(from.dtype);
  const int64_t column = first + i;
  if (form.code_bits == 8) return *element<uint8_t>(from.weights + column * kPanelRows, from.output);
  const uint32_t low = word_of(from.weights, from.output, column, form.code_bits);
  uint32_t code = low_bits(low >> (column % (32 / form.code_bits) * form.code_bits), form.code_bits);
  if (form.high_bits > 0) {
    std::byte* const words = shared + shared_high(from.dtype, 0);
    const uint32_t high = word_of(words, from.output, i, form.high_bits);
    const int shift = high_shift(form.high_bits, i % (32 / form.high_bits));
    code |= low_bits(high >> shift, form.high_bits) << form.code_bits;
  }
  return static_cast<uint8_t>(code);
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
    shared += shared_bytes(to.dtype);
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
    shared += shared_bytes(from.dtype);
  }
}

}  // namespace llmservice::cpu
