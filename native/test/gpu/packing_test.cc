// Stored matrices on the device: rows gathered from them are the stored values, whatever the parts and
// scales.
#include "backends/gpu/packing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <latch>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/numbers.h"
#include "failures.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

std::unique_ptr<gpu::DeviceWeights> packed(std::span<const MatrixPart> parts, DType keep = DType::kBF16) {
  return gpu::Packer(device()).pack(parts, keep, gpu::TileOrder::kSwizzled, [](uint64_t) {});
}

std::vector<float> all_rows(const gpu::DeviceWeights& weights) {
  std::vector<int32_t> ids(weights.rows);
  std::iota(ids.begin(), ids.end(), 0);
  const DeviceArray<int32_t> rows(ids);
  const DeviceArray<float> out(weights.rows * weights.cols, NAN);
  run(gpu::gather(weights.bands.front().matrix, rows.data(), weights.rows, out.data()));
  return out.host();
}

void expect_rows(std::span<const float> actual, const StoredMatrix& stored, int64_t first, int64_t count) {
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t col = 0; col < stored.cols; ++col) {
      const float value = stored.value(first + row, col) * stored.scale(first + row, col);
      ASSERT_EQ(actual[row * stored.cols + col], value) << "row " << first + row << ", column " << col;
    }
  }
}

TEST(Packing, SixteenBitValuesAreTheStoredOnes) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const StoredMatrix stored = random_matrix(dtype, 131, 70, 1);
    const MatrixPart part = stored.part(0, 131);
    const auto weights = packed({&part, 1});
    EXPECT_EQ(weights->bands.front().matrix.dtype, dtype);
    expect_rows(all_rows(*weights), stored, 0, 131);
  }
}

TEST(Packing, FloatsAreHeldAsBf16) {
  const StoredMatrix stored = random_matrix(DType::kF32, 5, 24, 2);
  const MatrixPart part = stored.part(0, 5);
  const std::vector<float> rows = all_rows(*packed({&part, 1}));
  for (int64_t i = 0; i < 5 * 24; ++i) {
    EXPECT_EQ(rows[i], bf16_to_float(float_to_bf16(stored.value(i / 24, i % 24))));
  }
}

TEST(Packing, ANarrowedMatrixIsWithinTheStepsOfItsCodes) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const StoredMatrix stored = random_matrix(dtype, 131, 330, 3);
    const MatrixPart part = stored.part(0, 131);
    gpu::Packer packer(device());
    for (const gpu::TileOrder order : {gpu::TileOrder::kSwizzled, gpu::TileOrder::kFragments}) {
      const auto wide = packer.pack({&part, 1}, DType::kBF16, order, [](uint64_t) {});
      const auto narrow = packer.narrow(wide->bands.front().matrix);
      EXPECT_EQ(narrow->rows, 131);
      EXPECT_EQ(narrow->cols, 330);
      EXPECT_EQ(narrow->bytes, 3u * 3 * 64 * 128 + 3 * 3 * sizeof(float));
      const std::vector<float> rows = all_rows(*narrow);
      std::array<float, 9> largest{};
      const auto tile_of = [](int64_t i) { return i / 330 / 64 * 3 + i % 330 / 128; };
      for (int64_t i = 0; i < 131 * 330; ++i) {
        float& most = largest[tile_of(i)];
        most = std::max(most, std::fabs(stored.value(i / 330, i % 330)));
      }
      for (int64_t i = 0; i < 131 * 330; ++i) {
        const float value = stored.value(i / 330, i % 330);
        // Half a step: of three bits, or of the subnormal codes.
        const float step = std::max(std::fabs(value) / 16, largest[tile_of(i)] / gpu::kFp8Max * 0x1p-10f);
        ASSERT_NEAR(rows[i], value, step * 1.001f) << "element " << i;
      }
    }
  }
}

TEST(Packing, WhatIsNotFiniteIsNotFiniteWhenNarrowed) {
  StoredMatrix stored = random_matrix(DType::kBF16, 70, 130, 4);
  const uint16_t nan = 0x7fc0;
  std::memcpy(stored.data.data() + (65 * 130 + 3) * sizeof nan, &nan, sizeof nan);
  const MatrixPart part = stored.part(0, 70);
  gpu::Packer packer(device());
  const auto wide = packer.pack({&part, 1}, DType::kBF16, gpu::TileOrder::kSwizzled, [](uint64_t) {});
  const std::vector<float> rows = all_rows(*packer.narrow(wide->bands.front().matrix));
  EXPECT_FALSE(std::isfinite(rows[65 * 130 + 3]));
  EXPECT_TRUE(std::isfinite(rows[63 * 130 + 3]));
  EXPECT_TRUE(std::isfinite(rows[65 * 130 + 129]));
}

struct Cut {
  Scaling scaling;
  int64_t first;
  int64_t rows;
  int32_t scale_rows;
};

class ScaledCuts : public ::testing::TestWithParam<Cut> {};

