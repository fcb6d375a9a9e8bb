// What packing reads, keeps and refuses, and what the rows of a packed matrix give back.
#include <cstring>
#include <numeric>

#include "failures.h"
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

TEST(Pack, PartsMayBeginAnywhereInTheirScaleBlocks) {
  const StoredMatrix a = random_matrix(DType::kF8E4M3, 300, 200, 1);
  const StoredMatrix b = random_matrix(DType::kF8E4M3, 150, 200, 2);
  // 100 rows from the middle of a block, then all of b: no border falls on a multiple of 64 or 128.
  const std::vector<MatrixPart> parts = {a.part(90, 100), b.part(0, 150), a.part(299, 1)};
  const std::vector<float> x = random_floats(200, 3);
  for (const auto& backend : all_backends()) {
    const Rounding rounding = rounding_of(*backend, DType::kF8E4M3);
    std::vector<float> expected(251);
    for (int64_t i = 0; i < 100; ++i) chained_row(a, 90 + i, x, &expected[i], 1, rounding);
    for (int64_t i = 0; i < 150; ++i) chained_row(b, i, x, &expected[100 + i], 1, rounding);
    chained_row(a, 299, x, &expected[250], 1, rounding);
    uint64_t read = 0;
    const auto packed = backend->pack(parts, DType::kBF16, [&](uint64_t bytes) { read += bytes; });
    EXPECT_EQ(read, 251u * 200u);
    EXPECT_EQ(packed->rows, 251);
    std::vector<float> out(251);
    backend->matmul(*packed, x.data(), 1, out.data());
    expect_same_bits(out, expected, label(*backend));
  }
}

TEST(Pack, PartsMayHaveTypesOfTheirOwn) {
  const StoredMatrix a = random_matrix(DType::kQ4_K, 70, 256, 1);
  const StoredMatrix b = random_matrix(DType::kQ6_K, 33, 256, 2);
  const StoredMatrix c = random_matrix(DType::kF16, 65, 256, 3);
  const StoredMatrix d = random_matrix(DType::kBF16, 20, 256, 5);
  const std::vector<MatrixPart> parts = {a.part(0, 70), b.part(0, 33), c.part(0, 65), d.part(0, 20)};
  const std::vector<float> x = random_floats(9 * 256, 4);
  std::vector<float> expected(9 * 188);
  for (const auto& backend : all_backends()) {
    float* next = expected.data();
    for (const StoredMatrix* w : {&a, &b, &c, &d}) {
      const Rounding rounding = rounding_of(*backend, w->dtype);
      for (int64_t i = 0; i < w->rows; ++i, ++next) chained_row(*w, i, x, next, 188, rounding);
    }
    const auto packed = backend->pack(parts, DType::kBF16, [](uint64_t) {});
    std::vector<float> out(9 * 188);
    backend->matmul(*packed, x.data(), 9, out.data());
    expect_same_bits(out, expected, label(*backend));
    const std::vector<int32_t> ids = {69, 70, 102, 103, 167, 187};
    std::vector<float> rows(ids.size() * 256);
    backend->gather(*packed, ids, rows.data());
    for (int64_t k = 0; k < 256; ++k) {
      EXPECT_EQ(rows[256 + k], b.value(0, k));
      EXPECT_EQ(rows[4 * 256 + k], c.value(64, k));
      EXPECT_EQ(rows[5 * 256 + k], d.value(19, k));
    }
  }
}

TEST(Pack, ReadsThroughAWindowOfAtMost16MiB) {
  const auto backend = make_cpu_backend({.threads = 2});
  size_t largest = 0;
  uint64_t next = 0;
  const MatrixPart part{DType::kBF16,
                        3000,
                        4096,
                        [&](uint64_t offset, std::span<std::byte> out) {
                          EXPECT_EQ(offset, next);
                          next += out.size();
                          largest = std::max(largest, out.size());
                        },
                        {},
                        0};
  backend->pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  EXPECT_EQ(next, 3000u * 4096u * 2u);
  EXPECT_LE(largest, size_t{16} << 20);
}

