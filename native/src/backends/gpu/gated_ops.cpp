// The feed-forward layer as one op: what products leave for each other is not written where nothing else
// reads it.
#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/matmul_gated.h"
#include "backends/gpu/kernels/quantize.h"

namespace llmservice::gpu {

bool GpuBackend::add_gated_product(const DeviceMatrix& gate_up, const DeviceMatrix& down, const float* x,
                                   int64_t rows, const float* mixed) {
  std::byte* const workspace = memory_of(products_, matmul_workspace(down, rows));
  const auto gated = multiply_gated(gate_up, down, rows, workspace);
  if (!gated || gated->bytes > static_cast<int64_t>(products_.wanted)) return false;
  if (source_.out == x && source_.rows == rows && source_.width == gate_up.cols) {
    list_.replace_last(source_.quantizing(gated->from, false));
  } else {
    add(quantize(gated->from, x, rows), rows);
  }
  add(gated->launch, rows);
  quantized_ = {.x = mixed,
                .rows = rows,
                .activations = gated->to,
                .room = matmul_workspace(down, rows),
                .launch = list_.launches().size() - 1};
  return true;
}

void GpuBackend::gated_matmul(const Matrix& gate_up, const Matrix& down, const float* x, int64_t rows,
                              float* wide, float* mixed, float* out) {
  const auto& first = static_cast<const DeviceWeights&>(gate_up);
  const auto& second = static_cast<const DeviceWeights&>(down);
  const auto is_one = [](const DeviceWeights& w) { return w.bands.size() == 1 && w.columns() == nullptr; };
  const bool whole = is_one(first) && is_one(second);
  if (!whole || !add_gated_product(first.bands.front().matrix, second.bands.front().matrix, x, rows, mixed)) {
    matmul(gate_up, x, rows, wide);
    forget(x);
    silu_mul(wide, rows, gate_up.rows / 2, mixed);
  }
  matmul(down, mixed, rows, out);
  forget(mixed);
}

}  // namespace llmservice::gpu
