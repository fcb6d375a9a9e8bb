#include <cmath>

#include "backends/gpu/kernels/gates.h"
#include "backends/gpu/kernels/norm_row.h"
#include "backends/gpu/kernels/rows.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = kRowThreads;

// One block per row. `added` null: nothing is added.
template <bool kWhole, NormKind kind>
__device__ __forceinline__ void add_and_norm_row(float* x, const float* added, const float* weight, float eps,
                                                 int64_t dim, float* out, const FaultMarks& marks) {
  const int64_t at = blockIdx.x * dim;
  HeldRowNormer<kWhole, kind> normer(weight, eps, dim);
  let_next_start();
  wait_for_previous();
  add_and_norm(normer, x + at, added == nullptr ? nullptr : added + at, dim, RowMark(marks, blockIdx.x),
               [&](int64_t col, const Float4& values) { store_quad<kWhole>(out + at, col, dim, values); });
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
    add_rms_norm_kernel(float* x, const float* added, const float* weight, float eps, int64_t dim, float* out,
                        FaultMarks marks) {
  add_and_norm_row<kWhole, NormKind::kRms>(x, added, weight, eps, dim, out, marks);
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
    add_layer_norm_kernel(float* x, const float* added, const float* weight, float eps, int64_t dim,
                          float* out, FaultMarks marks) {
  add_and_norm_row<kWhole, NormKind::kLayer>(x, added, weight, eps, dim, out, marks);
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
    rms_norm_kernel(const float* x, const float* weight, float eps, int64_t dim, float* out) {
  const int64_t at = blockIdx.x * dim;
  HeldRowNormer<kWhole> normer(weight, eps, dim);
  let_next_start();
  wait_for_previous();
  normer.norm(
      x + at, RowMark({}, 0), [&](int64_t col) { return load_quad<kWhole>(x + at, col, dim); },
      [](int64_t, const Float4& values) { return values; },
      [&](int64_t col, const Float4& values) { store_quad<kWhole>(out + at, col, dim, values); });
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

int64_t quads_of(int64_t width) { return (width + 3) / 4; }

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

struct Add {
  float* out;
  const float* y;
  __device__ void operator()(int64_t, int64_t i) const { out[i] += y[i]; }
};

struct Scale {
  float* x;
  float factor;
  __device__ void operator()(int64_t, int64_t i) const { x[i] *= factor; }
};

struct ScaleRoutes {
  Routing routing;
  const float* scales;
  __device__ void operator()(int64_t, int64_t i) const { routing.weights[i] *= scales[routing.ids[i]]; }
};

struct Cap {
  float* x;
  float limit;
  __device__ void operator()(int64_t, int64_t i) const { x[i] = limit * tanhf(x[i] / limit); }
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

struct TakeColumns {
  const float* x;
  int64_t width;
  const int32_t* columns;
  int64_t count;
  float missing;
  float* out;
  __device__ void operator()(int64_t row, int64_t i) const {
    out[row * count + i] = columns[i] == kNoRow ? missing : x[row * width + columns[i]];
  }
};

}  // namespace

Launch rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim, float* out) {
  const auto kernel =
      choose_quads(dim, {x, weight, out}, [&]<bool kWhole> { return rms_norm_kernel<kWhole>; });
  return make_launch("rms_norm", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0, x, weight, eps, dim,
                     out);
}

Launch add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks) {
  const auto kernel =
      choose_quads(dim, {x, y, weight, out}, [&]<bool kWhole> { return add_rms_norm_kernel<kWhole>; });
  return make_launch("add_rms_norm", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0, x, y, weight, eps,
                     dim, out, marks);
}

Launch add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                      float* out, const FaultMarks& marks) {
  const auto kernel =
      choose_quads(dim, {x, y, weight, out}, [&]<bool kWhole> { return add_layer_norm_kernel<kWhole>; });
  return make_launch("add_layer_norm", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0, x, y, weight, eps,
                     dim, out, marks);
}

Launch add_bias(float* x, const float* bias, int64_t rows, int64_t width) {
  return each("add_bias", rows, width, AddBias{x, bias, width});
}

Launch add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) {
  if (gate == nullptr) return each("add", 1, rows * width, Add{out, y});
  return each("add_gated", rows, width, AddGated{out, y, gate, width});
}

Launch silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  return choose_quads(width, {gate_up, out}, [&]<bool kWhole> {
    return each("silu_mul", rows, quads_of(width), SiluMul<kWhole>{gate_up, width, out});
  });
}

Launch gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  return choose_quads(width, {gate_up, out}, [&]<bool kWhole> {
    return each("gelu_mul", rows, quads_of(width), GeluMul<kWhole>{gate_up, width, out});
  });
}

Launch erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) {
  return choose_quads(width, {gate_up, out}, [&]<bool kWhole> {
    return each("erf_gelu_mul", rows, quads_of(width), ErfGeluMul<kWhole>{gate_up, width, out});
  });
}

Launch scale(float* x, int64_t count, float factor) { return each("scale", 1, count, Scale{x, factor}); }

Launch cap(float* x, int64_t count, float limit) { return each("cap", 1, count, Cap{x, limit}); }

Launch scale_routes(const Routing& routing, const float* scales, int64_t count) {
  return each("scale_routes", 1, count, ScaleRoutes{routing, scales});
}

Launch sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) {
  return choose_quads(width, {x, gate, gate + gate_stride}, [&]<bool kWhole> {
    return each("sigmoid_mul", rows, quads_of(width), SigmoidMul<kWhole>{x, gate, gate_stride, width});
  });
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

Launch take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns, int64_t count,
                    float missing, float* out) {
  return each("take_columns", rows, count, TakeColumns{x, width, columns, count, missing, out});
}

}  // namespace llmservice::gpu