TEST(Pack, GivesPartsThatAreReadInAnyOrderTheSameBits) {
  const auto backend = make_cpu_backend({.threads = 3});
  std::vector<int32_t> ids(171);
  std::iota(ids.begin(), ids.end(), 0);
  for (const DType dtype : {DType::kF8E4M3, DType::kBF16, DType::kF16, DType::kQ4_K}) {
    const StoredMatrix a = random_matrix(dtype, 300, 256, 1);
    std::vector<MatrixPart> parts = {a.part(90, 100), a.part(0, 70), a.part(299, 1)};
    std::vector<float> out(ids.size() * 256), expected(ids.size() * 256);
    backend->gather(*backend->pack(parts, DType::kBF16, [](uint64_t) {}), ids, expected.data());
    for (MatrixPart& part : parts) part.any_order = true;
    backend->gather(*backend->pack(parts, DType::kBF16, [](uint64_t) {}), ids, out.data());
    expect_same_bits(out, expected, name_of(dtype));
  }
}

// 24 MB, where 16 are a window; each weight is the number of its row.
TEST(Pack, ReadsEachRowOfALargePartInAnyOrder) {
  const auto backend = make_cpu_backend({.threads = 3});
  constexpr int64_t kCols = 2048;
  MatrixPart part{DType::kF32,
                  3000,
                  kCols,
                  [](uint64_t offset, std::span<std::byte> out) {
                    for (size_t at = 0; at < out.size(); at += sizeof(float)) {
                      const auto row = static_cast<float>((offset + at) / (kCols * sizeof(float)));
                      std::memcpy(out.data() + at, &row, sizeof row);
                    }
                  },
                  {}};
  part.any_order = true;
  uint64_t read = 0;
  const auto packed = backend->pack({&part, 1}, DType::kF32, [&](uint64_t bytes) { read += bytes; });
  EXPECT_EQ(read, 3000u * kCols * sizeof(float));
  const std::vector<int32_t> ids = {0, 63, 64, 2047, 2048, 2999};
  std::vector<float> rows(ids.size() * kCols);
  backend->gather(*packed, ids, rows.data());
  for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<float>(ids[i / kCols]));
}

TEST(Pack, ReportsTheFirstErrorOfPartsThatAreReadInAnyOrder) {
  const auto backend = make_cpu_backend({.threads = 3});
  MatrixPart part{DType::kBF16,
                  300,
                  64,
                  [](uint64_t offset, std::span<std::byte>) {
                    const uint64_t row = offset / 128;
                    if (row < 128) return;
                    throw EngineError(FailureReason::kCheckpointCorrupt, "row " + std::to_string(row));
                  },
                  {}};
  part.any_order = true;
  std::string message;
  const std::string reason = failure_of(
      [&] {
        backend->pack({&part, 1}, DType::kBF16, [](uint64_t) {});
      },
      &message);
  EXPECT_EQ(reason, "CheckpointCorrupt");
  EXPECT_EQ(message, "row 128");
}

TEST(Pack, RefusesAnFp8TensorWithTooFewScales) {
  const auto backend = make_cpu_backend({.threads = 1});
  StoredMatrix w = random_matrix(DType::kF8E4M3, 256, 256, 1);
  w.scales.resize(1);
  try {
    pack(*backend, w);
    FAIL() << "accepted";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.reason(), FailureReason::kUnsupportedQuantization);
    EXPECT_NE(std::string(error.what()).find("1 scales"), std::string::npos) << error.what();
  }
}

TEST(Pack, UnquantizedPartsAreRoundedToWhatIsKept) {
  const auto backend = make_cpu_backend({.threads = 1});
  ReferenceBackend reference;
  for (const DType from : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const DType keep : {DType::kBF16, DType::kF32}) {
      const StoredMatrix w = random_matrix(from, 70, 90, 5);
      const std::vector<int32_t> ids = {69, 0, 33, 64};
      std::vector<float> out(ids.size() * 90), expected(ids.size() * 90);
      backend->gather(*pack(*backend, w, keep), ids, out.data());
      reference.gather(*pack(reference, w, keep), ids, expected.data());
      expect_same_bits(out, expected, std::string(name_of(from)) + " kept as " + name_of(keep));
    }
  }
}

