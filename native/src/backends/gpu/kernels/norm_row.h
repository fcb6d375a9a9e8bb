// The norm of a row by one block, in registers as far as it fits there: shared by all norms of rows, so that
// they have the same bits. RMSNorm, or LayerNorm, which subtracts the row's mean first.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/row_stream.h"
#include "backends/gpu/kernels/vectors.h"
#include "ops/ops.h"

namespace llmservice::gpu {

__device__ __forceinline__ bool is_finite(float x) { return fabsf(x) <= 3.402823466e38f; }

// Where the numbers of one row first meant nothing (FaultMarks); `first` null: nobody looks.
struct RowMark {
  int32_t* first;
  int32_t place;

  __device__ RowMark(const FaultMarks& marks, int64_t row)
      : first(marks.first == nullptr ? nullptr : marks.first + row), place(marks.place) {}
};

// Which norm. Of centered ones the squares are those of what is left behind the mean.
enum class NormKind : uint8_t { kRms, kLayer };

// What a row's values are multiplied by, besides the weight.
struct RowNorm {
  float scale;
  bool sound;  // what was normed is finite, as far as somebody looks
};

// 1 / rms of x (dim), given its squares, which this block wrote or read. All threads of the block call it,
// and all see x afterwards.
__device__ __forceinline__ RowNorm norm_of(const float* x, float squares, float eps, int64_t dim,
                                           const RowMark& mark) {
  squares = reduce_block<Sum>(squares);
  RowNorm norm{1.0f / sqrtf(squares / static_cast<float>(dim) + eps), true};
  // A finite sum has finite terms; one that is not may only have overflown.
  if (mark.first != nullptr && !is_finite(squares)) {
    float faulty = 0;
    for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) faulty += is_finite(x[i]) ? 0.0f : 1.0f;
    norm.sound = reduce_block<Sum>(faulty) == 0;
    if (!norm.sound && threadIdx.x == 0 && *mark.first == 0) *mark.first = mark.place;
  }
  return norm;
}

// Thread t has the columns 4 t + n · kQuadStep of a row and the three after each, for n = 0, 1, …, and sums
// their squares in this order. kQuads of these are loaded at once, and stay in registers if they are the
// whole row.
template <bool kWhole, int kQuads, NormKind kind = NormKind::kRms>
class RowNormer {
 public:
  // Loads the weights, which no launch writes.
  __device__ __forceinline__ RowNormer(const float* weight, float eps, int64_t dim)
      : weight_(weight), eps_(eps), dim_(static_cast<int32_t>(dim)) {
    load(weight, 0, weights_);
  }

  // put(col, quad of the norm) for the row's quads, of all threads as long as one has a quad. x (dim) is
  // where value_of(col, load_of(col)) has put what it returns. All threads of the block call it.
  template <class LoadOf, class ValueOf, class Put>
  __device__ __forceinline__ void norm(const float* x, const RowMark& mark, const LoadOf& load_of,
                                       const ValueOf& value_of, const Put& put) {
    Float4 values[kQuads];
    float squares = 0;
    float sum = 0;
    for (int32_t first = 0; first < dim_; first += kAtOnce) {
      decltype(load_of(first)) loaded[kQuads];
#pragma unroll
      for (int n = 0; n < kQuads; ++n) loaded[n] = load_of(column(first, n));
#pragma unroll
      for (int n = 0; n < kQuads; ++n) {
        values[n] = value_of(column(first, n), loaded[n]);
#pragma unroll
        for (const float value : values[n].v) {
          if constexpr (kind == NormKind::kLayer)
            sum += value;
          else
            squares = fmaf(value, value, squares);
        }
      }
    }
    float mean = 0;
    if constexpr (kind == NormKind::kLayer) {
      mean = reduce_block<Sum>(sum) / static_cast<float>(dim_);
      squares = squares_around(mean, x, values);
    }
    const RowNorm row = norm_of(x, squares, eps_, dim_, mark);
    bool finite = true;
    for (int32_t first = 0; first < dim_; first += kAtOnce) {
      if (dim_ > kAtOnce) {
        load(x, first, values);
        load(weight_, first, weights_);
      }
#pragma unroll
      for (int n = 0; n < kQuads; ++n) {
        if (first + n * kQuadStep >= dim_) break;
        const int32_t col = column(first, n);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if constexpr (kind == NormKind::kLayer) values[n].v[i] -= mean;
          values[n].v[i] = col + i < dim_ ? values[n].v[i] * row.scale * weights_[n].v[i] : 0.0f;
          finite &= is_finite(values[n].v[i]);
        }
        put(col, values[n]);
      }
    }
    // Whoever finds one that is not finite writes the same.
    if (mark.first != nullptr && row.sound && !finite && *mark.first == 0) *mark.first = mark.place + 1;
  }

 private:
  static constexpr int32_t kQuadStep = 4 * kRowThreads;
  static constexpr int32_t kAtOnce = kQuads * kQuadStep;

  __device__ __forceinline__ static int32_t column(int32_t first, int n) {
    return first + n * kQuadStep + 4 * static_cast<int32_t>(threadIdx.x);
  }
  // This thread's share of Σ (x - mean)². `values`: its quads of the first columns, or of the last where the
  // row is longer: then all are loaded again.
  __device__ __forceinline__ float squares_around(float mean, const float* x,
                                                  Float4 (&values)[kQuads]) const {
    float squares = 0;
    for (int32_t first = 0; first < dim_; first += kAtOnce) {
      if (dim_ > kAtOnce) load(x, first, values);
#pragma unroll
      for (int n = 0; n < kQuads; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float off = column(first, n) + i < dim_ ? values[n].v[i] - mean : 0.0f;
          squares = fmaf(off, off, squares);
        }
      }
    }
    return squares;
  }
  __device__ __forceinline__ void load(const float* row, int32_t first, Float4 (&quads)[kQuads]) const {
#pragma unroll
    for (int n = 0; n < kQuads; ++n) quads[n] = load_quad<kWhole>(row, column(first, n), dim_);
  }

  const float* weight_;
  float eps_;
  int32_t dim_;
  Float4 weights_[kQuads];
};

// Rows up to 8,192 wide stay in registers.
template <bool kWhole, NormKind kind = NormKind::kRms>
using HeldRowNormer = RowNormer<kWhole, 8, kind>;

// x (dim) += added (null: nothing), then its norm to put(), as RowNormer has it.
template <bool kWhole, NormKind kind, class Put>
__device__ __forceinline__ void add_and_norm(HeldRowNormer<kWhole, kind>& normer, float* x,
                                             const float* added, int64_t dim, const RowMark& mark,
                                             const Put& put) {
  struct Summands {
    Float4 x, added;
  };
  const auto load = [&](int64_t col) {
    return Summands{load_quad<kWhole>(x, col, dim),
                    added == nullptr ? Float4{} : load_quad<kWhole>(added, col, dim)};
  };
  normer.norm(
      x, mark, load,
      [&](int64_t col, Summands& of) {
        if (added == nullptr) return of.x;
#pragma unroll
        for (int i = 0; i < 4; ++i) of.x.v[i] += of.added.v[i];
        store_quad<kWhole>(x, col, dim, of.x);
        return of.x;
      },
      put);
}

}  // namespace llmservice::gpu
