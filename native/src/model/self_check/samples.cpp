#include "model/self_check/samples.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "model/self_check/stored_row.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

// Of a product of exact activations, in units of the root of the sum of its squared terms: sums of tensor
// cores keep 14 bits and more.
constexpr double kSumBar = 1.0 / 128;
// Where the loader rounds weights to e4m3, or the kernels activations that are not exact: half a unit of
// three bits, some eight standard deviations.
constexpr double kE4m3Bar = 0.3;
// Probes as codes of e4m3fnuz: each is up to 5 % too large, and 2.4 % on average.
constexpr double kCodeBar = 0.2;
// Activations in BF16, of which half a unit is 1/512.
constexpr double kBf16Bar = 0.03;

constexpr int64_t kSpread = 8;

struct Place {
  const Band* band;
  int64_t row;  // of the stored matrix
};

Place place_of(const std::vector<Band>& bands, int64_t output) {
  for (const Band& band : bands) {
    if (output < band.rows.count) return {&band, band.rows.begin + output};
    output -= band.rows.count;
  }
  return {&bands.back(), 0};
}

// Adds the time until it goes.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() {
    milliseconds_ +=
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& milliseconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double root_sum(double a, double b) { return std::sqrt(a * a + b * b); }

float glu(const Samples::ExpertSource& source, double gate, double up) {
  const auto& clamped = source.clamped;
  if (source.gelu) return static_cast<float>(reference_gelu(gate) * up);
  if (!clamped) return static_cast<float>(gate * reference_sigmoid(gate) * up);
  gate = std::min<double>(gate, clamped->limit);
  up = std::clamp<double>(up, -clamped->limit, clamped->limit);
  return static_cast<float>((up + 1) * gate * reference_sigmoid(clamped->alpha * gate));
}

float bias_at(const Checkpoint& checkpoint, const std::string& name, int64_t index) {
  if (name.empty()) return 0;
  const Tensor tensor = checkpoint.tensor(name);
  std::vector<std::byte> bytes(size_of(tensor.dtype));
  tensor.read(index * bytes.size(), bytes);
  return widen(tensor.dtype, bytes.data(), 0);
}

}  // namespace

std::vector<int64_t> sampled_outputs(const std::vector<Band>& bands) {
  std::set<int64_t> outputs;
  int64_t begin = 0;
  for (size_t i = 0; i < bands.size();) {
    int64_t count = 0;
    const std::string& module = bands[i].module;
    for (; i < bands.size() && bands[i].module == module; ++i) count += bands[i].rows.count;
    if (count == 0) continue;
    for (const int64_t at : {int64_t{0}, count / 3, count * 2 / 3, count - 1}) outputs.insert(begin + at);
    begin += count;
  }
  for (int64_t i = 0; i < kSpread; ++i) outputs.insert((2 * i + 1) * begin / (2 * kSpread));
  return {outputs.begin(), outputs.end()};
}

Samples::Row Samples::read(const Checkpoint& checkpoint, const Band& band, int64_t row) const {
  const StoredWeight stored = stored_weight(checkpoint, band.module, band.stack);
  const bool quantizes = quantization_ != LoadQuantization::kNone && !is_quantized(stored.weight.dtype) &&
                         stored.weight.quantizable;
  Row read{.values = stored_row(stored, row, quantizes ? DType::kF32 : keep_)};
  if (coded_ && stored.weight.dtype == DType::kF8E4M3) read.relative = kCodeBar;
  if (!quantizes) return read;
  if (quantization_ == LoadQuantization::kFp8) {
    read.relative = kE4m3Bar;
  } else {
    float most = 0;
    for (const float value : read.values) most = std::max(most, std::fabs(value));
    read.rounding = most / 127;  // twice what it is at most, which stands for many of them
  }
  return read;
}

