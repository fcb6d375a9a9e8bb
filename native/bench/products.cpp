// Few rows are bound by reading weights, many by multiply-adds: the table shows both rates beside what one
// core gives at most.
#include "products.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <span>

#include "bandwidth.h"
#include "median.h"
#include "ops/dtype.h"
#include "ops/ops.h"
#include "peaks.h"

namespace llmservice::bench {
namespace {

// A matrix of Qwen3-0.6B's gate and up.
constexpr int64_t kOutputs = 6144;
constexpr int64_t kDepth = 1024;
// Together they are far larger than any cache.
constexpr int64_t kStreamedBytes = int64_t{256} << 20;

struct Format {
  const char* name;
  DType dtype;
  Scaling scaling;
};
constexpr Format kFormats[] = {
    {"BF16", DType::kBF16, Scaling::kRow},       {"FP8 blocks", DType::kF8E4M3, Scaling::kBlock},
    {"FP8 rows", DType::kF8E4M3, Scaling::kRow}, {"Q8_0", DType::kQ8_0, Scaling::kRow},
    {"Q4_K", DType::kQ4_K, Scaling::kRow},       {"Q4_0", DType::kQ4_0, Scaling::kRow},
    {"Q5_K", DType::kQ5_K, Scaling::kRow},       {"Q2_K", DType::kQ2_K, Scaling::kRow},
    {"Q3_K", DType::kQ3_K, Scaling::kRow},       {"IQ4_XS", DType::kIQ4_XS, Scaling::kRow},
    {"INT4", DType::kInt4, Scaling::kRow},       {"INT8", DType::kInt8, Scaling::kRow},
    {"Q6_K", DType::kQ6_K, Scaling::kRow}};
constexpr int64_t kRows[] = {1, 2, 4, 6, 8, 12, 16, 24, 64, 192, 512};
constexpr int64_t kMostRows = 512;

// Values around zero, in BF16 of magnitudes below two and in e4m3 without NaN; any bits of block types, whose
// speed does not depend on them.
void fill(DType dtype, std::span<std::byte> out) {
  std::mt19937 random(1);
  for (size_t i = 0; i < out.size(); ++i) {
    auto byte = static_cast<uint8_t>(random());
    if (dtype == DType::kBF16 && i % 2 == 1) byte &= 0xbf;
    if (dtype == DType::kF8E4M3 && (byte & 0x7f) == 0x7f) byte = 0;
    out[i] = static_cast<std::byte>(byte);
  }
}

// One family's copies of a matrix.
class Products {
 public:
  Products(const char* isa, const Format& format, std::span<const std::byte> stored)
      : backend_(make_cpu_backend({.threads = 1, .isa = isa})) {
    const std::vector<float> scales(is_block_type(format.dtype) ? 0 : kOutputs * kDepth / 128, 0.01f);
    const MatrixPart part{.dtype = format.dtype,
                          .rows = kOutputs,
                          .cols = kDepth,
                          .read =
                              [&](uint64_t offset, std::span<std::byte> out) {
                                std::copy_n(stored.data() + offset, out.size(), out.data());
                              },
                          .scales = scales,
                          .scaling = format.scaling};
    do {
      copies_.push_back(backend_->pack({&part, 1}, DType::kBF16, [](uint64_t) {}));
    } while (packed_bytes() < kStreamedBytes);
  }

  int64_t bytes() const { return static_cast<int64_t>(copies_[0]->bytes); }
  int64_t packed_bytes() const { return bytes() * static_cast<int64_t>(copies_.size()); }
  // As many copies as make a sample long enough.
  int64_t copies(int64_t rows) const {
    const auto all = static_cast<int64_t>(copies_.size());
    return rows > 16 ? std::min<int64_t>(all, 2) : all;
  }
  void multiply(const float* x, int64_t rows, float* out) {
    for (int64_t i = 0; i < copies(rows); ++i) backend_->matmul(*copies_[i], x, rows, out);
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<Matrix>> copies_;
};

template <class Call>
double best_rate(double amount, int rounds, const Call& call) {
  double best = 0;
  for (int i = 0; i < rounds; ++i) best = std::max(best, amount / seconds_of(call));
  return best;
}

void print_peaks(int rounds, bool has_bf16) {
  BandwidthProbe probe(1);
  double bandwidth = 0;
  for (int i = 0; i < rounds; ++i) bandwidth = std::max(bandwidth, probe.measure());
  std::printf("one core, best of %d: reads %.1f GB/s", rounds, bandwidth / 1e9);
  if (has_bf16) {
    constexpr int64_t kSteps = 1'000'000;
    float sink = 0;
    const double float32 =
        best_rate(2.0 * kSteps * kFloat32Adds, rounds, [&] { sink += run_float32_adds(kSteps); });
    const double bf16 = best_rate(2.0 * kSteps * kBf16Adds, rounds, [&] { sink += run_bf16_adds(kSteps); });
    std::printf(", float32 %.0f GF/s, BF16 pairs %.0f GF/s%s", float32 / 1e9, bf16 / 1e9,
                sink < 0 ? "!" : "");
  }
  std::printf("\n\n");
}

void report_format(const Format& format, const std::vector<std::string>& isas, int rounds) {
  std::vector<std::byte> stored(bytes_of(format.dtype, kOutputs * kDepth));
  fill(format.dtype, stored);
  std::vector<Products> families;
  double packed = 0;  // bytes
  const double seconds_packing = seconds_of([&] {
    for (const std::string& isa : isas) {
      packed += static_cast<double>(families.emplace_back(isa.c_str(), format, stored).packed_bytes());
    }
  });
  std::printf("%-10s packed at %.2f GB/s\n", format.name, packed / seconds_packing / 1e9);
  const std::vector<float> x(kMostRows * kDepth, 0.37f);
  std::vector<float> out(kMostRows * kOutputs);
  for (const int64_t rows : kRows) {
    std::vector<std::vector<double>> seconds(isas.size());
    for (int i = 0; i < rounds + 1; ++i) {
      for (size_t f = 0; f < isas.size(); ++f) {
        const double each = seconds_of([&] { families[f].multiply(x.data(), rows, out.data()); });
        if (i > 0) seconds[f].push_back(each);  // the first touches memory
      }
    }
    std::printf("%-10s %5lld", format.name, static_cast<long long>(rows));
    const double copies = static_cast<double>(families[0].copies(rows));
    for (size_t f = 0; f < isas.size(); ++f) {
      const double each = median(seconds[f]) / copies;
      std::printf(" %10.1f %9.0f", static_cast<double>(families[f].bytes()) / each / 1e9,
                  2.0 * static_cast<double>(rows * kOutputs * kDepth) / each / 1e9);
    }
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) ratios.push_back(seconds.front()[i] / seconds.back()[i]);
    std::printf(" %7.2f\n", median(ratios));
    std::fflush(stdout);
  }
}

}  // namespace

void report_products(int rounds, std::vector<std::string> isas) {
  const std::vector<std::string> all = cpu_isas();
  if (isas.empty()) isas.assign(all.size() > 2 ? all.end() - 2 : all.end() - 1, all.end());
  print_peaks(rounds, std::ranges::find(all, "avx512bf16") != all.end());
  std::printf("%-10s %5s", "", "rows");
  for (const std::string& isa : isas) std::printf(" %10s GB/s, GF/s", isa.c_str());
  std::printf("   ratio of the last to the first, medians of %d\n", rounds);
  for (const Format& format : kFormats) report_format(format, isas, rounds);
}

}  // namespace llmservice::bench
