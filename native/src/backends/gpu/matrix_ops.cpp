// Ops with packed weights.
#include <algorithm>
#include <utility>

#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/rows.h"

namespace llmservice::gpu {
namespace {

std::span<const DeviceBand> bands_of(const Matrix& matrix) {
  return static_cast<const DeviceWeights&>(matrix).bands;
}

// Of tables and experts, which have one.
const DeviceMatrix& on_device(const Matrix& matrix) { return bands_of(matrix).front().matrix; }

// The matrices of one layer's experts, for kernels that go from expert to expert.
class ExpertIndex final : public Buffer {
 public:
  ExpertIndex(Device& device, const Experts& experts)
      : count_(experts.gate_up.size()), memory_(device, 2 * count_ * sizeof(DeviceMatrix)) {
    std::vector<DeviceMatrix> all;
    for (const auto& matrix : experts.gate_up) all.push_back(on_device(*matrix));
    for (const auto& matrix : experts.down) all.push_back(on_device(*matrix));
    device.upload(std::as_bytes(std::span(all)), memory_.data());
    experts_ = {.gate_up = reinterpret_cast<const DeviceMatrix*>(memory_.data()),
                .down = reinterpret_cast<const DeviceMatrix*>(memory_.data()) + count_,
                .gate_up_shape = all.front(),
                .down_shape = all.back(),
                .gate_up_bias = experts.gate_up_bias,
                .down_bias = experts.down_bias,
                .clamped = experts.clamped,
                .gelu = experts.gelu};
  }

  const DeviceExperts& experts() const { return experts_; }
  void* data() override { return memory_.data(); }
  size_t bytes() const override { return memory_.bytes(); }

