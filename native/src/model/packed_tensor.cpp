#include "model/packed_tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/column_groups.h"
#include "model/derived_tensor.h"
#include "ops/block_types.h"
#include "ops/dtype.h"
#include "ops/error.h"

namespace llmservice {
namespace {

// Output channels that are unpacked at once: where they lie side by side, a read brings a KiB.
constexpr int64_t kRows = 256;
constexpr int64_t kBlockWidth = 32;

// AWQ: which of a word's eight nibbles holds column 0, 1, ... of its eight. Source: AutoAWQ,
// packing_utils.py.
constexpr int kInterleaved[] = {0, 4, 1, 5, 2, 6, 3, 7};

struct OpenPart {
  const TensorFile* file;
  const PackedPart* place;
};

// Rows [first, first + count) of the stored matrix.
struct RowRange {
  int64_t first;
  int64_t count;
};

class PackedTensor final : public DerivedTensor {
 public:
  PackedTensor(const TensorPlace& place, const OpenFile& open, const Arrivals* arrivals,
               std::shared_ptr<UnpackedRows> unpacked)
      : DerivedTensor(*open(place.packed->codes.file), place.offset, arrivals),
        packed_(*place.packed),
        rows_(place.shape[0]),
        cols_(place.shape[1]),
        codes_{open(packed_.codes.file), &packed_.codes},
        scales_{open(packed_.scales.file), &packed_.scales},
        unpacked_(std::move(unpacked)) {
    if (packed_.zeros) zeros_ = {open(packed_.zeros->file), &*packed_.zeros};
    if (packed_.groups) groups_ = {open(packed_.groups->file), &*packed_.groups};
  }

  std::vector<int32_t> column_order() const override {
    return packed_.reordered ? order_of(read_groups()) : std::vector<int32_t>{};
  }

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    const std::lock_guard lock(unpacked_->mutex);
    const auto row_bytes = static_cast<uint64_t>(cols_ / kBlockWidth * block_bytes());
    while (!out.empty()) {
      const auto row = static_cast<int64_t>(offset / row_bytes);
      unpack(row / kRows * kRows);
      const uint64_t within = offset - static_cast<uint64_t>(unpacked_->first) * row_bytes;
      const size_t count = std::min<size_t>(out.size(), unpacked_->bytes.size() - within);
      std::copy_n(unpacked_->bytes.begin() + static_cast<int64_t>(within), count, out.begin());
      out = out.subspan(count);
      offset += count;
    }
  }

 private:
  int64_t block_bytes() const { return block_layout(packed_.bits == 4 ? DType::kInt4 : DType::kInt8).bytes; }
  int64_t per_word() const { return 32 / packed_.bits; }
  int64_t groups() const { return (cols_ + packed_.group_columns - 1) / packed_.group_columns; }
  bool by_row() const {
    return packed_.layout == PackedLayout::kRows || packed_.layout == PackedLayout::kBytes;
  }
  uint8_t code_of(uint32_t word, int64_t place) const {
    return static_cast<uint8_t>(word >> (place * packed_.bits) & ((1u << packed_.bits) - 1));
  }
  int64_t place_in_word(int64_t column) const {
    return packed_.layout == PackedLayout::kInterleaved ? kInterleaved[column % 8] : column % per_word();
  }

  // `count` elements of `size` bytes from element `first` of each of the part's rows [row, row + rows).
  std::vector<std::byte> slice(const OpenPart& part, int64_t row, int64_t rows, int64_t first, int64_t count,
                               int64_t size) const {
    const PackedPart& place = *part.place;
    const int64_t width = place.shape.size() > 1 ? place.shape[1] : 1;
    std::vector<std::byte> bytes(rows * count * size);
    if (count == width) {
      read_of(*part.file, place.offset + static_cast<uint64_t>(row * width * size), bytes);
      return bytes;
    }
    for (int64_t r = 0; r < rows; ++r) {
      read_of(*part.file, place.offset + static_cast<uint64_t>(((row + r) * width + first) * size),
              std::span(bytes).subspan(r * count * size, count * size));
    }
    return bytes;
  }

