#include "backends/gpu/kernels/gates.h"
#include "backends/gpu/kernels/norm_row.h"
#include "backends/gpu/kernels/quantize_record.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = kRowThreads;
constexpr int64_t kMostRowBlocks = 65'535;  // of a grid's second dimension

template <bool kWhole>
struct Given {
  const float* x;
  int64_t width;

  __device__ __forceinline__ Float4 operator()(int64_t row, int64_t quad) const {
    return load_quad<kWhole>(x + row * width, quad * 4, width);
  }
};

struct GivenInOrder {
  const float* x;
  const int32_t* order;
  int64_t width;

  __device__ __forceinline__ Float4 operator()(int64_t row, int64_t quad) const {
    Float4 values{};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t col = quad * 4 + i;
      if (col < width) values.v[i] = x[row * width + order[col]];
    }
    return values;
  }
};

// Grid: (blocks over a row's quads, rows or fewer).
template <DType dtype, class Source>
__global__ void __launch_bounds__(kThreads) quantize_kernel(Records to, Source source, int64_t rows) {
  const uint32_t quad = blockIdx.x * kThreads + threadIdx.x;
  const bool within = quad < static_cast<uint32_t>(to.tiles) * kTileLanes<dtype>;
  let_next_start();
  wait_for_previous();
  for (uint32_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const Float4 values = within ? source(row, quad) : Float4{};
    write_record<dtype>(to, row, quad, within, values);
  }
}

// Of four columns: what two products read.
template <DType dtype>
struct TwoRecords {
  Records to;
  Records also;

  __device__ __forceinline__ void write(uint32_t row, uint32_t quad, const Float4& values) const {
    OneRecord<dtype>{to}.write(row, quad, values);
    OneRecord<DType::kBF16>{also}.write(row, quad, values);
  }
};

// One block per row, as add_rms_norm() and add_layer_norm() have it: the sums are the same. `out` null:
// nobody reads the norm but as the records have it.
template <bool kWhole, NormKind kind, class Written>
__device__ __forceinline__ void norm_and_quantize_row(const Written& records, float* x, const float* added,
                                                      const float* weight, float eps, float* out,
                                                      const FaultMarks& marks) {
  const int32_t dim = records.to.layout.cols;
  const int64_t at = int64_t{blockIdx.x} * dim;
  HeldRowNormer<kWhole, kind> normer(weight, eps, dim);
  let_next_start();
  wait_for_previous();
  add_and_norm(normer, x + at, added == nullptr ? nullptr : added + at, dim, RowMark(marks, blockIdx.x),
               [&](int32_t col, const Float4& values) {
                 if (out != nullptr) store_quad<kWhole>(out + at, col, dim, values);
                 records.write(blockIdx.x, static_cast<uint32_t>(col) / 4, values);
               });
}

template <DType dtype, bool kWhole>
__global__ void __launch_bounds__(kThreads)
    norm_quantize_kernel(Records to, float* x, const float* added, const float* weight, float eps, float* out,
                         FaultMarks marks) {
  norm_and_quantize_row<kWhole, NormKind::kRms>(OneRecord<dtype>{to}, x, added, weight, eps, out, marks);
}

template <DType dtype>
__global__ void __launch_bounds__(kThreads)
    norm_quantize_both_kernel(Records to, Records also, float* x, const float* added, const float* weight,
                              float eps, float* out, FaultMarks marks) {
  norm_and_quantize_row<true, NormKind::kRms>(TwoRecords<dtype>{to, also}, x, added, weight, eps, out, marks);
}

template <DType dtype, bool kWhole>
__global__ void __launch_bounds__(kThreads)
    layer_norm_quantize_kernel(Records to, float* x, const float* added, const float* weight, float eps,
                               float* out, FaultMarks marks) {
  norm_and_quantize_row<kWhole, NormKind::kLayer>(OneRecord<dtype>{to}, x, added, weight, eps, out, marks);
}

template <class Source>
Launch quantize(const char* name, void (*kernel)(Records, Source, int64_t), const Activations& to,
                const Source& source, int64_t rows) {
  const Records records = records_of(to);
  const Grid grid{static_cast<uint32_t>(divide_up(records.tiles * tile_lanes(to.layout.dtype), kThreads)),
                  static_cast<uint32_t>(rows < kMostRowBlocks ? rows : kMostRowBlocks)};
  return make_launch(name, kernel, grid, kThreads, 0, records, source, rows);
}

template <class Source>
Launch quantize(const char* name, const Activations& to, const Source& source, int64_t rows) {
  const auto kernel =
      choose_by_type(to.layout.dtype, []<DType dtype> { return quantize_kernel<dtype, Source>; });
  return quantize(name, kernel, to, source, rows);
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
  const int64_t width = to.layout.cols;
  return choose_quads(width, {x}, [&]<bool kWhole> {
    return quantize("quantize", to, Given<kWhole>{x, width}, rows);
  });
}

