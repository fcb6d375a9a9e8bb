// Source of the layout: transformers, integrations/mxfp4.py and models/gpt_oss/modeling_gpt_oss.py.
#include "model/fused_experts.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ops/block_types.h"

namespace llmservice {
namespace {

constexpr uint64_t kBlockColumns = block_layout(DType::kMXFP4).columns;
constexpr uint64_t kBlockBytes = block_layout(DType::kMXFP4).bytes;
constexpr uint64_t kCodeBytes = kBlockColumns / 2;
// Rows and columns that are turned at once.
constexpr uint64_t kTurnedSide = 32;

struct Sides {
  uint64_t rows;
  uint64_t columns;
  bool paired;

  // Where the file has row `row` of an expert.
  uint64_t stored_row(uint64_t row) const {
    if (!paired) return row;
    const uint64_t half = rows / 2;
    return row < half ? 2 * row : 2 * (row - half) + 1;
  }
};

// Columns i and i + 16 share a byte of a block here; stored they are neighbours that do.
void to_block(const std::byte* codes, std::byte scale, std::byte* block) {
  block[0] = scale;
  const std::byte low{0x0f};
  for (uint64_t i = 0; i < kCodeBytes / 2; ++i) {
    const std::byte first = codes[i];
    const std::byte second = codes[i + kCodeBytes / 2];
    block[1 + 2 * i] = (first & low) | (second & low) << 4;
    block[2 + 2 * i] = first >> 4 | (second & ~low);
  }
}

class BlockExperts final : public DerivedTensor {
 public:
  BlockExperts(const TensorPlace& place, const TensorFile& codes, const TensorFile& scales,
               const Arrivals* arrivals, Sides sides)
      : DerivedTensor(codes, place.offset, arrivals),
        scales_(scales),
        first_scale_(place.scales->offset),
        sides_(sides) {}

 private:
  // Whole blocks.
  void derive(uint64_t offset, std::span<std::byte> out) const override {
    const uint64_t row_blocks = sides_.columns / kBlockColumns;
    std::vector<std::byte> codes(row_blocks * kCodeBytes);
    std::vector<std::byte> scales(row_blocks);
    for (uint64_t block = offset / kBlockBytes; !out.empty();) {
      const uint64_t row = block / row_blocks;
      const uint64_t count = std::min(out.size() / kBlockBytes, row_blocks - block % row_blocks);
      const uint64_t expert_row = row / sides_.rows * sides_.rows;
      const uint64_t stored =
          (expert_row + sides_.stored_row(row - expert_row)) * row_blocks + block % row_blocks;
      read_stored(stored * kCodeBytes, std::span(codes).first(count * kCodeBytes));
      read_of(scales_, first_scale_ + stored, std::span(scales).first(count));
      for (uint64_t i = 0; i < count; ++i) {
        to_block(codes.data() + i * kCodeBytes, scales[i], out.data() + i * kBlockBytes);
      }
      out = out.subspan(count * kBlockBytes);
      block += count;
    }
  }

  const TensorFile& scales_;
  uint64_t first_scale_;
  Sides sides_;
};

class TurnedExperts final : public DerivedTensor {
 public:
  TurnedExperts(const TensorPlace& place, const TensorFile& file, const Arrivals* arrivals, Sides sides,
                uint64_t unit, TurnedExpert& turned)
      : DerivedTensor(file, place.offset, arrivals), sides_(sides), unit_(unit), turned_(turned) {}

 private:
  void derive(uint64_t offset, std::span<std::byte> out) const override {
    const std::lock_guard lock(turned_.mutex);
    const uint64_t bytes = sides_.rows * sides_.columns * unit_;
    while (!out.empty()) {
      turn(offset / bytes, bytes);
      const uint64_t within = offset % bytes;
      const size_t count = std::min<size_t>(out.size(), bytes - within);
      std::memcpy(out.data(), turned_.rows.data() + within, count);
      out = out.subspan(count);
      offset += count;
    }
  }

  void turn(uint64_t expert, uint64_t bytes) const {
    if (turned_.tensor == this && turned_.index == expert) return;
    turned_.tensor = nullptr;
    turned_.stored.resize(bytes);
    turned_.rows.resize(bytes);
    read_stored(expert * bytes, turned_.stored);
    if (unit_ == 2) {
      turn_values<2>();
    } else {
      turn_values<4>();
    }
    turned_.tensor = this;
    turned_.index = expert;
  }

  template <size_t kUnit>
  void turn_values() const {
    using Value = std::array<std::byte, kUnit>;
    const auto* const from = reinterpret_cast<const Value*>(turned_.stored.data());
    auto* const to = reinterpret_cast<Value*>(turned_.rows.data());
    const auto [rows, columns, paired] = sides_;
    for (uint64_t first_row = 0; first_row < rows; first_row += kTurnedSide) {
      for (uint64_t first = 0; first < columns; first += kTurnedSide) {
        for (uint64_t row = first_row; row < std::min(rows, first_row + kTurnedSide); ++row) {
          const uint64_t stored = sides_.stored_row(row);
          for (uint64_t column = first; column < std::min(columns, first + kTurnedSide); ++column) {
            to[row * columns + column] = from[column * rows + stored];
          }
        }
      }
    }
  }

  Sides sides_;
  uint64_t unit_;
  TurnedExpert& turned_;
};

}  // namespace

std::unique_ptr<TensorFile> fused_experts(const TensorPlace& place, const TensorFile& file,
                                          const TensorFile* scales, const Arrivals* arrivals,
                                          TurnedExpert& turned) {
  // Shapes that no model has are refused by whoever reads the tensor.
  const auto side = [&](size_t i) {
    return i < place.shape.size() ? static_cast<uint64_t>(std::max<int64_t>(1, place.shape[i])) : 1;
  };
  // A matrix by itself, or one of each expert.
  const size_t first = place.restoration == Restoration::kBlocks ? 0 : 1;
  const Sides sides{.rows = side(first),
                    .columns = side(first + 1),
                    .paired = place.restoration == Restoration::kPairedExperts};
  if (scales != nullptr) return std::make_unique<BlockExperts>(place, file, *scales, arrivals, sides);
  const uint64_t unit = place.dtype == "F32" ? 4 : 2;
  return std::make_unique<TurnedExperts>(place, file, arrivals, sides, unit, turned);
}

}  // namespace llmservice
