// Quantization at load: near what was stored, and the same value for a weight whatever band of it is read.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/load_quantizer.h"
#include "ops_support.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int64_t kRows = 300;  // blocks of 128, 128 and 44 rows
constexpr int64_t kCols = 272;  // 128, 128 and 16 columns
constexpr const char* kModule = "model.layers.0.mlp.down_proj";

class LoadQuantizer : public ::testing::Test {
 protected:
  LoadQuantizer() {
    std::mt19937 random(3);
    StoredTensor weight = bf16_tensor({kRows, kCols}, 0, 0.3F, random);
    const uint16_t outlier = float_to_bf16(7.0F);  // row 290, column 5: its block's scale is far coarser
    std::memcpy(weight.bytes.data() + 2 * (290 * kCols + 5), &outlier, 2);
    std::memset(weight.bytes.data() + 2 * 4 * kCols, 0, 2 * kCols);  // row 4: nothing but zeros
    write_checkpoint(dir_, tiny_llama_config(), {{std::string(kModule) + ".weight", weight}});
    source_ = dir_.checkpoint();
    checkpoint_.emplace(*source_);
  }

  StoredWeight stored() const { return stored_weight(*checkpoint_, kModule); }

  // The values of a band as a backend holds them, (rows, cols).
  std::vector<float> values(Range rows, Range cols, LoadQuantization to) {
    PartScales scales;
    const MatrixPart part = quantized_part(stored(), {kModule, kRows, kCols, rows, cols}, to, scales);
    const auto packed = backend_.pack({&part, 1}, DType::kF32, [](uint64_t) {});
    std::vector<int32_t> ids(rows.count);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
    std::vector<float> out(rows.count * cols.count);
    backend_.gather(*packed, ids, out.data());
    return out;
  }

  TempDir dir_;
  std::shared_ptr<const CheckpointSource> source_;
  std::optional<Checkpoint> checkpoint_;
  ReferenceBackend backend_;
};

float original(const StoredWeight& stored, int64_t row, int64_t col) {
  std::array<std::byte, 2> bytes;
  stored.weight.read(2 * (row * kCols + col), bytes);
  return widen(DType::kBF16, bytes.data(), 0);
}

TEST_F(LoadQuantizer, EveryValueIsWithinHalfAStepOfItsBlockOrRow) {
  const StoredWeight weight = stored();
  const auto fp8 = values(whole(kRows), whole(kCols), LoadQuantization::kFp8);
  const auto int8 = values(whole(kRows), whole(kCols), LoadQuantization::kInt8);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t col = 0; col < kCols; ++col) {
      const float wanted = original(weight, row, col);
      const float largest = row >= 256 && col < 128 ? 7.0F : 0.3F;
      // e4m3: three bits after the leading one, or the smallest step, of the block's largest.
      const float step = std::max(std::fabs(wanted) / 16, largest / 448 * 0x1p-10F);
      EXPECT_NEAR(fp8[row * kCols + col], wanted, step * 1.01F) << row << ", " << col;
      const float row_largest = row == 290 ? 7.0F : 0.3F;
      EXPECT_NEAR(int8[row * kCols + col], wanted, row_largest / 254 * 1.01F) << row << ", " << col;
    }
  }
  EXPECT_EQ(fp8[290 * kCols + 5], 7.0F);
  EXPECT_EQ(int8[290 * kCols + 5], 7.0F);
}

struct BandCase {
  const char* name;
  Range rows;
  Range cols;
};

class QuantizedBand : public LoadQuantizer, public ::testing::WithParamInterface<BandCase> {};

TEST_P(QuantizedBand, HoldsWhatTheWholeMatrixHolds) {
  const auto& [name, rows, cols] = GetParam();
  for (const LoadQuantization to : {LoadQuantization::kFp8, LoadQuantization::kInt8}) {
    if (to == LoadQuantization::kFp8 && cols.begin % 128 != 0) continue;
    const auto all = values(whole(kRows), whole(kCols), to);
    const auto band = values(rows, cols, to);
    for (int64_t r = 0; r < rows.count; ++r) {
      expect_same_bits(std::span(band).subspan(r * cols.count, cols.count),
                       std::span(all).subspan((rows.begin + r) * kCols + cols.begin, cols.count),
                       std::string(name) + (to == LoadQuantization::kFp8 ? ", fp8, row " : ", int8, row ") +
                           std::to_string(r));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, QuantizedBand,
                         ::testing::Values(BandCase{"half_of_the_rows", {150, 150}, whole(kCols)},
                                           BandCase{"rows_within_a_block", {257, 30}, whole(kCols)},
                                           BandCase{"first_blocks_of_columns", whole(kRows), {0, 128}},
                                           BandCase{"last_columns", {3, 290}, {256, 16}},
                                           BandCase{"columns_off_the_blocks", whole(kRows), {136, 136}}),
                         [](const auto& info) { return info.param.name; });

TEST_F(LoadQuantizer, RefusesFp8ColumnsThatCutABlock) {
  std::string message;
  for (const Range cols : {Range{0, 136}, Range{136, 136}}) {  // both ranks of two
    const auto read = [&] { values(whole(kRows), cols, LoadQuantization::kFp8); };
    EXPECT_EQ(failure_of(read, &message), "ParallelismInvalid");
  }
  EXPECT_TRUE(contains(message, kModule));
  EXPECT_TRUE(contains(message, "int8"));
}

TEST_F(LoadQuantizer, RefusesValuesThatAreNotFinite) {
  for (const uint16_t bits : {0x7f80, 0xff80, 0x7fc0}) {
    std::string data(2 * 64, '\0');
    std::memcpy(data.data() + 2 * 17, &bits, 2);
    TempDir dir;
    write_checkpoint(dir, tiny_llama_config(),
                     {{std::string(kModule) + ".weight", {"BF16", {2, 32}, std::move(data)}}});
    const auto source = dir.checkpoint();
    const Checkpoint checkpoint(*source);
    for (const LoadQuantization to : {LoadQuantization::kFp8, LoadQuantization::kInt8}) {
      PartScales scales;
      const MatrixPart part = quantized_part(stored_weight(checkpoint, kModule),
                                             {kModule, 2, 32, whole(2), whole(32)}, to, scales);
      std::vector<std::byte> codes(64);
      EXPECT_EQ(failure_of([&] { part.read(0, codes); }), "CheckpointCorrupt");
    }
  }
}

}  // namespace
}  // namespace llmservice