Launch quantize_in_order(const Activations& to, const float* x, const int32_t* order, int64_t rows) {
  const GivenInOrder source{x, order, to.layout.cols};
  return quantize("quantize_in_order", quantize_kernel<DType::kI8, GivenInOrder>, to, source, rows);
}

Launch add_rms_norm(const Activations& to, float* x, const float* y, const float* weight, float eps,
                    int64_t rows, float* out, const FaultMarks& marks) {
  const auto kernel = choose_by_type(to.layout.dtype, [&]<DType dtype> {
    return choose_quads(to.layout.cols, {x, y, weight, out},
                        [&]<bool kWhole> { return norm_quantize_kernel<dtype, kWhole>; });
  });
  return make_launch("add_rms_norm_quantize", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0,
                     records_of(to), x, y, weight, eps, out, marks);
}

std::optional<Launch> add_rms_norm(const Activations& to, const Activations& also, float* x, const float* y,
                                   const float* weight, float eps, int64_t rows, float* out,
                                   const FaultMarks& marks) {
  const DType dtype = to.layout.dtype;
  if (dtype == DType::kBF16 && also.layout.dtype != DType::kBF16) {
    return add_rms_norm(also, to, x, y, weight, eps, rows, out, marks);
  }
  const bool whole = choose_quads(to.layout.cols, {x, y, weight, out}, []<bool kWhole> { return kWhole; });
  if (also.layout.dtype != DType::kBF16 || !has_token_scales(dtype) || !whole) return std::nullopt;
  const auto kernel = dtype == DType::kF8E4M3 ? norm_quantize_both_kernel<DType::kF8E4M3>
                                              : norm_quantize_both_kernel<DType::kI8>;
  return make_launch("add_rms_norm_quantize_both", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0,
                     records_of(to), records_of(also), x, y, weight, eps, out, marks);
}

Launch add_layer_norm(const Activations& to, float* x, const float* y, const float* weight, float eps,
                      int64_t rows, float* out, const FaultMarks& marks) {
  const auto kernel = choose_by_type(to.layout.dtype, [&]<DType dtype> {
    return choose_quads(to.layout.cols, {x, y, weight, out},
                        [&]<bool kWhole> { return layer_norm_quantize_kernel<dtype, kWhole>; });
  });
  return make_launch("add_layer_norm_quantize", kernel, {static_cast<uint32_t>(rows)}, kThreads, 0,
                     records_of(to), x, y, weight, eps, out, marks);
}

Launch silu_mul(const Activations& to, const float* gate_up, int64_t rows, float* out) {
  const int64_t width = to.layout.cols;
  return choose_quads(width, {gate_up, out}, [&]<bool kWhole> {
    return quantize("silu_mul_quantize", to, SiluMul<kWhole>{gate_up, width, out}, rows);
  });
}

Launch gelu_mul(const Activations& to, const float* gate_up, int64_t rows, float* out) {
  const int64_t width = to.layout.cols;
  return choose_quads(width, {gate_up, out}, [&]<bool kWhole> {
    return quantize("gelu_mul_quantize", to, GeluMul<kWhole>{gate_up, width, out}, rows);
  });
}

Launch erf_gelu_mul(const Activations& to, const float* gate_up, int64_t rows, float* out) {
  const int64_t width = to.layout.cols;
  return choose_quads(width, {gate_up, out}, [&]<bool kWhole> {
    return quantize("erf_gelu_mul_quantize", to, ErfGeluMul<kWhole>{gate_up, width, out}, rows);
  });
}

Launch gate_experts(const Activations& to, const ExpertGates& gates, const float* gate_up, int64_t pairs) {
  const int64_t width = to.layout.cols;
  const ClampedSwiglu form = gates.clamped.value_or(ClampedSwiglu{});
  return choose_quads(width, {gate_up, gates.bias}, [&]<bool kWhole> {
    const ExpertGateMul<kWhole> source{gate_up, gates.bias, gates.experts, form.limit, form.alpha, width};
    return quantize("gate_experts", to, source, pairs);
  });
}

Launch sigmoid_mul(const Activations& to, float* x, const float* gate, int64_t gate_stride, int64_t rows) {
  const int64_t width = to.layout.cols;
  return choose_quads(width, {x, gate, gate + gate_stride}, [&]<bool kWhole> {
    return quantize("sigmoid_mul_quantize", to, SigmoidMul<kWhole>{x, gate, gate_stride, width}, rows);
  });
}

}  // namespace llmservice::gpu
