// The second half of a norm over a row by one block, whose threads have each summed the squares of the values
// that they read: shared by the norms that first add something.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/row_stream.h"
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

// What a row's values are multiplied by, besides the weight.
struct RowNorm {
  float scale;
  bool sound;  // what was normed is finite, as far as somebody looks
};

// 1 / rms(x) of x (dim), which this block wrote or read. All threads of the block call it, and all see x
// afterwards.
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

// One value of the norm. Whoever finds one that is not finite writes the same.
__device__ __forceinline__ float normed(float x, float weight, const RowNorm& norm, const RowMark& mark) {
  const float value = x * norm.scale * weight;
  if (mark.first != nullptr && norm.sound && !is_finite(value) && *mark.first == 0) {
    *mark.first = mark.place + 1;
  }
  return value;
}

// out (dim) = x / rms(x) · weight; x (dim) as this thread wrote or read it. All threads of the block call it.
__device__ __forceinline__ void norm_row(const float* x, float squares, const float* weight, float eps,
                                         int64_t dim, float* out, const RowMark& mark) {
  struct Pair {
    float x, weight;
  };
  const RowNorm norm = norm_of(x, squares, eps, dim, mark);
  stream(
      0, dim,
      [&](int64_t i) {
        return Pair{x[i], weight[i]};
      },
      [&](int64_t i, const Pair& of) { out[i] = normed(of.x, of.weight, norm, mark); });
}

// Row `row` of x (T, dim) += that of added (null: nothing); this thread's part of its sum of squares.
__device__ __forceinline__ float add_to_row(float* x, const float* added, int64_t row, int64_t dim) {
  x += row * dim;
  float squares = 0;
  const auto square = [&](float value) { squares = fmaf(value, value, squares); };
  if (added == nullptr) {
    stream(
        0, dim, [&](int64_t i) { return x[i]; }, [&](int64_t, float value) { square(value); });
    return squares;
  }
  struct Pair {
    float x, added;
  };
  added += row * dim;
  stream(
      0, dim,
      [&](int64_t i) {
        return Pair{x[i], added[i]};
      },
      [&](int64_t i, const Pair& of) {
        x[i] = of.x + of.added;
        square(of.x + of.added);
      });
  return squares;
}

}  // namespace llmservice::gpu