  void unpack(int64_t first) const {
    if (unpacked_->owner == this && unpacked_->first == first) return;
    const RowRange range{first, std::min(kRows, rows_ - first)};
    unpacked_->owner = nullptr;
    if (unpacked_->placed != this) place_columns();
    unpacked_->placed = this;
    unpacked_->bytes.assign(range.count * (cols_ / kBlockWidth) * block_bytes(), std::byte{0});
    put_words(range, read_scales(range), read_zeros(range));
    put_codes(range);
    unpacked_->first = first;
    unpacked_->owner = this;
  }

  ColumnGroups read_groups() const {
    const int64_t size = packed_.groups->dtype == "I64" ? 8 : 4;
    const auto bytes = slice(groups_, 0, cols_, 0, 1, size);
    ColumnGroups read{.where = groups_.file->name() + ": tensor " + packed_.groups->name,
                      .of_column = std::vector<int64_t>(cols_),
                      .count = groups(),
                      .columns = packed_.group_columns};
    for (int64_t k = 0; k < cols_; ++k) {
      read.of_column[k] = size == 8 ? reinterpret_cast<const int64_t*>(bytes.data())[k]
                                    : reinterpret_cast<const int32_t*>(bytes.data())[k];
    }
    return read;
  }

  // Where each column of the file goes.
  void place_columns() const {
    unpacked_->places.resize(cols_);
    for (int64_t k = 0; k < cols_; ++k) unpacked_->places[k] = static_cast<int32_t>(k);
    if (packed_.groups && !packed_.reordered) check_in_order(read_groups());
    const std::vector<int32_t> order = column_order();
    for (size_t i = 0; i < order.size(); ++i) unpacked_->places[order[i]] = static_cast<int32_t>(i);
  }

  // (rows, groups), as floats.
  std::vector<float> read_scales(RowRange range) const {
    const DType dtype = scales_.place->dtype == "BF16" ? DType::kBF16 : DType::kF16;
    const auto bytes = by_row() ? slice(scales_, range.first, range.count, 0, groups(), 2)
                                : slice(scales_, 0, groups(), range.first, range.count, 2);
    std::vector<float> out(range.count * groups());
    for (int64_t r = 0; r < range.count; ++r) {
      for (int64_t g = 0; g < groups(); ++g) {
        out[r * groups() + g] = widen(dtype, bytes.data(), by_row() ? r * groups() + g : g * range.count + r);
      }
    }
    return out;
  }

  // (rows, groups).
  std::vector<uint8_t> read_zeros(RowRange range) const {
    std::vector<uint8_t> out(range.count * groups(), static_cast<uint8_t>(1 << (packed_.bits - 1)));
    if (!packed_.zeros) return out;
    if (packed_.layout == PackedLayout::kBytes) {
      const auto bytes = slice(zeros_, range.first, range.count, 0, groups(), 1);
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(bytes[i]) ^ 0x80;
      return out;
    }
    // Words hold the zero points of neighbouring rows.
    const int64_t words = range.count / per_word() + (range.count % per_word() != 0 ? 1 : 0);
    const int64_t first = range.first / per_word();
    const auto bytes = packed_.layout == PackedLayout::kRows ? slice(zeros_, first, words, 0, groups(), 4)
                                                             : slice(zeros_, 0, groups(), first, words, 4);
    const auto* packed = reinterpret_cast<const uint32_t*>(bytes.data());
    for (int64_t r = 0; r < range.count; ++r) {
      for (int64_t g = 0; g < groups(); ++g) {
        const int64_t word = r / per_word();
        const int64_t at = packed_.layout == PackedLayout::kRows ? word * groups() + g : g * words + word;
        const int64_t zero = code_of(packed[at], place_in_word(r)) + packed_.zero_offset;
        if (zero >> packed_.bits != 0) refuse_zero(range.first + r, g, zero);
        out[r * groups() + g] = static_cast<uint8_t>(zero);
      }
    }
    return out;
  }

  [[noreturn]] void refuse_zero(int64_t row, int64_t group, int64_t zero) const {
    throw EngineError(FailureReason::kCheckpointCorrupt,
                      zeros_.file->name() + ": tensor " + packed_.zeros->name + " has the zero point " +
                          std::to_string(zero) + " for output " + std::to_string(row) + ", group " +
                          std::to_string(group) + "; expected 0 to " +
                          std::to_string((1 << packed_.bits) - 1) +
                          ". Tools differ in what they read there.");
  }