TEST_P(ScaledCuts, KeepTheirScales) {
  const auto& [scaling, first, rows, scale_rows] = GetParam();
  const StoredMatrix a = random_matrix(DType::kF8E4M3, 400, 200, 3, scaling);
  const StoredMatrix b = random_matrix(DType::kF8E4M3, 256, 200, 5, scaling);
  const std::vector<MatrixPart> parts = {a.part(first, rows), b.part(0, 256)};
  const auto weights = packed(parts);
  EXPECT_EQ(weights->bands.front().matrix.scale_rows, scale_rows);
  const std::vector<float> all = all_rows(*weights);
  expect_rows(std::span(all).first(rows * 200), a, first, rows);
  expect_rows(std::span(all).subspan(rows * 200), b, 0, 256);
}

INSTANTIATE_TEST_SUITE_P(Cuts, ScaledCuts,
                         ::testing::Values(Cut{Scaling::kBlock, 0, 256, 64},
                                           Cut{Scaling::kBlock, 64, 192, 64},
                                           Cut{Scaling::kBlock, 32, 64, 64},  // both halves in block 0
                                           Cut{Scaling::kBlock, 96, 64, 1}, Cut{Scaling::kBlock, 0, 65, 1},
                                           Cut{Scaling::kRow, 0, 128, 1}));

// The 64-lane form is that of AMD, whose e4m3fnuz reads a byte as half of its OCP value and 0x80 as NaN.
TEST(Packing, EightBitCodesBecomeTheDevicesOwn) {
  StoredMatrix stored{.dtype = DType::kF8E4M3,
                      .rows = 64,
                      .cols = 256,
                      .data = {},
                      .scales = {3.0f, 5.0f},
                      .group_scales = {}};
  for (int i = 0; i < 64 * 256; ++i) {
    const int code = i % 256;
    stored.data.push_back(static_cast<std::byte>((code & 0x7f) == 0x7f ? 0x80 : code));
  }
  const MatrixPart part = stored.part(0, 64);
  for (const gpu::TileOrder order : {gpu::TileOrder::kFragments, gpu::TileOrder::kSwizzled}) {
    const auto weights = gpu::Packer(device()).pack({&part, 1}, DType::kBF16, order, [](uint64_t) {});
    std::vector<float> scales(2);
    device().download(weights->bands.front().scales->data(), std::as_writable_bytes(std::span(scales)));
    EXPECT_EQ(scales, gpu::kFnuz ? (std::vector<float>{6.0f, 10.0f}) : (std::vector<float>{3.0f, 5.0f}));
    const gpu::DeviceMemory& tiles = *weights->bands.front().tiles;
    std::vector<uint8_t> codes(tiles.bytes());
    device().download(tiles.data(), std::as_writable_bytes(std::span(codes)));
    const int64_t zeros = gpu::kFnuz ? 64 * 4 : 64;  // a row has 0x00, and 0x80 in its place and two NaNs'
    EXPECT_EQ(std::ranges::count(codes, 0x00), zeros);
    EXPECT_EQ(std::ranges::count(codes, 0x80), 64 * 4 - zeros);
    expect_rows(all_rows(*weights), stored, 0, 64);
  }
}

TEST(Packing, ReadsEachByteOnceThroughItsWindows) {
  // Three windows and a bit.
  const int64_t cols = 1 << 20;
  const int64_t rows = 50;
  uint64_t reported = 0;
  uint64_t read = 0;
  const std::vector<float> scales(rows, 2.0f);
  const MatrixPart part{.dtype = DType::kF8E4M3,
                        .rows = rows,
                        .cols = cols,
                        .read =
                            [&](uint64_t offset, std::span<std::byte> out) {
                              EXPECT_EQ(offset, read);
                              read += out.size();
                              std::memset(out.data(), 0, out.size());
                              for (uint64_t row = offset / cols; row * cols < offset + out.size(); ++row) {
                                out[row * cols - offset] = static_cast<std::byte>(row);
                              }
                            },
                        .scales = scales,
                        .scaling = Scaling::kRow};
  const auto weights = gpu::Packer(device()).pack({&part, 1}, DType::kBF16, gpu::TileOrder::kSwizzled,
                                                  [&](uint64_t bytes) { reported += bytes; });
  EXPECT_EQ(read, static_cast<uint64_t>(rows * cols));
  EXPECT_EQ(reported, read);
}