TEST(Pack, HoldsF16AsItIsAndTakesWhatItsTypeTakes) {
  const auto backend = make_cpu_backend({.threads = 1});
  EXPECT_EQ(pack(*backend, random_matrix(DType::kF16, 64, 128, 1))->bytes, 64u * 128 * 2);
  // Pairs of columns, the last one with room for a second; and a float for each row.
  EXPECT_EQ(pack(*backend, random_matrix(DType::kBF16, 65, 127, 1))->bytes, 128u * 128 * 2);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kF8E4M3, 65, 127, 1, Scaling::kRow))->bytes,
            128u * (128 + 4));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kI8, 65, 128, 1, Scaling::kRow))->bytes, 128u * (128 + 4));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ8_0, 65, 64, 1))->bytes, 128u * 2 * 34);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ4_K, 65, 256, 1))->bytes, 128u * (128 + 20));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ2_K, 65, 256, 1))->bytes, 128u * 84);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ3_K, 65, 256, 1))->bytes, 128u * (64 + 18 + 32));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ5_K, 65, 256, 1))->bytes, 128u * (128 + 20 + 32));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ6_K, 65, 256, 1))->bytes, 128u * 210);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ4_1, 65, 64, 1))->bytes, 128u * 2 * 20);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ5_0, 65, 64, 1))->bytes, 128u * 2 * 22);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kIQ4_NL, 65, 64, 1))->bytes, 128u * 2 * 18);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kIQ4_XS, 65, 256, 1))->bytes, 128u * (128 + 10));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kMXFP4, 65, 64, 1))->bytes, 128u * 2 * 17);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kInt4, 65, 64, 1))->bytes, 128u * 2 * 20);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kInt8, 65, 64, 1))->bytes, 128u * 2 * 36);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ5_1, 65, 64, 1))->bytes, 128u * 2 * 24);
  // Half a byte and a sixteenth of one per value, a float per row, and rows up to whole panels.
  EXPECT_EQ(pack(*backend, random_matrix(DType::kF4E2M1, 65, 128, 1, Scaling::kRow))->bytes,
            128u * (64 + 8 + 4));
}

TEST(Gather, AppliesFp8Scales) {
  const auto backend = make_cpu_backend({.threads = 2});
  const StoredMatrix w = random_matrix(DType::kF8E4M3, 200, 300, 5);
  const std::vector<int32_t> ids = {199, 127, 128};
  std::vector<float> out(ids.size() * 300);
  backend->gather(*pack(*backend, w), ids, out.data());
  for (size_t i = 0; i < ids.size(); ++i) {
    for (int64_t k = 0; k < 300; ++k) EXPECT_EQ(out[i * 300 + k], w.value(ids[i], k) * w.scale(ids[i], k));
  }
}

TEST(Gather, ReordersColumns) {
  const auto backend = make_cpu_backend({.threads = 2});
  ReferenceBackend reference;
  const StoredMatrix w = random_matrix(DType::kInt4, 130, 96, 5);
  MatrixPart part = w.part(0, w.rows);
  for (int32_t k = 0; k < 96; ++k) part.order.push_back((k * 35 + 7) % 96);
  const auto packed = backend->pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  const auto expected = reference.pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  EXPECT_EQ(packed->bytes, 192u * 3 * 20 + 96 * 4);
  const std::vector<int32_t> ids = {129, 0, 64};
  std::vector<float> rows(ids.size() * 96), wanted(ids.size() * 96);
  backend->gather(*packed, ids, rows.data());
  reference.gather(*expected, ids, wanted.data());
  expect_same_bits(rows, wanted, "rows");
  for (const int64_t count : {1, 40}) {
    std::vector<float> x = random_floats(count * 96, 6);
    for (float& value : x) value = bf16_to_float(float_to_bf16(value));  // so that no family rounds it
    std::vector<float> out(count * 130), products(count * 130);
    backend->matmul(*packed, x.data(), count, out.data());
    reference.matmul(*expected, x.data(), count, products.data());
    expect_close(out, products, 1e-4f, "products");
  }
}

TEST(Gather, WidensWhatEveryTypeHolds) {
  const auto backend = make_cpu_backend({.threads = 1});
  ReferenceBackend reference;
  for (const DType dtype :
       {DType::kF8E4M3, DType::kI8, DType::kF4E2M1, DType::kQ8_0, DType::kQ4_0, DType::kQ4_K, DType::kQ6_K,
        DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ5_K, DType::kQ2_K, DType::kQ3_K, DType::kIQ4_NL,
        DType::kIQ4_XS, DType::kMXFP4, DType::kInt4, DType::kInt8}) {
    const StoredMatrix w = random_matrix(dtype, 90, 256, 5, Scaling::kRow);
    const std::vector<int32_t> ids = {89, 0, 63, 64};
    std::vector<float> out(ids.size() * 256), expected(ids.size() * 256);
    backend->gather(*pack(*backend, w), ids, out.data());
    reference.gather(*pack(reference, w), ids, expected.data());
    expect_same_bits(out, expected, name_of(dtype));
  }
}

}  // namespace
}  // namespace llmservice::testing
