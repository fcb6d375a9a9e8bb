#include "backends/gpu/kernels/gates.h"
#include "backends/gpu/kernels/norm_row.h"
#include "backends/gpu/kernels/quantize_record.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = kRowThreads;

struct Given {
  const float* x;
  int64_t width;

  __device__ __forceinline__ float operator()(int64_t row, int64_t i) const { return x[row * width + i]; }
};

// `kLanes` lanes for each row and tile of K; rows run slowest, so that a row is read from end to end.
template <DType dtype, class Source>
__global__ void __launch_bounds__(kThreads) quantize_kernel(Records to, Source source, int64_t rows) {
  const int64_t item = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
  const int64_t row = item / to.tiles;
  let_next_start();
  wait_for_previous();
  write_record<dtype>(to, row, static_cast<int32_t>(item % to.tiles), row < rows,
                      [&](int32_t col) { return source(row, col); });
}

// One block per row, as add_rms_norm() has it: the sums are the same. __restrict__, or each store of a value
// would have the next load wait.
template <DType dtype>
__global__ void __launch_bounds__(kThreads)
    norm_quantize_kernel(Records to, float* __restrict__ x, const float* added,
                         const float* __restrict__ weight, float eps, float* __restrict__ out,
                         FaultMarks marks) {
  const int32_t dim = to.layout.cols;
  float* const values = x + int64_t{blockIdx.x} * dim;
  float* const normed_values = out + int64_t{blockIdx.x} * dim;
  const RowMark mark(marks, blockIdx.x);
  let_next_start();
  wait_for_previous();
  const RowNorm norm = norm_of(values, add_to_row(x, added, blockIdx.x, dim), eps, dim, mark);
  for (auto tile = static_cast<int32_t>(threadIdx.x) / kLanes; tile < to.tiles; tile += kThreads / kLanes) {
    write_record<dtype>(to, blockIdx.x, tile, true, [&](int32_t col) {
      return normed_values[col] = normed(values[col], weight[col], norm, mark);
    });
  }
}

template <class Choose>
auto choose_by_type(DType dtype, Choose choose) {
  if (is_coded(dtype)) return choose.template operator()<DType::kI8>();  // any of them
  if (dtype == DType::kF8E4M3) return choose.template operator()<DType::kF8E4M3>();
  if (dtype == DType::kBF16) return choose.template operator()<DType::kBF16>();
  return choose.template operator()<DType::kF16>();
}

template <class Source>
Launch quantize(const char* name, const Activations& to, const Source& source, int64_t rows) {
  const Records records = records_of(to);
  const auto blocks = static_cast<uint32_t>(divide_up(rows * records.tiles * kLanes, kThreads));
  const auto kernel =
      choose_by_type(to.layout.dtype, []<DType dtype> { return quantize_kernel<dtype, Source>; });
  return make_launch(name, kernel, {blocks}, kThreads, 0, records, source, rows);
}

}  // namespace

int64_t record_bytes(const ActivationLayout& layout) {
  const int64_t scale = has_token_scales(layout.dtype) ? sizeof(float) : 0;
  return layout.block_rows * (token_bytes(layout.dtype) + scale);
}

int64_t activation_bytes(const ActivationLayout& layout, int64_t rows) {
  return divide_up(rows, layout.block_rows) * k_tiles(layout.dtype, layout.cols) * record_bytes(layout);
}

Launch quantize(const Activations& to, const float* x, int64_t rows) {
  return quantize("quantize", to, Given{x, to.layout.cols}, rows);
}

Launch add_rms_norm(const Activations& to, float* x, const float* y, const float* weight, float eps,
                    int64_t rows, float* out, const FaultMarks& marks) {
  const auto kernel =
      choose_by_type(to.layout.dtype, []<DType dtype> { return norm_quantize_kernel<dtype>; });
  return make_launch("add_rms_norm_quantize", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0,
                     records_of(to), x, y, weight, eps, out, marks);
}

Launch silu_mul(const Activations& to, const float* gate_up, int64_t rows, float* out) {
  return quantize("silu_mul_quantize", to, SiluMul{gate_up, to.layout.cols, out}, rows);
}

Launch sigmoid_mul(const Activations& to, float* x, const float* gate, int64_t gate_stride, int64_t rows) {
  return quantize("sigmoid_mul_quantize", to, SigmoidMul{x, gate, gate_stride, to.layout.cols}, rows);
}

}  // namespace llmservice::gpu