// Three windows and a bit, each row of one value: as it lies in the file, and of a type that is converted.
TEST(Packing, ReadsWindowsByReadersThatEachTakeARun) {
  for (const DType dtype : {DType::kBF16, DType::kF32}) {
    const int64_t cols = 1 << 18;
    const int64_t rows = 100;
    std::mutex mutex;
    std::vector<int> reads(rows);  // of each row
    std::set<std::thread::id> readers;
    const int64_t row_bytes = bytes_of(dtype, cols);
    const MatrixPart part{.dtype = dtype,
                          .rows = rows,
                          .cols = cols,
                          .read =
                              [&](uint64_t offset, std::span<std::byte> out) {
                                const int64_t first = static_cast<int64_t>(offset) / row_bytes;
                                for (int64_t r = 0; r < std::ssize(out) / row_bytes; ++r) {
                                  const float value = static_cast<float>(first + r);
                                  std::byte* const row = out.data() + r * row_bytes;
                                  if (dtype == DType::kF32) {
                                    std::fill_n(reinterpret_cast<float*>(row), cols, value);
                                  } else {
                                    std::fill_n(reinterpret_cast<uint16_t*>(row), cols, float_to_bf16(value));
                                  }
                                }
                                const std::lock_guard lock(mutex);
                                for (int64_t r = 0; r < std::ssize(out) / row_bytes; ++r) ++reads[first + r];
                                readers.insert(std::this_thread::get_id());
                              },
                          .scales = {},
                          .any_order = true};
    const auto weights = packed({&part, 1});
    EXPECT_EQ(reads, std::vector<int>(rows, 1));
    EXPECT_GE(readers.size(), 4u);
    const DeviceArray<int32_t> ids({0, 30, 31, 32, 33, 63, 64, 99});
    const DeviceArray<float> out(8 * cols, NAN);
    run(gpu::gather(weights->bands.front().matrix, ids.data(), 8, out.data()));
    const std::vector<float> found = out.host();
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(found[i * cols], static_cast<float>(ids.host()[i]));
      EXPECT_EQ(found[(i + 1) * cols - 1], static_cast<float>(ids.host()[i]));
    }
  }
}

TEST(WindowReaders, ThrowOfSeveralErrorsThatOfTheFirstRows) {
  std::latch thrown(1);
  std::string message;
  const auto read = [&](int reader, int64_t first, int64_t) {
    if (reader == 0) return;
    if (reader == 3) thrown.count_down();
    thrown.wait();  // the last rows' error is there before that of others
    throw EngineError(FailureReason::kCheckpointCorrupt, "row " + std::to_string(first));
  };
  EXPECT_EQ(failure_of([&] { gpu::read_in_pieces(40, 1 << 20, true, read); }, &message), "CheckpointCorrupt");
  EXPECT_EQ(message, "row 10");
}

TEST(WindowReaders, TakeRunsOfAMebibyteAndOneWhereTheOrderCounts) {
  const auto runs_of = [](int64_t rows, int64_t row_bytes, bool any_order) {
    std::mutex mutex;
    std::map<int64_t, int64_t> runs;
    gpu::read_in_pieces(rows, row_bytes, any_order, [&](int, int64_t first, int64_t count) {
      const std::lock_guard lock(mutex);
      runs[first] = count;
    });
    return runs;
  };
  using Runs = std::map<int64_t, int64_t>;
  EXPECT_EQ(runs_of(3000, 1024, true), (Runs{{0, 1500}, {1500, 1500}}));
  EXPECT_EQ(runs_of(1000, 1024, true), (Runs{{0, 1000}}));
  EXPECT_EQ(runs_of(2, 8 << 20, true), (Runs{{0, 1}, {1, 1}}));
  EXPECT_EQ(runs_of(9, 8 << 20, true), (Runs{{0, 2}, {2, 2}, {4, 2}, {6, 3}}));
  EXPECT_EQ(runs_of(9, 8 << 20, false), (Runs{{0, 9}}));
}

TEST(Packing, RefusesWhatGpusDoNotTake) {
  const auto refused = [](const StoredMatrix& stored, DType keep, std::string* message) {
    const MatrixPart part = stored.part(0, stored.rows);
    return failure_of([&] { packed({&part, 1}, keep); }, message);
  };
  std::string message;
  for (const DType dtype : {DType::kI8, DType::kF4E2M1}) {
    EXPECT_EQ(refused(random_matrix(dtype, 2, 256, 1), DType::kBF16, &message), "UnsupportedQuantization");
    EXPECT_TRUE(contains(message, name_of(dtype)));
    EXPECT_TRUE(contains(message, "GPUs take those of rows"));
  }
  EXPECT_EQ(refused(random_matrix(DType::kBF16, 2, 256, 1), DType::kF32, &message), "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "float32"));
}

TEST(Packing, RefusesATypeThatBeginsWithinFourOutputs) {
  const StoredMatrix a = random_matrix(DType::kQ4_K, 6, 256, 1);
  const StoredMatrix b = random_matrix(DType::kQ6_K, 2, 256, 1);
  const MatrixPart parts[] = {a.part(0, 2), a.part(2, 4), b.part(0, 2)};
  std::string message;
  EXPECT_EQ(failure_of([&] { packed(parts); }, &message), "UnsupportedQuantization");
  EXPECT_TRUE(contains(message, "type Q6_K runs behind 6 outputs"));
}

}  // namespace
}  // namespace llmservice::testing
