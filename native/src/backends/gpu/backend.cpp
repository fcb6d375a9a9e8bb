// Memory, and when launches run.
#include "backends/gpu/backend.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/copy.h"
#include "backends/gpu/kernels/gdn.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/sampling.h"

namespace llmservice::gpu {
namespace {

// Steps of more rows than this keep the device busy for longer than their launches take.
constexpr int64_t kMaxGraphRows = 256;

// Bytes of lists that one row of a step brings at most: ids, rows and copies for each purpose once.
constexpr int64_t kListBytesPerRow = 128;
// Times that the segments of a step are listed, cut at the states that it keeps.
constexpr int64_t kSegmentLists = 8;

class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(Device& device, size_t bytes) : memory_(device, bytes) {}
  void* data() override { return memory_.data(); }
  size_t bytes() const override { return memory_.bytes(); }

 private:
  DeviceMemory memory_;
};

// Of the rows that are sampled: requests, of a sequence that may begin structured output two; once whatever
// else one batch lists at most.
size_t sample_list_bytes(const StepLimits& limits) {
  if (limits.vocab == 0) return 0;
  const int64_t masks = kMaxSampleRequests * ((limits.vocab + 31) / 32) * int64_t{sizeof(uint32_t)};
  const int64_t requests = std::max<int64_t>(2 * limits.sequences, kMaxSampleRequests);
  return requests * int64_t{sizeof(SampleRequest)} + masks + kMaxSampleEdits * int64_t{sizeof(TokenCount)};
}

// Tiles of adapters, rounded up to a power of two: at worst each row has one.
constexpr int64_t kTileBytesPerRow = 2 * sizeof(LowRankTile);

size_t arena_bytes(const StepLimits& limits) {
  const int64_t row = kListBytesPerRow + (limits.max_adapter_rank > 0 ? kTileBytesPerRow : 0);
  const int64_t blocks = (limits.longest + limits.block_size - 1) / limits.block_size;
  const int64_t tables =
      limits.attention.empty() ? 0 : limits.sequences * blocks * static_cast<int64_t>(sizeof(int32_t));
  return (1 << 16) + limits.rows * row +
         limits.sequences * kSegmentLists * static_cast<int64_t>(sizeof(Segment)) + tables +
         sample_list_bytes(limits);
}

// What attention's tiles are made of.
void check_heads(int64_t head_dim) {
  if (head_dim % 16 == 0 && head_dim <= 512) return;
  throw EngineError(FailureReason::kUnsupportedArchitecture,
                    "The model has attention heads of " + std::to_string(head_dim) +
                        " features; GPUs take multiples of 16 up to 512.");
}

// The row counts that a workspace is sized for: it need not grow with them.
std::vector<int64_t> row_counts(int64_t most) {
  std::vector<int64_t> counts;
  for (int64_t rows = 1; rows < most; rows *= 2) counts.push_back(rows);
  counts.push_back(most);
  return counts;
}

}  // namespace

GpuBackend::GpuBackend(const GpuOptions& options)
    : device_(options.device),
      isa_(std::string(kVendor) + " " + device_.architecture() + ", " + device_.name()),
      order_(tile_order(device_.compute_capability())),
      tuning_(options.tuning),
      graphs_(device_, options.graphs),
      on_list_(options.on_list),
      samples_(options.samples) {}

// Graphs and memory go after the work that uses them.
GpuBackend::~GpuBackend() {
  if (ranks_) ranks_->leave();
  try {
    device_.finish();
  } catch (const EngineError&) {  // the device has failed, and reported it before
  }
  ranks_.reset();
}

Collective* GpuBackend::connect(RankChannel& channel, Collectives choice) {
  // Other launches of a step say how many rows it has.
  ranks_ = connect_ranks(device_, channel, choice, [this](const Launch& launch) { add(launch, 0); });
  return ranks_.get();
}

std::unique_ptr<Buffer> GpuBackend::allocate(size_t bytes) {
  return std::make_unique<DeviceBuffer>(device_, bytes);
}

Packer& GpuBackend::packer() {
  if (packer_ == nullptr) packer_ = std::make_unique<Packer>(device_);
  return *packer_;
}

std::unique_ptr<Matrix> GpuBackend::pack(std::span<const MatrixPart> parts, DType keep,
                                         const std::function<void(uint64_t)>& on_bytes) {
  auto packed = packer().pack(parts, keep, order_, on_bytes);
  for (const DeviceBand& band : packed->bands) expect_shape(band.matrix);
  return packed;
}

void GpuBackend::expect_shape(const DeviceMatrix& shape) {
  const bool known = std::ranges::any_of(shapes_, [&](const DeviceMatrix& other) {
    return other.rows == shape.rows && other.cols == shape.cols && other.dtype == shape.dtype &&
           other.scale_rows == shape.scale_rows;
  });
  if (!known) shapes_.push_back(shape);
}

