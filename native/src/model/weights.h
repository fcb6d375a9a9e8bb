// Reads weights from a checkpoint onto a backend: fused matrices from bands of stored ones, and small
// vectors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint.h"
#include "model/shard.h"
#include "model/stored_weight.h"
#include "ops/ops.h"

namespace llmservice {

class Samples;  // self_check/samples.h

// Called with the number of stored bytes just read; may throw to cancel the load.
using BytesRead = std::function<void(uint64_t)>;

// float32 values on the device.
class DeviceVector {
 public:
  DeviceVector() = default;
  DeviceVector(Backend& backend, std::span<const float> values);
  bool empty() const { return buffer_ == nullptr; }
  // Null where there are none.
  const float* data() const { return buffer_ ? static_cast<const float*>(buffer_->data()) : nullptr; }
  size_t bytes() const { return buffer_ ? buffer_->bytes() : 0; }

 private:
  std::unique_ptr<Buffer> buffer_;
};

// y = x · Wᵀ (+ bias).
struct Linear {
  std::unique_ptr<Matrix> w;
  DeviceVector bias;

  int64_t width() const { return w->rows; }
  size_t bytes() const { return w->bytes + bias.bytes(); }
  void apply(Backend& backend, const float* x, int64_t rows, float* out) const {
    backend.matmul(*w, x, rows, out);
    if (!bias.empty()) backend.add_bias(out, bias.data(), rows, w->rows);
  }
};

// A band of a stored matrix: module.weight, or one of the stack `module`, with its scales where it is
// quantized (stored_weight.h).
struct Band {
  std::string module;
  int64_t stored_rows;
  int64_t stored_cols;
  Range rows;
  Range cols;
  std::optional<StackPlace> stack = std::nullopt;

  std::string weight_name() const { return stack ? module : module + ".weight"; }
};

// Some columns of a tensor that has `columns`.
struct ColumnBand {
  std::string name;
  int64_t columns;
  Range range;
};

class WeightReader {
 public:
  // `keep` is the type that unquantized matrices are held in, `quantization` what they become before.
  WeightReader(const Checkpoint& checkpoint, Backend& backend, DType keep, BytesRead on_bytes,
               LoadQuantization quantization = LoadQuantization::kNone);

  // Where samples of the matrices that are read next go; null: none are taken.
  void sample_to(Samples* samples) { samples_ = samples; }
  Samples* samples() const { return samples_; }

  // One packed matrix from bands, concatenated along its rows. All bands must be stored in one type.
  std::unique_ptr<Matrix> matrix(const std::vector<Band>& bands);
  ExpertMatrix expert(const std::vector<Band>& bands);
  // The same with the bands' biases when `with_bias`.
  Linear linear(const std::vector<Band>& bands, bool with_bias);
  // Bands of rows of a tensor, one after the other, widened to float, each value times `factor` plus
  // `offset`.
  DeviceVector vector(const std::string& name, const std::vector<int64_t>& shape, std::span<const Range> rows,
                      float offset = 0, float factor = 1);
  // The only value of a tensor.
  float number(const std::string& name) { return values(small_tensor(name, {1}), whole(1)).front(); }
  // Of each of `rows` rows in turn, the bands of its columns, one after the other.
  DeviceVector columns(int64_t rows, std::span<const ColumnBand> bands);
  DeviceVector vector(const std::string& name, const std::vector<int64_t>& shape, Range rows,
                      float offset = 0, float factor = 1) {
    return vector(name, shape, std::span<const Range>(&rows, 1), offset, factor);
  }

  const Checkpoint& checkpoint() const { return checkpoint_; }
  Backend& backend() const { return backend_; }

 private:
  // What `pack` makes of the bands, which it gets as parts, with who wants to know of bytes.
  template <class Pack>
  auto with_parts(const std::vector<Band>& bands, Pack pack);
  // Of a vector; its type is not a quantized one.
  Tensor small_tensor(const std::string& name, const std::vector<int64_t>& shape) const;
  std::vector<float> values(const Tensor& tensor, Range elements);

  const Checkpoint& checkpoint_;
  Backend& backend_;
  DType keep_;
  BytesRead on_bytes_;
  LoadQuantization quantization_;
  Samples* samples_ = nullptr;
};

// Called with a run of stored bytes of which short pieces are read next.
using RunAnnouncer = std::function<void(uint64_t offset, uint64_t bytes)>;

// Reads a band of a row-major matrix as if it were stored alone. A band of columns is one short piece of each
// row: whole rows of half a MiB are announced together, each run before the one in front of it is read. Pure
// but for `read` and `announce`; exposed for tests.
TensorReader band_reader(TensorReader read, int64_t stored_cols, Range rows, Range cols,
                         int64_t element_bytes, RunAnnouncer announce = nullptr);

}  // namespace llmservice
