// Reference weights: held widened to float (quantized with scales applied, unquantized as held_as rounds).
#include <cstring>

#include "ops/dtype.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

struct ReferenceMatrix final : Matrix {
  std::vector<float> w;  // (rows, cols)
};

struct ReferenceBuffer final : Buffer {
  explicit ReferenceBuffer(size_t bytes) : words(bytes / sizeof(Word) + 1), size(bytes) {}
  void* data() override { return words.data(); }
  size_t bytes() const override { return size; }
  struct alignas(64) Word {
    std::byte bytes[64] = {};
  };
  std::vector<Word> words;
  size_t size;
};

float stored_value(const MatrixPart& part, const std::byte* row_data, int64_t row, int64_t col, DType keep) {
  float value = widen(part.dtype, row_data, col);
  if (!is_quantized(part.dtype)) {
    return held_as(part.dtype, keep) == DType::kBF16 ? bf16_to_float(float_to_bf16(value)) : value;
  }
  if (is_block_type(part.dtype)) return value;
  const int64_t stored_row = part.scale_row + row;
  if (part.dtype == DType::kF4E2M1) {
    value *= widen(DType::kF8E4M3, part.group_scales.data(), (stored_row * part.cols + col) / kGroupColumns);
  }
  if (part.scaling == Scaling::kRow) return value * part.scales[stored_row];
  const int64_t blocks = (part.cols + 127) / 128;
  return value * part.scales[stored_row / 128 * blocks + col / 128];
}

}  // namespace

std::unique_ptr<Buffer> ReferenceBackend::allocate(size_t bytes) {
  return std::make_unique<ReferenceBuffer>(bytes);
}

void ReferenceBackend::upload(std::span<const std::byte> host, void* device) {
  std::memcpy(device, host.data(), host.size());
}

std::span<float> ReferenceBackend::to_host(float* x, int64_t count) {
  return {x, static_cast<size_t>(count)};
}

std::unique_ptr<Matrix> ReferenceBackend::pack(std::span<const MatrixPart> parts, DType keep,
                                               const std::function<void(uint64_t)>& on_bytes) {
  auto matrix = std::make_unique<ReferenceMatrix>();
  matrix->cols = parts.front().cols;
  for (const MatrixPart& part : parts) {
    std::vector<std::byte> row_data(bytes_of(part.dtype, part.cols));
    for (int64_t row = 0; row < part.rows; ++row) {
      part.read(row * row_data.size(), row_data);
      const size_t begin = matrix->w.size();
      matrix->w.resize(begin + part.cols);
      for (int64_t col = 0; col < part.cols; ++col) {
        const int64_t own = part.order.empty() ? col : part.order[col];
        matrix->w[begin + own] = stored_value(part, row_data.data(), row, col, keep);
      }
      on_bytes(row_data.size());
    }
    matrix->rows += part.rows;
  }
  matrix->bytes = matrix->w.size() * sizeof(float);
  return matrix;
}

void ReferenceBackend::gather(const Matrix& table, std::span<const int32_t> ids, float* out) {
  const auto& w = static_cast<const ReferenceMatrix&>(table).w;
  for (const int32_t id : ids) {
    if (id == kNoRow) {
      std::memset(out, 0, table.cols * sizeof(float));
    } else {
      std::memcpy(out, w.data() + id * table.cols, table.cols * sizeof(float));
    }
    out += table.cols;
  }
}

void ReferenceBackend::matmul(const Matrix& matrix, const float* x, int64_t rows, float* out) {
  const auto& w = static_cast<const ReferenceMatrix&>(matrix).w;
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t n = 0; n < matrix.rows; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < matrix.cols; ++k) {
        sum += static_cast<double>(x[t * matrix.cols + k]) * w[n * matrix.cols + k];
      }
      out[t * matrix.rows + n] = static_cast<float>(sum);
    }
  }
}

void ReferenceBackend::take_rows(const float* x, std::span<const int32_t> rows, int64_t width, float* out) {
  for (const int32_t row : rows) {
    if (row == kNoRow) {
      std::memset(out, 0, width * sizeof(float));
    } else {
      std::memcpy(out, x + row * width, width * sizeof(float));
    }
    out += width;
  }
}

void ReferenceBackend::copy_rows(std::span<const RowCopy> rows, const float* from, int64_t from_stride,
                                 int64_t width, float* to, int64_t to_stride) {
  for (const auto& [source, target] : rows) {
    std::memcpy(to + target * to_stride, from + source * from_stride, width * sizeof(float));
  }
}

void ReferenceBackend::take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns,
                                    int64_t count, float missing, float* out) {
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t i = 0; i < count; ++i) {
      out[t * count + i] = columns[i] == kNoRow ? missing : x[t * width + columns[i]];
    }
  }
}

}  // namespace llmservice
