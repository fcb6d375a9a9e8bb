// The GPU backend: ops become launches, which are kept until a result is wanted or the step is complete, and
// then run as one (graph_cache.h). Activations are quantized where weights are FP8 (kernels/matmul.h).
// After reserve() only the paged KV is allocated.
#pragma once

#include "backends/gpu/graph_cache.h"
#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/experts.h"
#include "backends/gpu/kernels/low_rank.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/packing.h"
#include "backends/gpu/rank_collective.h"
#include "backends/gpu/side_copies.h"
#include "backends/gpu/step_arena.h"
#include "backends/gpu/step_segments.h"
#include "ops/gated_ops.h"

namespace llmservice::gpu {

struct GpuOptions {
  int device = 0;
  size_t graphs = 64;   // to keep; 0: every launch by itself
  bool samples = true;  // false: leaves sampling to the host
  ProductTuning tuning = {};
  // Called for each list right after it was given to the device: all that it reads is still in place.
  std::function<void(Device&, const LaunchList&)> on_list = {};
};

// What came back to the host: results that it waited for.
struct Downloads {
  uint64_t times = 0;
  uint64_t bytes = 0;
};

class GpuBackend final : public Backend, public GatedOps {
 public:
  explicit GpuBackend(const GpuOptions& options);
  ~GpuBackend() override;

  const char* isa() const override { return isa_.c_str(); }
  int threads() const override { return 1; }
  GraphCounts graph_counts() const override { return graphs_.counts(); }
  const Downloads& downloads() const { return downloads_; }
  // For launches that come after.
  void tune(const ProductTuning& tuning) { tuning_ = tuning; }

  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  void reserve(const StepLimits& limits) override;
  std::optional<DeviceRoom> room() const override;
  Collective* connect(RankChannel& channel, Collectives choice) override;
  void upload(std::span<const std::byte> host, void* device) override;
  void upload_now(std::span<const std::byte> host, void* device) override { device_.upload(host, device); }
  std::unique_ptr<SideCopies> side_copies(size_t bytes) const override {
    return std::make_unique<DeviceCopies>(device_.index(), bytes);
  }
  std::span<float> to_host(float* x, int64_t count) override;
  bool samples() const override { return samples_; }
  bool runs_all_models() const override { return false; }
  void submit() override;
  std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts, DType keep,
                               const std::function<void(uint64_t)>& on_bytes) override;
  std::unique_ptr<Matrix> narrowed(const Matrix& matrix) override;
  void prepare(Experts& experts, const RoutingShape& shape) override;

  // matrix_ops.cpp
  void gather(const Matrix& table, std::span<const int32_t> ids, float* out) override;
  void matmul(const Matrix& w, const float* x, int64_t rows, float* out) override;
  void route(const RoutingShape&, const float* logits, int64_t rows, const Routing&) override;
  void route_by_sigmoid(const RoutingShape&, const SigmoidRouting&, const float* correction, float* logits,
                        int64_t rows, const Routing&) override;
  void scale_routes(const RoutingShape&, const float* scales, int64_t rows, const Routing&) override;
  void run_experts(const Experts&, const RoutingShape&, const Routing&, const float* x, int64_t rows,
                   const ExpertWorkspace&, float* out) override;

  // adapter_ops.cpp
  bool adapts() const override { return true; }
  void index_pairs(LowRankTable& adapter) override;
  void add_low_rank(std::span<const LowRankRows>, int64_t place, const float* x, int64_t cols, float* out,
                    int64_t out_stride) override;

  // gated_ops.cpp
  void gated_matmul(const Matrix& gate_up, const Matrix& down, const float* x, int64_t rows, float* wide,
                    float* mixed, float* out) override;
  void forget(const float* x) override;