 private:
  size_t count_;
  DeviceMemory memory_;
  DeviceExperts experts_;
};

bool alike(const Matrix& one, const Matrix& other) {
  if (bands_of(one).size() > 1) return false;
  const DeviceMatrix& a = on_device(one);
  const DeviceMatrix& b = on_device(other);
  return a.rows == b.rows && a.cols == b.cols && a.dtype == b.dtype && a.scale_rows == b.scale_rows;
}

}  // namespace

// FP8 halves what a product of a few rows reads; weights of eight bits and fewer gain nothing.
std::unique_ptr<Matrix> GpuBackend::narrowed(const Matrix& matrix) {
  const DeviceMatrix& wide = on_device(matrix);
  const bool halves = wide.dtype == DType::kBF16 || wide.dtype == DType::kF16;
  if (!halves || bands_of(matrix).size() > 1) return nullptr;
  auto narrow = packer().narrow(wide);
  expect_shape(narrow->bands.front().matrix);
  return narrow;
}

void GpuBackend::prepare(Experts& experts, const RoutingShape& shape) {
  for (const auto* matrices : {&experts.gate_up, &experts.down}) {
    for (const auto& matrix : *matrices) {
      if (alike(*matrix, *matrices->front())) continue;
      throw EngineError(FailureReason::kUnsupportedQuantization,
                        "The experts of a layer differ in their formats; GPUs take "
                        "layers whose experts are all stored alike.");
    }
  }
  auto index = std::make_unique<ExpertIndex>(device_, experts);
  expert_shapes_.emplace_back(index->experts(), shape);
  experts.index = std::move(index);
}

void GpuBackend::gather(const Matrix& table, std::span<const int32_t> ids, float* out) {
  const auto count = static_cast<int64_t>(ids.size());
  add(gpu::gather(on_device(table), staged(ids), count, out), count);
}

void GpuBackend::matmul(const Matrix& w, const float* x, int64_t rows, float* out) {
  const int32_t* const order = static_cast<const DeviceWeights&>(w).columns();
  std::optional<ActivationLayout> in_order;
  for (const DeviceBand& band : bands_of(w)) {
    const DeviceMatrix& matrix = band.matrix;
    std::byte* const workspace = memory_of(products_, matmul_workspace(matrix, rows));
    ProductRoom room(workspace);
    if (order == nullptr) {
      room = quantize_for(matrix, x, rows, workspace);
    } else if (const Activations to = activations_of(matrix, rows, room); to.layout != in_order) {
      add(quantize_in_order(to, x, order, rows), rows);
      in_order = to.layout;
    }
    add_product(multiply(matrix, rows, room, out, tuning_), matrix, rows);
    out += matrix.rows;
  }
}

// A launch and a pass over the rows less where what made them came right before, or before another product
// of them.
ProductRoom GpuBackend::quantize_for(const DeviceMatrix& matrix, const float* x, int64_t rows,
                                     std::byte* workspace) {
  const ProductRoom room(workspace);
  const Activations to = activations_of(matrix, rows, room);
  const int64_t bytes = matmul_workspace(matrix, rows);
  if (quantized_.is(x, rows) && quantized_.activations.layout == to.layout) {
    quantized_.room = std::max(quantized_.room, bytes);
    return room;
  }
  if (quantized_.is(x, rows) && quantized_.both && !quantized_.also) {
    const ProductRoom behind = room.behind(quantized_.room);
    const int64_t end = behind.own - room.own + bytes;
    const Activations also = activations_of(matrix, rows, behind);
    const auto launch = end <= static_cast<int64_t>(products_.wanted)
                            ? quantized_.both(quantized_.activations, also, true)
                            : std::nullopt;
    if (launch) {
      list_.replace(quantized_.launch, *launch);
      quantized_.also = also;
      return behind;
    }
  }
  Quantized made{.x = x, .rows = rows, .activations = to, .room = bytes};
  if (source_.out == x && source_.rows == rows && source_.width == matrix.cols) {
    list_.replace_last(source_.quantizing(to, true));
    made.quantizing = std::move(source_.quantizing);
    made.both = std::move(source_.both);
  } else {
    add(quantize(to, x, rows), rows);
  }
  made.launch = list_.launches().size() - 1;
  quantized_ = std::move(made);
  return room;
}

// Whatever else had read x would have made quantized_ something else.
void GpuBackend::forget(const float* x) {
  const Quantized& made = quantized_;
  if (made.x == nullptr || made.x != x || !made.quantizing) return;
  list_.replace(made.launch, made.also ? *made.both(made.activations, *made.also, false)
                                       : made.quantizing(made.activations, false));
}

// Products before it bring its first weights as they end.
void GpuBackend::add_product(const Launch& launch, const DeviceMatrix& matrix, int64_t rows) {
  for (OpenProduct& open : open_products_) {
    Launch product = list_.launches()[open.index];
    const int64_t brought = read_ahead(product, matrix, open.bytes);
    if (brought > 0) list_.replace(open.index, product);
    open.bytes = brought > 0 ? open.bytes - brought : 0;
  }
  std::erase_if(open_products_, [](const OpenProduct& open) { return open.bytes == 0; });
  if (tuning_.ahead_bytes > 0 && reads_ahead(matrix, rows)) {
    open_products_.push_back({list_.launches().size(), tuning_.ahead_bytes});
  }
  Quantized quantized = std::move(quantized_);
  add(launch, rows);
  quantized_ = std::move(quantized);
}

void GpuBackend::route(const RoutingShape& shape, const float* logits, int64_t rows, const Routing& routing) {
  add(gpu::route(shape, logits, rows, routing), rows);
}

void GpuBackend::route_by_sigmoid(const RoutingShape& shape, const SigmoidRouting& rule,
                                  const float* correction, float* logits, int64_t rows,
                                  const Routing& routing) {
  add(gpu::route_by_sigmoid(shape, rule, correction, logits, rows, routing), rows);
}

void GpuBackend::scale_routes(const RoutingShape& shape, const float* scales, int64_t rows,
                              const Routing& routing) {
  add(gpu::scale_routes(routing, scales, rows * shape.top_k), rows);
}

void GpuBackend::run_experts(const Experts& experts, const RoutingShape& shape, const Routing& routing,
                             const float* x, int64_t rows, const ExpertWorkspace&, float* out) {
  const DeviceExperts& index = static_cast<const ExpertIndex&>(*experts.index).experts();
  std::byte* const workspace = memory_of(experts_, experts_workspace(index, shape, rows));
  add(gpu::run_experts(index, shape, routing, x, rows, workspace, out), rows);
}

}  // namespace llmservice::gpu
