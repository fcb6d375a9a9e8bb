// A layer's largest matrix in each format, and the head.
#include <algorithm>
#include <span>

#include "ops/dtype.h"
#include "roofline.h"

namespace llmservice::bench {
namespace {

constexpr int64_t kWidth = 1024;
constexpr int64_t kOutputs = 6144;  // gate and up
constexpr int64_t kVocab = 151936;
// Together copies of a matrix are far larger than any cache.
constexpr int64_t kStreamedBytes = int64_t{128} << 20;
constexpr int64_t kMaxRows = 512;

struct Format {
  const char* name;
  DType dtype;
  Scaling scaling;
  bool in_pairs;  // where the family has products of pairs
};
constexpr Format kFormats[] = {
    {"BF16", DType::kBF16, Scaling::kRow, true},     {"FP8 blocks", DType::kF8E4M3, Scaling::kBlock, true},
    {"INT8", DType::kI8, Scaling::kRow, false},      {"Q8_0", DType::kQ8_0, Scaling::kRow, false},
    {"Q4_0", DType::kQ4_0, Scaling::kRow, false},    {"Q4_K", DType::kQ4_K, Scaling::kRow, false},
    {"NVFP4", DType::kF4E2M1, Scaling::kRow, false}, {"MXFP4", DType::kMXFP4, Scaling::kRow, false}};

class Copies {
 public:
  Copies(Backend& backend, const Format& format, int64_t outputs) : backend_(backend) {
    // 0x3c makes ordinary numbers of codes and scales of every type.
    const std::vector<float> scales(outputs * kWidth / 128, 0.01f);
    const std::vector<std::byte> groups(outputs * kWidth / kGroupColumns, std::byte{0x3c});
    MatrixPart part{
        .dtype = format.dtype,
        .rows = outputs,
        .cols = kWidth,
        .read = [](uint64_t, std::span<std::byte> out) { std::ranges::fill(out, std::byte{0x3c}); },
        .scales = {},
        .scaling = format.scaling};
    if (has_scales(format.dtype)) part.scales = scales;
    if (format.dtype == DType::kF4E2M1) part.group_scales = groups;
    do {
      matrices_.push_back(backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {}));
    } while (bytes() * static_cast<int64_t>(matrices_.size()) < kStreamedBytes);
  }

  int64_t bytes() const { return static_cast<int64_t>(matrices_[0]->bytes); }
  void multiply(int64_t index, const float* x, int64_t rows, float* out) {
    backend_.matmul(*matrices_[static_cast<size_t>(index) % matrices_.size()], x, rows, out);
  }

 private:
  Backend& backend_;
  std::vector<std::unique_ptr<Matrix>> matrices_;
};

void measure_matrix(Roofline& roofline, const std::string& name, const Format& format, int64_t outputs,
                    std::span<const int64_t> rows_of_each, bool fits_cache) {
  Copies copies(roofline.backend(), format, outputs);
  const std::vector<float> x(kMaxRows * kWidth, 0.37f);
  std::vector<float> out(*std::ranges::max_element(rows_of_each) * outputs);
  const std::function<void(int64_t)> none = nullptr;
  for (const int64_t rows : rows_of_each) {
    const auto multiply = [&](int64_t i) { copies.multiply(i, x.data(), rows, out.data()); };
    const std::function<void(int64_t)> same = [&](int64_t) { multiply(0); };
    const double flops = 2.0 * static_cast<double>(rows * outputs * kWidth);
    roofline.measure({name + ", " + format.name, rows, static_cast<double>(copies.bytes()), flops,
                      format.in_pairs ? Peak::kBf16Pairs : Peak::kFloat32},
                     multiply, fits_cache && rows < kMaxRows ? same : none);
  }
}

}  // namespace

void measure_products(Roofline& roofline) {
  constexpr int64_t kRows[] = {1, 4, 8, 16, kMaxRows};
  for (const Format& format : kFormats) {
    measure_matrix(roofline, "product", format, kOutputs, kRows, true);
  }
  constexpr int64_t kHeadRows[] = {1, 8};
  for (const Format& format : {kFormats[0], kFormats[1]}) {
    measure_matrix(roofline, "head", format, kVocab, kHeadRows, false);
  }
}

}  // namespace llmservice::bench
