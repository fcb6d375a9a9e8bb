// One strip of stored rows is held widened at a time: 128 rows, which is a row of blocks.
#include "model/load_quantizer.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ops/dtype.h"

namespace llmservice {
namespace {

constexpr float kE4m3Max = 448.0f;
constexpr float kInt8Max = 127.0f;

// The largest magnitude; infinity or NaN where there is one, since their bits are the largest.
float largest(const float* x, int64_t count, float so_far) {
  uint32_t most = std::bit_cast<uint32_t>(so_far);
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu);
  return std::bit_cast<float>(most);
}

// Nearest whole number, ties to even, of |x| <= 2^22.
float to_nearest(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

void to_e4m3(const float* from, int64_t count, float scale, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>(float_to_e4m3(from[i] / scale));
}

void to_int8(const float* from, int64_t count, float scale, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    const float whole_number = std::clamp(to_nearest(from[i] / scale), -kInt8Max, kInt8Max);
    to[i] = static_cast<std::byte>(static_cast<int8_t>(whole_number));
  }
}

class Quantizer {
 public:
  Quantizer(StoredWeight stored, Band band, LoadQuantization to, PartScales& scales)
      : stored_(std::move(stored)), band_(std::move(band)), to_(to), scales_(scales) {}

  // Whole rows of the band, from row offset / row bytes on.
  void read(uint64_t offset, std::span<std::byte> out) {
    auto row = band_.rows.begin + static_cast<int64_t>(offset) / band_.cols.count;
    for (; !out.empty(); ++row, out = out.subspan(band_.cols.count)) {
      load_strip(row / kScaleBlock);
      const float* values = strip_.data() + row % kScaleBlock * stored_.cols;
      if (to_ == LoadQuantization::kFp8) {
        fp8_row(row, values, out.data());
      } else {
        int8_row(row, values, out.data());
      }
    }
  }

 private:
  int64_t bands_blocks() const { return blocks_of(band_.cols.count); }

  // Rows of stored block row `index`, all columns, as floats.
  void load_strip(int64_t index) {
    if (index == loaded_) return;
    const Tensor& weight = stored_.weight;
    const int64_t rows = std::min(kScaleBlock, stored_.rows - index * kScaleBlock);
    const int64_t count = rows * stored_.cols;
    const int64_t unit = size_of(weight.dtype);
    raw_.resize(count * unit);
    strip_.resize(count);
    weight.read(index * kScaleBlock * stored_.cols * unit, raw_);
    for (int64_t i = 0; i < count; ++i) strip_[i] = widen(weight.dtype, raw_.data(), i);
    loaded_ = index;
    if (to_ == LoadQuantization::kFp8) scale_blocks(index, rows);
  }

  void scale_blocks(int64_t index, int64_t rows) {
    for (int64_t block = 0; block < bands_blocks(); ++block) {
      const int64_t first = band_.cols.begin + block * kScaleBlock;
      const int64_t width = std::min(kScaleBlock, stored_.cols - first);
      float most = 0;
      for (int64_t r = 0; r < rows; ++r) {
        most = largest(strip_.data() + r * stored_.cols + first, width, most);
      }
      scales_.values[index * bands_blocks() + block] = scale_of(most, kE4m3Max);
    }
  }

  void fp8_row(int64_t row, const float* values, std::byte* out) const {
    for (int64_t first = 0; first < band_.cols.count; first += kScaleBlock) {
      const int64_t width = std::min(kScaleBlock, band_.cols.count - first);
      const float scale = scales_.values[row / kScaleBlock * bands_blocks() + first / kScaleBlock];
      to_e4m3(values + band_.cols.begin + first, width, scale, out + first);
    }
  }

  // Over the whole row, though a rank may hold some of its columns only.
  void int8_row(int64_t row, const float* values, std::byte* out) {
    const float scale = scale_of(largest(values, stored_.cols, 0), kInt8Max);
    scales_.values[row - band_.rows.begin] = scale;
    to_int8(values + band_.cols.begin, band_.cols.count, scale, out);
  }

  // Zeros keep a scale of 1.
  float scale_of(float most, float largest_code) const {
    if (!(most <= std::numeric_limits<float>::max())) {
      throw EngineError(FailureReason::kCheckpointCorrupt,
                        stored_.weight.file->name() + ": tensor " + stored_.weight.name +
                            " holds values that are not finite numbers, and cannot be quantized.");
    }
    const float scale = most / largest_code;
    return scale > 0 ? scale : 1.0f;
  }

  StoredWeight stored_;
  Band band_;
  LoadQuantization to_;
  PartScales& scales_;
  int64_t loaded_ = -1;
  std::vector<std::byte> raw_;
  std::vector<float> strip_;
};

}  // namespace

MatrixPart quantized_part(const StoredWeight& stored, const Band& band, LoadQuantization to,
                          PartScales& scales) {
  const bool fp8 = to == LoadQuantization::kFp8;
  if (fp8) check_column_borders(band, kScaleBlock, "use fewer ranks, or int8");
  const int64_t block_rows = blocks_of(stored.rows);
  const int64_t block_cols = blocks_of(band.cols.count);
  scales.values.resize(fp8 ? block_rows * block_cols : band.rows.count);
  const auto quantizer = std::make_shared<Quantizer>(stored, band, to, scales);
  return {.dtype = fp8 ? DType::kF8E4M3 : DType::kI8,
          .rows = band.rows.count,
          .cols = band.cols.count,
          .read = [quantizer](uint64_t at, std::span<std::byte> out) { quantizer->read(at, out); },
          .scales = scales.values,
          .scale_row = fp8 ? band.rows.begin : 0,
          .scaling = fp8 ? Scaling::kBlock : Scaling::kRow};
}

}  // namespace llmservice
