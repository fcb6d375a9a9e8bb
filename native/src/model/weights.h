// Reads weights from a checkpoint onto a backend: fused matrices from bands of stored ones, and small
// vectors.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint.h"
#include "model/config.h"
#include "model/shard.h"
#include "ops/ops.h"

namespace llmservice {

// Called with the number of stored bytes just read; may throw to cancel the load.
using BytesRead = std::function<void(uint64_t)>;

// float32 values on the device.
class DeviceVector {
 public:
  DeviceVector() = default;
  DeviceVector(Backend& backend, std::span<const float> values);
  bool empty() const { return buffer_ == nullptr; }
  const float* data() const { return static_cast<const float*>(buffer_->data()); }
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

// Which of several equal matrices, stacked in one tensor along its first axis.
struct StackPlace {
  int64_t index;
  int64_t count;
};

// A band of a stored matrix (module.weight, with module.weight_scale_inv when it is FP8), or of one in a
// stack (tensor `module` itself, with module_scale_inv).
struct Band {
  std::string module;
  int64_t stored_rows;
  int64_t stored_cols;
  Range rows;
  Range cols;
  std::optional<StackPlace> stack = std::nullopt;

  std::string weight_name() const { return stack ? module : module + ".weight"; }
  std::string scale_name() const { return weight_name() + "_scale_inv"; }
};

class WeightReader {
 public:
  // `keep` is the type that unquantized matrices are held in.
  WeightReader(const Checkpoint& checkpoint, const ModelConfig& config, Backend& backend, DType keep,
               BytesRead on_bytes);

  // One packed matrix from bands, concatenated along its rows. All bands must be stored in one type.
  std::unique_ptr<Matrix> matrix(const std::vector<Band>& bands);
  // The same with the bands' biases when `with_bias`.
  Linear linear(const std::vector<Band>& bands, bool with_bias);
  // Bands of rows of a tensor, one after the other, widened to float, plus `offset` on each value.
  DeviceVector vector(const std::string& name, const std::vector<int64_t>& shape, std::span<const Range> rows,
                      float offset = 0);
  DeviceVector vector(const std::string& name, const std::vector<int64_t>& shape, Range rows,
                      float offset = 0) {
    return vector(name, shape, std::span<const Range>(&rows, 1), offset);
  }

  const Checkpoint& checkpoint() const { return checkpoint_; }
  Backend& backend() const { return backend_; }

 private:
  MatrixPart part(const Band& band, std::deque<std::vector<float>>& scales);
  // A stored matrix (rows, cols) of the band's module: a slice of the tensor where it is a stack.
  Tensor stored(const std::string& name, const Band& band, int64_t rows, int64_t cols) const;
  std::vector<float> scales_of(const Tensor& weight, const Band& band);
  std::vector<float> values(const Tensor& tensor, Range elements);
  void check_quantization(const Tensor& weight, const Band& band) const;

  const Checkpoint& checkpoint_;
  const ModelConfig& config_;
  Backend& backend_;
  DType keep_;
  BytesRead on_bytes_;
};

// Reads a band of a row-major matrix as if it were stored alone. Pure but for `read`; exposed for tests.
TensorReader band_reader(TensorReader read, int64_t stored_cols, Range rows, Range cols,
                         int64_t element_bytes);

}  // namespace llmservice
