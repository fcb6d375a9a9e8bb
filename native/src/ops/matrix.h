// Weight matrices: stored ones on their way to a backend, and packed ones, which are the backend's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace llmservice {

// kF4E2M1 lies two to a byte, the lower column in the low nibble. From kQ8_0 on: block types, whose rows are
// runs of blocks that hold their own scales (block_types.h).
enum class DType : uint8_t {
  kF32,
  kBF16,
  kF16,
  kF8E4M3,
  kI8,
  kF4E2M1,
  kQ8_0,
  kQ4_0,
  kQ4_K,
  kQ6_K,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ5_K,
  kQ2_K,
  kQ3_K,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
  kInt4,
  kInt8
};

// What one scale of a quantized matrix covers.
enum class Scaling : uint8_t {
  kBlock,  // 128 x 128 values: scales (ceil(tensorRows/128), ceil(cols/128))
  kRow,    // a row, which is an output channel: scales (tensorRows)
};

// Reads `bytes` at `offset` of a tensor's data into `out`; throws EngineError on a short read.
using TensorReader = std::function<void(uint64_t offset, std::span<std::byte> out)>;

// One stored matrix (N, K), or a band of its rows, on its way into a packed weight.
struct MatrixPart {
  DType dtype;
  int64_t rows;       // N of this part
  int64_t cols;       // K
  TensorReader read;  // row-major data of the part; called for whole rows, in order
  // Quantized types but block types: the value is code · scale, widened to float by the loader. The part's
  // first row is row `scale_row` of the stored tensor, so that parts need not begin on a block border. Where
  // the loader itself quantizes, the scales of a row are there once `read` has delivered the row.
  std::span<const float> scales;
  int64_t scale_row = 0;
  Scaling scaling = Scaling::kBlock;
  // kF4E2M1 only: e4m3 scales of 16 columns each (tensorRows, cols / 16), which multiply on top of `scales`.
  std::span<const std::byte> group_scales = {};
  // For each column of the data, the one of the matrix that it is; empty: the same. All parts of a matrix
  // have one order.
  std::vector<int32_t> order = {};
  // Whether `read` may also be called for any rows, and by several threads at once.
  bool any_order = false;
};

// A packed weight matrix (N, K), owned by the backend: y = x · Wᵀ. Parts are concatenated along N.
class Matrix {
 public:
  virtual ~Matrix() = default;
  int64_t rows = 0;  // N
  int64_t cols = 0;  // K
  size_t bytes = 0;  // memory held
};

class Backend;

// What Backend::pack_expert() packs, and it alone: a type of its own, since a backend may lay out what
// run_experts() reads otherwise than what matmul() reads.
class ExpertMatrix {
 public:
  const Matrix& operator*() const { return *matrix_; }
  const Matrix* operator->() const { return matrix_.get(); }

 private:
  friend class Backend;
  explicit ExpertMatrix(std::unique_ptr<Matrix> matrix) : matrix_(std::move(matrix)) {}

  std::unique_ptr<Matrix> matrix_;
};

// The id of a row that a table does not hold.
constexpr int32_t kNoRow = -1;

}  // namespace llmservice