  // row_ops.cpp
  void rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                float* out) override;
  void add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks) override;
  void add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                      float* out, const FaultMarks& marks) override;
  void add_bias(float* x, const float* bias, int64_t rows, int64_t width) override;
  void take_rows(const float* x, std::span<const int32_t> rows, int64_t width, float* out) override;
  void copy_rows(std::span<const RowCopy> rows, const float* from, int64_t from_stride, int64_t width,
                 float* to, int64_t to_stride) override;
  void take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns, int64_t count,
                    float missing, float* out) override;
  void silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void scale(float* x, int64_t count, float factor) override;
  void cap(float* x, int64_t count, float limit) override;
  void sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) override;
  void add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) override;
  void rope_angles(std::span<const int32_t> positions, const float* frequencies, int64_t count, float factor,
                   float* cos, float* sin) override;

  // sample_ops.cpp
  void sample(const SampleBatch& batch, const float* logits, int32_t vocab, SampleResult* results) override;

  // sequence_ops.cpp
  void norm_rope_write(const AttentionShape&, std::span<const Segment>, const NormRope&, float* q, float* k,
                       const float* v, int64_t stride, const KvCache&) override;
  void attention(const AttentionShape&, std::span<const Segment>, const float* q, int64_t q_stride,
                 const KvCache&, float* out, const ScoreRules&) override;
  void gdn_reset(const GdnShape&, std::span<const int32_t> slots, const GdnState&) override;
  void gdn_copy(const GdnShape&, std::span<const StateCopy>, const GdnState&) override;
  void gdn_conv(const GdnShape&, std::span<const Segment>, const float* weight, float* qkv, int64_t stride,
                const GdnState&) override;
  void gdn(const GdnShape&, std::span<const Segment>, const float* qkv, int64_t qkv_stride,
           const float* beta_in, const float* gate_in, int64_t gate_stride, const float* a_log,
           const float* dt_bias, const GdnState&, float* out, const GdnNorm& norm) override;

 private:
  std::unique_ptr<Matrix> pack_for_experts(std::span<const MatrixPart> parts, DType keep,
                                           const std::function<void(uint64_t)>& on_bytes) override;

  // Of a kind of kernels: kernels may keep counters there that they leave as they found them.
  struct Workspace {
    std::unique_ptr<DeviceMemory> memory;
    size_t wanted = 0;

    void want(int64_t bytes) { wanted = std::max(wanted, static_cast<size_t>(bytes)); }
  };

  // The same op, quantizing what it puts out, for one product or for two that follow each other. It also
  // writes that where somebody reads it; some ops always do.
  using Quantizing = std::function<Launch(const Activations&, bool is_read)>;
  using QuantizingBoth =
      std::function<std::optional<Launch>(const Activations&, const Activations&, bool is_read)>;

  // What a launch puts out.
  struct Source {
    const float* out = nullptr;  // null: nothing that a product reads
    int64_t rows = 0;
    int64_t width = 0;
    Quantizing quantizing;
    QuantizingBoth both;  // may be null
  };

  // What lies where products have their activations, while nothing but products is added to list_.
  struct Quantized {
    const float* x = nullptr;  // null: nothing that is known
    int64_t rows = 0;
    Activations activations = {};
    int64_t room = 0;                      // bytes that its products take of the workspace
    size_t launch = 0;                     // of list_: what made it
    std::optional<Activations> also = {};  // what that launch made for a second product
    Quantizing quantizing = {};            // that launch; null: it only quantizes
    QuantizingBoth both = {};              // with both; null: it makes nothing else

    bool is(const float* of, int64_t count) const { return x != nullptr && x == of && rows == count; }
  };

  // Of list_: a product that may still read ahead, so many bytes.
  struct OpenProduct {
    size_t index;
    int64_t bytes;
  };

  // A convolution at the end of list_, which the delta rule behind it may take in.
  struct Convolved {
    const float* x = nullptr;  // null: none
    const Segment* segments = nullptr;
    const float* weight = nullptr;
  };

  // Attention at the end of list_, whose last launch may open gates and quantize.
  struct Attended {
    const float* out = nullptr;  // null: none
    int64_t rows = 0;
    int64_t width = 0;
    std::function<std::optional<Launch>(const HeadGates&, const Activations*)> end;
  };

  Packer& packer();
  // For products of its shape, from reserve() on.
  void expect_shape(const DeviceMatrix& shape);
  void want_attention(const AttentionShape& shape, int64_t rows, int32_t max_length);
  void add_product(const Launch& launch, const DeviceMatrix& matrix, int64_t rows);
  // The product with [gate | up], the gates and what `down` reads of them in one launch; false where there is
  // none.
  bool add_gated_product(const DeviceMatrix& gate_up, const DeviceMatrix& down, const float* x, int64_t rows,
                         const float* mixed);
  // Has x (rows) where the product with the matrix reads it, as it reads it.
  ProductRoom quantize_for(const DeviceMatrix& matrix, const float* x, int64_t rows, std::byte* workspace);
  void add(const Launch& launch, int64_t rows);
  void add(std::span<const Launch> launches, int64_t rows);
  // An op whose result (rows, width) at `out` a product may read next: it then quantizes it as well.
  void add_source(const Launch& launch, int64_t rows, int64_t width, const float* out, Quantizing quantizing,
                  QuantizingBoth both = {});
  // Where what a step brings lies when the launches that are added next run.
  template <class T>
  const T* staged(std::span<const T> values);
  StepSegments staged_segments(std::span<const Segment> segments, int32_t block_size);
  // Whether attention at the end of list_ has put x (rows, width) out, and multiplies it by the gates now.
  bool gate_attention(const float* x, const HeadGates& gates, int64_t rows, int64_t width);
  // What list_ ends with, since something else comes behind it.
  void forget_last();
  // The launches so far begin to run.
  void flush();
  std::byte* memory_of(const Workspace& workspace, int64_t bytes) const;

  Device device_;
  std::string isa_;
  TileOrder order_;
  LaunchList list_;
  int64_t max_rows_ = 0;  // of an op in list_
  Source source_;         // what the last launch of list_ puts out
  Quantized quantized_;
  Convolved convolved_;
  Attended attended_;
  std::vector<const float*> moved_;  // S that list_ writes
  std::vector<OpenProduct> open_products_;
  ProductTuning tuning_;
  GraphCache graphs_;
  std::function<void(Device&, const LaunchList&)> on_list_;
  bool samples_;
  std::vector<std::byte> sample_lists_;  // of one batch
  std::unique_ptr<Packer> packer_;       // null until something is packed, and from reserve() on
  std::unique_ptr<StepArena> arena_;     // null before reserve()
  std::unique_ptr<PinnedMemory> result_;
  Downloads downloads_;
  std::vector<DeviceMatrix> shapes_;  // of packed matrices, each kind once
  std::vector<std::pair<DeviceExperts, RoutingShape>> expert_shapes_;
  std::unique_ptr<RankCollective> ranks_;  // null: the only rank
  Workspace products_;
  Workspace experts_;
  Workspace attention_;
  Workspace gdn_;
  Workspace sampling_;
  Workspace low_rank_;
  int64_t low_rank_row_floats_ = 0;
  std::vector<LowRankTile> low_rank_tiles_;  // of one op
};

template <class T>
const T* GpuBackend::staged(std::span<const T> values) {
  const std::byte* place = arena_->put(std::as_bytes(values));
  if (place == nullptr) {
    flush();
    place = arena_->put(std::as_bytes(values));
  }
  if (place == nullptr)
    throw EngineError(FailureReason::kEngineFault, "A list of a step does not fit where steps put theirs.");
  return reinterpret_cast<const T*>(place);
}

}  // namespace llmservice::gpu
