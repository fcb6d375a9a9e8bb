#include "backends/gpu/collective.h"

#include <algorithm>

namespace llmservice::gpu {

void DeviceCollective::all_reduce(float* x, int64_t count) {
  const DeviceRanks& ranks = memories_.ranks();
  for (int64_t first = 0; first < count; first += ranks.capacity) {
    add_(gpu::all_reduce(ranks, x + first, std::min(ranks.capacity, count - first)));
  }
}

// In one launch where one shot would do: a launch and two passes over the rows less.
void DeviceCollective::all_reduce_add_rms_norm(Backend& backend, float* x, float* y, const float* weight,
                                               float eps, int64_t rows, int64_t dim, float* out,
                                               const FaultMarks& marks) {
  if (y == nullptr || rows * dim > kOneShotFloats) {
    return Collective::all_reduce_add_rms_norm(backend, x, y, weight, eps, rows, dim, out, marks);
  }
  add_(gpu::all_reduce_add_rms_norm(memories_.ranks(), y, x, weight, eps, rows, dim, out, marks));
}

void DeviceCollective::gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) {
  const DeviceRanks& ranks = memories_.ranks();
  int64_t begins[kMaxDeviceRanks + 1];
  for (int32_t rank = 0; rank <= ranks.size; ++rank) begins[rank] = first_column(vocab, rank, ranks.size);
  const int64_t own = begins[ranks.rank + 1] - begins[ranks.rank];
  const int64_t most = ranks.capacity / ((vocab + ranks.size - 1) / ranks.size);
  if (most == 0) {
    throw EngineError(FailureReason::kParallelismInvalid,
                      "A vocabulary of " + std::to_string(vocab) + " on " + std::to_string(ranks.size) +
                          " ranks is larger than what GPUs exchange at once.");
  }
  for (int64_t row = 0; row < rows; row += most) {
    add_(gather_columns(ranks, mine + row * own, std::min(most, rows - row), begins, out + row * vocab));
  }
}

}  // namespace llmservice::gpu