  std::byte* block(int64_t row, int64_t column) const {
    return unpacked_->bytes.data() + (row * cols_ + column) / kBlockWidth * block_bytes();
  }

  void put_words(RowRange range, const std::vector<float>& scales, const std::vector<uint8_t>& zeros) const {
    for (int64_t r = 0; r < range.count; ++r) {
      for (int64_t column = 0; column < cols_; column += kBlockWidth) {
        const int64_t at = r * groups() + column / packed_.group_columns;
        const uint32_t word = std::bit_cast<uint32_t>(scales[at]) | zeros[at];
        std::memcpy(block(r, column), &word, sizeof word);
      }
    }
  }

  void put_code(int64_t row, int64_t stored_column, uint8_t code) const {
    const int64_t column = unpacked_->places[stored_column];
    std::byte* const codes = block(row, column) + sizeof(uint32_t);
    const int64_t at = column % kBlockWidth;
    if (packed_.bits == 8) {
      codes[at] = static_cast<std::byte>(code);
    } else if (at < kBlockWidth / 2) {
      codes[at] |= static_cast<std::byte>(code);
    } else {
      codes[at - kBlockWidth / 2] |= static_cast<std::byte>(code << 4);
    }
  }

  void put_codes(RowRange range) const {
    switch (packed_.layout) {
      case PackedLayout::kBytes:
        return put_bytes(range);
      case PackedLayout::kRows:
        return put_rows(range);
      case PackedLayout::kColumns:
        return put_columns(range);
      case PackedLayout::kInterleaved:
        return put_interleaved(range);
    }
  }

  // Signed bytes (rows, cols).
  void put_bytes(RowRange range) const {
    const auto bytes = slice(codes_, range.first, range.count, 0, cols_, 1);
    for (int64_t r = 0; r < range.count; ++r) {
      for (int64_t k = 0; k < cols_; ++k) put_code(r, k, static_cast<uint8_t>(bytes[r * cols_ + k]) ^ 0x80);
    }
  }

  // Words of neighbouring columns (rows, cols / per word).
  void put_rows(RowRange range) const {
    const int64_t words = cols_ / per_word();
    const auto bytes = slice(codes_, range.first, range.count, 0, words, 4);
    const auto* packed = reinterpret_cast<const uint32_t*>(bytes.data());
    for (int64_t r = 0; r < range.count; ++r) {
      for (int64_t k = 0; k < cols_; ++k) {
        put_code(r, k, code_of(packed[r * words + k / per_word()], k % per_word()));
      }
    }
  }

  // Words of neighbouring columns (cols / per word, rows).
  void put_columns(RowRange range) const {
    const auto bytes = slice(codes_, 0, cols_ / per_word(), range.first, range.count, 4);
    const auto* packed = reinterpret_cast<const uint32_t*>(bytes.data());
    for (int64_t k = 0; k < cols_; ++k) {
      const uint32_t* words = packed + k / per_word() * range.count;
      for (int64_t r = 0; r < range.count; ++r) put_code(r, k, code_of(words[r], k % per_word()));
    }
  }

  // Words of neighbouring rows (cols, rows / 8).
  void put_interleaved(RowRange range) const {
    const int64_t words = range.count / per_word();
    const auto bytes = slice(codes_, 0, cols_, range.first / per_word(), words, 4);
    const auto* packed = reinterpret_cast<const uint32_t*>(bytes.data());
    for (int64_t k = 0; k < cols_; ++k) {
      for (int64_t r = 0; r < range.count; ++r) {
        put_code(r, k, code_of(packed[k * words + r / per_word()], place_in_word(r)));
      }
    }
  }

  const PackedSource& packed_;
  int64_t rows_;
  int64_t cols_;
  OpenPart codes_;
  OpenPart scales_;
  OpenPart zeros_{};
  OpenPart groups_{};
  std::shared_ptr<UnpackedRows> unpacked_;
};

}  // namespace

std::unique_ptr<TensorFile> packed_tensor(const TensorPlace& place, const OpenFile& open,
                                          const Arrivals* arrivals, std::shared_ptr<UnpackedRows> unpacked) {
  return std::make_unique<PackedTensor>(place, open, arrivals, std::move(unpacked));
}

}  // namespace llmservice
