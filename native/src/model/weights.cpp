#include "model/weights.h"

#include <algorithm>
#include <deque>

#include "model/load_quantizer.h"
#include "model/self_check/samples.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

// Of rows that are announced together: what a disk fetches at its full rate.
constexpr uint64_t kRunBytes = uint64_t{512} << 10;

void check_shape(const StoredWeight& stored, const Band& band) {
  if (stored.rows == band.stored_rows && stored.cols == band.stored_cols) return;
  throw EngineError(FailureReason::kCheckpointCorrupt,
                    stored.weight.file->name() + ": tensor " + stored.weight.name + " has shape " +
                        to_text({stored.rows, stored.cols}) + " where config.json implies " +
                        to_text({band.stored_rows, band.stored_cols}) + ".");
}

// GGUF files mix types among matrices that run together; other checkpoints do by mistake.
bool may_differ(const MatrixPart& a, const MatrixPart& b) {
  return is_block_type(a.dtype) || is_block_type(b.dtype);
}

std::string describe(const MatrixPart& part) {
  if (!has_scales(part.dtype)) return name_of(part.dtype);
  const bool by_row = part.scaling == Scaling::kRow;
  return std::string(name_of(part.dtype)) + (by_row ? " with scales per row" : " with scales per block");
}

}  // namespace

DeviceVector::DeviceVector(Backend& backend, std::span<const float> values)
    : buffer_(backend.allocate(values.size_bytes())) {
  backend.upload(std::as_bytes(values), buffer_->data());
}

TensorReader band_reader(TensorReader read, int64_t stored_cols, Range rows, Range cols,
                         int64_t element_bytes, RunAnnouncer announce) {
  const auto stored_row = static_cast<uint64_t>(stored_cols * element_bytes);
  const auto begin = static_cast<uint64_t>(rows.begin) * stored_row;
  if (cols.count == stored_cols) {
    return [read = std::move(read), begin](uint64_t offset, std::span<std::byte> out) {
      read(begin + offset, out);
    };
  }
  const auto row_bytes = static_cast<uint64_t>(cols.count * element_bytes);
  const uint64_t first = begin + static_cast<uint64_t>(cols.begin * element_bytes);
  const uint64_t run_rows = std::max<uint64_t>(kRunBytes / stored_row, 1);
  return
      [=, read = std::move(read), announce = std::move(announce)](uint64_t offset, std::span<std::byte> out) {
        if (out.empty()) return;
        uint64_t row = offset / row_bytes;
        const uint64_t end = (offset + out.size() - 1) / row_bytes + 1;
        uint64_t announced = row;
        const auto announce_run = [&] {
          const uint64_t count = std::min(run_rows, end - announced);
          if (announce != nullptr && count > 0) {
            announce(first + announced * stored_row, (count - 1) * stored_row + row_bytes);
          }
          announced += count;
        };
        announce_run();
        for (uint64_t run_end = row; row < end; ++row) {
          if (row == run_end) {
            run_end = announced;
            announce_run();
          }
          const uint64_t within = offset % row_bytes;
          const size_t count = std::min<size_t>(out.size(), row_bytes - within);
          read(first + row * stored_row + within, out.first(count));
          out = out.subspan(count);
          offset += count;
        }
      };
}

WeightReader::WeightReader(const Checkpoint& checkpoint, Backend& backend, DType keep, BytesRead on_bytes,
                           LoadQuantization quantization)
    : checkpoint_(checkpoint),
      backend_(backend),
      keep_(keep),
      on_bytes_(std::move(on_bytes)),
      quantization_(quantization) {}

template <class Pack>
auto WeightReader::with_parts(const std::vector<Band>& bands, Pack pack) {
  std::deque<PartScales> scales;
  std::vector<MatrixPart> parts;
  // Quantizing hands over fewer bytes than it reads.
  uint64_t read_per_byte = 1;
  for (const Band& band : bands) {
    const StoredWeight stored = stored_weight(checkpoint_, band.module, band.stack);
    check_shape(stored, band);
    PartScales& kept = scales.emplace_back();
    const bool quantizes = quantization_ != LoadQuantization::kNone && !is_quantized(stored.weight.dtype) &&
                           stored.weight.quantizable;
    if (quantizes) read_per_byte = size_of(stored.weight.dtype);
    const MatrixPart& part = parts.emplace_back(quantizes ? quantized_part(stored, band, quantization_, kept)
                                                          : matrix_part(stored, band, kept, on_bytes_));
    const bool same = part.dtype == parts.front().dtype && part.scaling == parts.front().scaling;
    if (part.order != parts.front().order) {
      throw EngineError(FailureReason::kCheckpointCorrupt,
                        stored.weight.file->name() + ": tensor " + stored.weight.name +
                            " has its columns in another order than " + bands.front().weight_name() +
                            ", which runs with it; expected one order, by one g_idx.");
    }
    if (!same && !may_differ(part, parts.front())) {
      throw EngineError(FailureReason::kUnsupportedQuantization,
                        stored.weight.name + " is stored as " + describe(part) + " but " +
                            bands.front().weight_name() + ", which runs with it, as " +
                            describe(parts.front()) + "; both must have one type.");
    }
  }
  return pack(parts, [&](uint64_t bytes) { on_bytes_(bytes * read_per_byte); });
}

std::unique_ptr<Matrix> WeightReader::matrix(const std::vector<Band>& bands) {
  auto packed = with_parts(
      bands, [&](const auto& parts, const auto& on_bytes) { return backend_.pack(parts, keep_, on_bytes); });
  // Its bytes were just read, and are at hand.
  if (samples_ != nullptr) samples_->take(checkpoint_, *packed, bands);
  return packed;
}

ExpertMatrix WeightReader::expert(const std::vector<Band>& bands) {
  return with_parts(bands, [&](const auto& parts, const auto& on_bytes) {
    return backend_.pack_expert(parts, keep_, on_bytes);
  });
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

Tensor WeightReader::small_tensor(const std::string& name, const std::vector<int64_t>& shape) const {
  const Tensor tensor = checkpoint_.tensor(name, shape);
  if (is_quantized(tensor.dtype)) {
    throw EngineError(FailureReason::kUnsupportedQuantization, tensor.file->name() + ": tensor " + name +
                                                                   " has type " + name_of(tensor.dtype) +
                                                                   "; vectors are read as F32, BF16 or F16.");
  }
  return tensor;
}

DeviceVector WeightReader::vector(const std::string& name, const std::vector<int64_t>& shape,
                                  std::span<const Range> rows, float offset, float factor) {
  const Tensor tensor = small_tensor(name, shape);
  int64_t row = 1;
  for (size_t i = 1; i < shape.size(); ++i) row *= shape[i];
  std::vector<float> data;
  for (const Range& band : rows) {
    const auto part = values(tensor, {band.begin * row, band.count * row});
    data.insert(data.end(), part.begin(), part.end());
  }
  for (float& value : data) value = value * factor + offset;
  return {backend_, data};
}

DeviceVector WeightReader::columns(int64_t rows, std::span<const ColumnBand> bands) {
  std::vector<Tensor> tensors;
  for (const ColumnBand& band : bands) tensors.push_back(small_tensor(band.name, {rows, band.columns}));
  std::vector<float> data;
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < bands.size(); ++i) {
      const auto& [name, columns, range] = bands[i];
      const auto part = values(tensors[i], {row * columns + range.begin, range.count});
      data.insert(data.end(), part.begin(), part.end());
    }
  }
  return {backend_, data};
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

}  // namespace llmservice
