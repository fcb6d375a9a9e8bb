#include "model/weights.h"

#include <algorithm>

#include "ops/dtype.h"

namespace llmservice {
namespace {

constexpr int64_t kBlock = 128;  // FP8 scales cover 128 x 128 values

int64_t blocks(int64_t count) { return (count + kBlock - 1) / kBlock; }

}  // namespace

DeviceVector::DeviceVector(Backend& backend, std::span<const float> values)
    : buffer_(backend.allocate(values.size_bytes())) {
  backend.upload(std::as_bytes(values), buffer_->data());
}

TensorReader band_reader(TensorReader read, int64_t stored_cols, Range rows, Range cols,
                         int64_t element_bytes) {
  const auto stored_row = static_cast<uint64_t>(stored_cols * element_bytes);
  const auto begin = static_cast<uint64_t>(rows.begin) * stored_row;
  if (cols.count == stored_cols) {
    return [read = std::move(read), begin](uint64_t offset, std::span<std::byte> out) {
      read(begin + offset, out);
    };
  }
  const auto row_bytes = static_cast<uint64_t>(cols.count * element_bytes);
  const uint64_t first = begin + static_cast<uint64_t>(cols.begin * element_bytes);
  return [=, read = std::move(read)](uint64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
      const uint64_t row = offset / row_bytes;
      const uint64_t within = offset % row_bytes;
      const size_t count = std::min<size_t>(out.size(), row_bytes - within);
      read(first + row * stored_row + within, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  };
}

WeightReader::WeightReader(const Checkpoint& checkpoint, const ModelConfig& config, Backend& backend,
                           DType keep, BytesRead on_bytes)
    : checkpoint_(checkpoint),
      config_(config),
      backend_(backend),
      keep_(keep),
      on_bytes_(std::move(on_bytes)) {}

std::unique_ptr<Matrix> WeightReader::matrix(const std::vector<Band>& bands) {
  std::deque<std::vector<float>> scales;
  std::vector<MatrixPart> parts;
  for (const Band& band : bands) {
    parts.push_back(part(band, scales));
    if (parts.back().dtype != parts.front().dtype) {
      throw EngineError("UnsupportedQuantization",
                        band.weight_name() + " is stored as " + name_of(parts.back().dtype) + " but " +
                            bands.front().weight_name() + ", which runs with it, as " +
                            name_of(parts.front().dtype) + "; both must have one type.");
    }
  }
  return backend_.pack(parts, keep_, on_bytes_);
}

Linear WeightReader::linear(const std::vector<Band>& bands, bool with_bias) {
  Linear linear{.w = matrix(bands), .bias = {}};
  if (!with_bias) return linear;
  std::vector<float> bias;
  for (const Band& band : bands) {
    const auto part = values(checkpoint_.tensor(band.module + ".bias", {band.stored_rows}), band.rows);
    bias.insert(bias.end(), part.begin(), part.end());
  }
  linear.bias = DeviceVector(backend_, bias);
  return linear;
}

DeviceVector WeightReader::vector(const std::string& name, const std::vector<int64_t>& shape,
                                  std::span<const Range> rows, float offset) {
  const Tensor tensor = checkpoint_.tensor(name, shape);
  int64_t row = 1;
  for (size_t i = 1; i < shape.size(); ++i) row *= shape[i];
  std::vector<float> data;
  for (const Range& band : rows) {
    const auto part = values(tensor, {band.begin * row, band.count * row});
    data.insert(data.end(), part.begin(), part.end());
  }
  for (float& value : data) value += offset;
  return {backend_, data};
}

MatrixPart WeightReader::part(const Band& band, std::deque<std::vector<float>>& scales) {
  const Tensor weight = stored(band.weight_name(), band, band.stored_rows, band.stored_cols);
  check_quantization(weight, band);
  MatrixPart part{
      .dtype = weight.dtype,
      .rows = band.rows.count,
      .cols = band.cols.count,
      .read = band_reader([weight](uint64_t at, std::span<std::byte> out) { weight.read(at, out); },
                          band.stored_cols, band.rows, band.cols, size_of(weight.dtype)),
      .scales = {},
      .scale_row = band.rows.begin};
  if (weight.dtype == DType::kF8E4M3) part.scales = scales.emplace_back(scales_of(weight, band));
  return part;
}

Tensor WeightReader::stored(const std::string& name, const Band& band, int64_t rows, int64_t cols) const {
  if (!band.stack) return checkpoint_.tensor(name, {rows, cols});
  Tensor slice = checkpoint_.tensor(name, {band.stack->count, rows, cols});
  slice.bytes /= band.stack->count;
  slice.offset += slice.bytes * band.stack->index;
  slice.shape = {rows, cols};
  return slice;
}

// Scales of the band's columns, for all stored rows: (blocks(stored_rows), blocks(cols)).
std::vector<float> WeightReader::scales_of(const Tensor& weight, const Band& band) {
  const int64_t across = blocks(band.stored_cols);
  const Tensor tensor = stored(band.scale_name(), band, blocks(band.stored_rows), across);
  const auto all = values(tensor, whole(blocks(band.stored_rows) * across));
  if (band.cols.count == band.stored_cols) return all;
  if (band.cols.begin % kBlock != 0) {
    throw EngineError("ParallelismInvalid", weight.name + ": a rank's columns begin at " +
                                                std::to_string(band.cols.begin) +
                                                ", inside a block of 128 with one scale; use fewer ranks.");
  }
  std::vector<float> kept;
  for (int64_t row = 0; row < blocks(band.stored_rows); ++row) {
    const auto from = all.begin() + row * across + band.cols.begin / kBlock;
    kept.insert(kept.end(), from, from + blocks(band.cols.count));
  }
  return kept;
}

std::vector<float> WeightReader::values(const Tensor& tensor, Range elements) {
  const int64_t unit = size_of(tensor.dtype);
  std::vector<std::byte> bytes(elements.count * unit);
  tensor.read(elements.begin * unit, bytes);
  on_bytes_(bytes.size());
  std::vector<float> out(elements.count);
  for (int64_t i = 0; i < elements.count; ++i) out[i] = widen(tensor.dtype, bytes.data(), i);
  return out;
}

// The tensor's type and the presence of its scale decide; a config that says otherwise is an error.
void WeightReader::check_quantization(const Tensor& weight, const Band& band) const {
  const std::string scale = band.scale_name();
  const bool fp8 = weight.dtype == DType::kF8E4M3;
  if (fp8 && !checkpoint_.has(scale)) {
    throw EngineError("CheckpointIncomplete", weight.file->name() + ": " + weight.name +
                                                  " is FP8 but there is no tensor " + scale + ".");
  }
  if (!fp8 && checkpoint_.has(scale)) {
    throw EngineError("CheckpointCorrupt", weight.file->name() + ": " + weight.name + " is " +
                                               name_of(weight.dtype) + " but has a scale, " + scale +
                                               ", as if it were FP8.");
  }
  if (fp8 && config_.says_unconverted(band.module)) {
    throw EngineError("CheckpointCorrupt", weight.file->name() + ": " + weight.name +
                                               " is FP8 but config.json lists " + band.module +
                                               " in modules_to_not_convert.");
  }
}

}  // namespace llmservice