Expected Samples::product(const Row& row, Range columns, int64_t probe_row) {
  std::vector<float>& probe = probes_[probe_row];
  for (auto k = static_cast<int64_t>(probe.size()); k < columns.begin + columns.count; ++k) {
    probe.push_back(probe_value(probe_row, k));
  }
  double sum = 0;
  double squares = 0;
  double inputs = 0;
  for (int64_t k = columns.begin; k < columns.begin + columns.count; ++k) {
    const double x = probe[k];
    const double term = x * row.values[k];
    sum += term;
    squares += term * term;
    inputs += x * x;
  }
  return {sum, (kSumBar + row.relative) * std::sqrt(squares) + 3 * row.rounding * std::sqrt(inputs)};
}

void Samples::take(const Checkpoint& checkpoint, const Matrix& matrix, const std::vector<Band>& bands) {
  const Stopwatch stopwatch(milliseconds_);
  const Band& first = bands.front();
  SampledMatrix sampled{.matrix = &matrix,
                        .first_column = first.cols.begin,
                        .divided = first.cols.count != first.stored_cols,
                        .outputs = {}};
  for (const int64_t output : sampled_outputs(bands)) {
    const auto [band, row] = place_of(bands, output);
    SampledOutput expected{
        .output = output, .tensor = band->weight_name(), .row = row, .own = {}, .whole = {}};
    const Row values = read(checkpoint, *band, row);
    for (int64_t t = 0; t < kProbeRows; ++t) {
      expected.own[t] = product(values, band->cols, t);
      expected.whole[t] = product(values, {0, band->stored_cols}, t);
    }
    sampled.outputs.push_back(std::move(expected));
  }
  matrices_.push_back(std::move(sampled));
}

void Samples::take(const Checkpoint& checkpoint, const ExpertSource& source) {
  const Stopwatch stopwatch(milliseconds_);
  const auto probe_row = static_cast<int64_t>(experts_.size());
  // Half of its outputs are gates, the other half what they open.
  int64_t width = 0;
  for (const Band& band : source.gate_up) width += band.rows.count;
  width /= 2;
  const auto gate_or_up = [&](int64_t output) {
    const auto [band, row] = place_of(source.gate_up, output);
    double bias = 0;
    if (!source.biases.empty()) {
      const ColumnBand& from = source.biases[output < width ? 0 : 1];
      bias = bias_at(checkpoint, from.name, source.expert * from.columns + from.range.begin + output % width);
    }
    return product(read(checkpoint, *band, row), band->cols, probe_row).value + bias;
  };
  // All gates before all that they open: readers of packed tensors keep the strip of rows that they unpacked.
  std::vector<double> both(2 * width);
  for (int64_t i = 0; i < 2 * width; ++i) both[i] = gate_or_up(i);
  std::vector<float> mixed(width);
  for (int64_t i = 0; i < width; ++i) mixed[i] = glu(source, both[i], both[width + i]);

  SampledExpert sampled{.expert = source.expert, .outputs = {}};
  for (const int64_t output : sampled_outputs({source.down})) {
    const Row row = read(checkpoint, source.down, output);
    double sum = bias_at(checkpoint, source.down_bias, source.expert * source.down.stored_rows + output);
    double squares = 0;
    double inputs = 0;
    for (int64_t i = 0; i < width; ++i) {
      const double term = static_cast<double>(mixed[i]) * row.values[source.down.cols.begin + i];
      sum += term;
      squares += term * term;
      inputs += static_cast<double>(mixed[i]) * mixed[i];
    }
    // What goes into down was rounded on the way: by quantized gates, and to e4m3 where weights are FP8.
    const bool fp8 =
        stored_weight(checkpoint, source.down.module, source.down.stack).weight.dtype == DType::kF8E4M3 ||
        row.relative > 0;
    const double rounded = row.relative > 0 || row.rounding > 0 ? 2 * kE4m3Bar : 0;
    const double bar = (kBf16Bar + (fp8 ? kE4m3Bar : 0) + rounded) * std::sqrt(squares);
    SampledOutput expected{
        .output = output, .tensor = source.down.weight_name(), .row = output, .own = {}, .whole = {}};
    expected.own[probe_row] = {sum, root_sum(bar, 3 * row.rounding * std::sqrt(inputs))};
    sampled.outputs.push_back(std::move(expected));
  }
  experts_.push_back(std::move(sampled));
}

}  // namespace llmservice