std::unique_ptr<Matrix> GpuBackend::pack_for_experts(std::span<const MatrixPart> parts, DType keep,
                                                     const std::function<void(uint64_t)>& on_bytes) {
  return packer().pack(parts, keep, kExpertOrder, on_bytes);
}

void GpuBackend::reserve(const StepLimits& limits) {
  for (const AttentionShape& shape : limits.attention) check_heads(shape.head_dim);
  packer_ = nullptr;
  for (const int64_t rows : row_counts(limits.rows)) {
    for (const DeviceMatrix& shape : shapes_) products_.want(matmul_workspace(shape, rows));
    for (const auto& [experts, shape] : expert_shapes_)
      experts_.want(experts_workspace(experts, shape, rows));
    if (limits.gdn) {
      const int64_t floats =
          std::max(gdn_workspace(*limits.gdn, rows), gdn_conv_workspace(*limits.gdn, rows));
      gdn_.want(floats * static_cast<int64_t>(sizeof(float)));
    }
    for (const AttentionShape& shape : limits.attention) want_attention(shape, rows, limits.longest);
  }
  if (limits.vocab > 0) sampling_.want(sample_workspace(limits.vocab, kMaxSampleRequests));
  low_rank_row_floats_ = low_rank_floats(limits.max_adapter_rank);
  low_rank_.want(limits.rows * low_rank_row_floats_ * static_cast<int64_t>(sizeof(float)));
  for (Workspace* workspace : {&products_, &experts_, &gdn_, &attention_, &sampling_, &low_rank_}) {
    if (workspace->wanted > 0) workspace->memory = std::make_unique<DeviceMemory>(device_, workspace->wanted);
  }
  result_ = std::make_unique<PinnedMemory>(device_, limits.result * sizeof(float));
  arena_ = std::make_unique<StepArena>(device_, arena_bytes(limits));
  device_.finish();
}

void GpuBackend::want_attention(const AttentionShape& shape, int64_t rows, int32_t max_length) {
  for (int32_t longest = kMinLongest;; longest *= 2) {
    const int64_t floats = attention_workspace(shape, rows, longest);
    attention_.want(floats * static_cast<int64_t>(sizeof(float)));
    if (longest >= max_length) return;
  }
}

std::optional<DeviceRoom> GpuBackend::room() const {
  const auto [free, total] = device_.memory();
  return DeviceRoom{.total = total, .free = free, .own = device_.held(), .device = device_.index()};
}

std::byte* GpuBackend::memory_of(const Workspace& workspace, int64_t bytes) const {
  if (bytes == 0) return nullptr;
  if (static_cast<size_t>(bytes) > workspace.wanted || workspace.memory == nullptr) {
    throw EngineError(FailureReason::kEngineFault, "An operation needs " + std::to_string(bytes) +
                                                       " bytes of workspace on the device, where " +
                                                       std::to_string(workspace.wanted) + " were planned.");
  }
  return workspace.memory->data();
}

void GpuBackend::upload(std::span<const std::byte> host, void* device) {
  if (host.empty()) return;
  if (arena_ == nullptr) return device_.upload(host, device);
  const std::byte* const from = staged(host);
  add(copy_bytes(from, static_cast<std::byte*>(device), static_cast<int64_t>(host.size())), 0);
}

std::span<float> GpuBackend::to_host(float* x, int64_t count) {
  const size_t bytes = count * sizeof(float);
  if (bytes > result_->bytes())
    throw EngineError(FailureReason::kEngineFault, "A result is larger than any that was planned.");
  flush();
  if (bytes > 0) device_.fetch(x, {result_->data(), bytes});
  device_.finish();
  if (ranks_) ranks_->check();
  arena_->arrived();
  ++downloads_.times;
  downloads_.bytes += bytes;
  return {reinterpret_cast<float*>(result_->data()), static_cast<size_t>(count)};
}

void GpuBackend::submit() { flush(); }

void GpuBackend::flush() {
  arena_->send();
  if (list_.empty()) return;
  graphs_.run(list_, max_rows_ <= kMaxGraphRows);
  if (on_list_) on_list_(device_, list_);
  list_.clear();
  open_products_.clear();
  moved_.clear();
  max_rows_ = 0;
  forget_last();
}

void GpuBackend::forget_last() {
  source_ = {};
  quantized_ = {};
  convolved_ = {};
  attended_ = {};
}

void GpuBackend::add(const Launch& launch, int64_t rows) {
  list_.add(launch);
  max_rows_ = std::max(max_rows_, rows);
  forget_last();
}

void GpuBackend::add(std::span<const Launch> launches, int64_t rows) {
  list_.add(launches);
  max_rows_ = std::max(max_rows_, rows);
  forget_last();
}

void GpuBackend::add_source(const Launch& launch, int64_t rows, int64_t width, const float* out,
                            Quantizing quantizing, QuantizingBoth both) {
  add(launch, rows);
  source_ = {out, rows, width, std::move(quantizing), std::move(both)};
}

}  // namespace llmservice::gpu
