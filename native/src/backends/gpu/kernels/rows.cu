#include <cmath>

#include "backends/gpu/kernels/gates.h"
#include "backends/gpu/kernels/norm_row.h"
#include "backends/gpu/kernels/rows.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = kRowThreads;

// One block per row. `added` null: nothing is added.
__global__ void __launch_bounds__(kThreads)
    add_rms_norm_kernel(float* x, const float* added, const float* weight, float eps, int64_t dim, float* out,
                        FaultMarks marks) {
  const int64_t at = blockIdx.x * dim;
  let_next_start();
  wait_for_previous();
  const float squares = add_to_row(x, added, blockIdx.x, dim);
  norm_row(x + at, squares, weight, eps, dim, out + at, RowMark(marks, blockIdx.x));
}

__global__ void __launch_bounds__(kThreads)
    rms_norm_kernel(const float* x, const float* weight, float eps, int64_t dim, float* out) {
  const int64_t at = blockIdx.x * dim;
  let_next_start();
  wait_for_previous();
  float squares = 0;
  for (int64_t i = threadIdx.x; i < dim; i += kThreads) squares = fmaf(x[at + i], x[at + i], squares);
  norm_row(x + at, squares, weight, eps, dim, out + at, RowMark({}, 0));
}

// Every element of (rows, width), given its row and column.
template <class Body>
__global__ void __launch_bounds__(kThreads) each_kernel(int64_t rows, int64_t width, Body body) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  let_next_start();
  wait_for_previous();
  if (i < rows * width) body(i / width, i % width);
}

template <class Body>
Launch each(const char* name, int64_t rows, int64_t width, const Body& body) {
  const auto blocks = static_cast<uint32_t>((rows * width + kThreads - 1) / kThreads);
  return make_launch(name, each_kernel<Body>, {blocks}, kThreads, 0, rows, width, body);
}

struct AddBias {
  float* x;
  const float* bias;
  int64_t width;
  __device__ void operator()(int64_t row, int64_t i) const { x[row * width + i] += bias[i]; }
};

struct AddGated {
  float* out;
  const float* y;
  const float* gate;
  int64_t width;
  __device__ void operator()(int64_t row, int64_t i) const {
    out[row * width + i] += sigmoid(gate[row]) * y[row * width + i];
  }
};

struct RopeAngles {
  const int32_t* positions;
  const float* frequencies;
  int64_t count;
  float factor;
  float* cos;
  float* sin;
  __device__ void operator()(int64_t row, int64_t i) const {
    const float angle = static_cast<float>(positions[row]) * frequencies[i];
    cos[row * count + i] = cosf(angle) * factor;
    sin[row * count + i] = sinf(angle) * factor;
  }
};

struct TakeRows {
  const float* x;
  const int32_t* rows;
  int64_t width;
  float* out;
  __device__ void operator()(int64_t row, int64_t i) const {
    out[row * width + i] = rows[row] == kNoRow ? 0.0f : x[rows[row] * width + i];
  }
};

struct CopyRows {
  const RowCopy* copies;
  const float* from;
  int64_t from_stride;
  float* to;
  int64_t to_stride;
  __device__ void operator()(int64_t copy, int64_t i) const {
    to[copies[copy].to * to_stride + i] = from[copies[copy].from * from_stride + i];
  }
};

}  // namespace

Launch rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim, float* out) {
  return make_launch("rms_norm", rms_norm_kernel, {static_cast<uint32_t>(rows)}, kThreads, 0, x, weight, eps,
                     dim, out);
}

Launch add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks) {
  return make_launch("add_rms_norm", add_rms_norm_kernel, {static_cast<uint32_t>(rows)}, kThreads, 0, x, y,
                     weight, eps, dim, out, marks);
}

Launch add_bias(float* x, const float* bias, int64_t rows, int64_t width) {
  return each("add_bias", rows, width, AddBias{x, bias, width});
}

Launch add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  return each("add_gated", rows, width, AddGated{out, y, gate, width});
}

Launch silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  return each("silu_mul", rows, width, SiluMul{gate_up, width, out});
}

Launch sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) {
  return each("sigmoid_mul", rows, width, SigmoidMul{x, gate, gate_stride, width});
}

Launch rope_angles(const int32_t* positions, int64_t rows, const float* frequencies, int64_t count,
                   float factor, float* cos, float* sin) {
  return each("rope_angles", rows, count, RopeAngles{positions, frequencies, count, factor, cos, sin});
}

Launch take_rows(const float* x, const int32_t* rows, int64_t count, int64_t width, float* out) {
  return each("take_rows", count, width, TakeRows{x, rows, width, out});
}

Launch copy_rows(const RowCopy* copies, int64_t count, const float* from, int64_t from_stride, int64_t width,
                 float* to, int64_t to_stride) {
  return each("copy_rows", count, width, CopyRows{copies, from, from_stride, to, to_stride});
}

}  // namespace llmservice::gpu
