// The CPU backend: cuts each op into tiles, and gives the tiles to a pool of threads that run the kernels of
// one instruction family. How an op is cut never shows in its result.
#pragma once

#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_matrix.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/thread_pool.h"

namespace llmservice::cpu {

// At most kTileRows rows, one after the other, that run the same expert.
struct ExpertTile {
  int32_t expert;
  int64_t first;
  int64_t rows;
};

// Tiles of attention that one thread computes each, and those whose splits several compute.
struct AttentionTiles {
  std::vector<AttentionTile> whole = {};
  std::vector<AttentionTile> divided = {};
  // Most that a divided one has.
  int64_t splits = 0;
  int64_t pairs = 0;
};

// Rows of activations of one product.
struct ProductRows {
  const float* x;  // (rows, cols)
  int64_t cols;
  PairRows pairs[kPairOrders];  // the same rounded, in the orders that panels of the matrix take
  FixedRows fixed;              // the same in fixed point, where panels take it

  const PairRows& in(PairOrder order) const { return pairs[static_cast<int>(order)]; }
  ProductRows from(int64_t row) const {
    return {x + row * cols, cols, {pairs[0].from(row), pairs[1].from(row)}, fixed.from(row)};
  }
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const Kernels& kernels, int threads);

  const char* isa() const override { return kernels_.isa; }
  int threads() const override { return pool_.threads(); }
  void run_on_host(int64_t jobs, const std::function<void(int64_t, int)>& body) override {
    pool_.run(jobs, body);
  }

  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  void upload(std::span<const std::byte> host, void* device) override;
  std::span<float> to_host(float* x, int64_t count) override;
  std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts, DType keep,
                               const std::function<void(uint64_t)>& on_bytes) override;

  // matmul.cpp
  void gather(const Matrix& table, std::span<const int32_t> ids, float* out) override;
  void matmul(const Matrix& w, const float* x, int64_t rows, float* out) override;

  // low_rank.cpp
  bool adapts() const override { return true; }
  void add_low_rank(std::span<const LowRankRows>, int64_t place, const float* x, int64_t cols, float* out,
                    int64_t out_stride) override;

  // rows.cpp
  void rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                float* out) override;
  void add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks) override;
  void add_bias(float* x, const float* bias, int64_t rows, int64_t width) override;
  void take_rows(const float* x, std::span<const int32_t> rows, int64_t width, float* out) override;
  void copy_rows(std::span<const RowCopy> rows, const float* from, int64_t from_stride, int64_t width,
                 float* to, int64_t to_stride) override;
  void take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns, int64_t count,
                    float missing, float* out) override;
  void silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) override;
  void add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) override;
  void scale(float* x, int64_t count, float factor) override;
  void gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                      float* out, const FaultMarks& marks) override;
  void cap(float* x, int64_t count, float limit) override;

  // experts.cpp
  void route(const RoutingShape&, const float* logits, int64_t rows, const Routing&) override;
  void route_by_sigmoid(const RoutingShape&, const SigmoidRouting&, const float* correction, float* logits,
                        int64_t rows, const Routing&) override;
  void scale_routes(const RoutingShape&, const float* scales, int64_t rows, const Routing&) override;
  void run_experts(const Experts&, const RoutingShape&, const Routing&, const float* x, int64_t rows,
                   const ExpertWorkspace&, float* out) override;

  // attention.cpp
  void rope_angles(std::span<const int32_t> positions, const float* frequencies, int64_t count, float factor,
                   float* cos, float* sin) override;
  void norm_rope_write(const AttentionShape&, std::span<const Segment>, const NormRope&, float* q, float* k,
                       const float* v, int64_t stride, const KvCache&) override;
  void attention(const AttentionShape&, std::span<const Segment>, const float* q, int64_t q_stride,
                 const KvCache&, float* out, const ScoreRules& rules) override;

  // gdn.cpp
  void gdn_reset(const GdnShape&, std::span<const int32_t> slots, const GdnState&) override;
  void gdn_copy(const GdnShape&, std::span<const StateCopy>, const GdnState&) override;
  void gdn_conv(const GdnShape&, std::span<const Segment>, const float* weight, float* qkv, int64_t stride,
                const GdnState&) override;
  void gdn(const GdnShape&, std::span<const Segment>, const float* qkv, int64_t qkv_stride,
           const float* beta_in, const float* gate_in, int64_t gate_stride, const float* a_log,
           const float* dt_bias, const GdnState&, float* out, const GdnNorm& norm) override;

 private:
  // out (rows, N) = x (rows, K) · Wᵀ, where each of `tiles` says which rows multiply which of `matrices`.
  void multiply_grouped(std::span<const ExpertMatrix> matrices, std::span<const ExpertTile> tiles,
                        const float* x, float* out);
  // matmul() of x in the order that the panels take.
  void multiply(const PackedMatrix& matrix, const float* x, int64_t rows, float* out);
  // x (rows, cols) with its columns in `order`; valid until the next op.
  const float* reordered(const float* x, int64_t rows, std::span<const int32_t> order);
  // x (rows, width) += the expert's row of biases (experts, width), null: nothing.
  void add_expert_biases(std::span<const ExpertTile> tiles, const float* biases, int64_t width, float* x);
  void clamped_swiglu(const ClampedSwiglu& form, const float* gate_up, int64_t rows, int64_t width,
                      float* out);
  // x (rows, cols) as it is and, in the forms asked for, rounded; valid until the next op.
  ProductRows rows_for(const float* x, int64_t rows, int64_t cols, const RowForms& forms);
  FixedRows fixed_rows(const float* x, int64_t rows, int64_t cols);
  // Of tiles of at most `tile_rows` rows.
  void attend(const AttentionShape& shape, const AttentionTiles& tiles);
  // One panel's outputs of at most kTileRows rows.
  void multiply_tile(const PackedMatrix& matrix, int64_t panel, const ProductRows& x, int64_t rows,
                     float* out, int worker);

  // x += y (null: nothing), then out = norm(x) by one of the kernels, with marks as Backend has them.
  void add_norm(float* x, const float* y, decltype(Kernels::rms_norm) norm, const float* weight, float eps,
                int64_t rows, int64_t dim, float* out, const FaultMarks& marks);

  // body(row, first, count) over (rows, width) in tiles worth waking a thread for.
  template <class Body>
  void for_spans(int64_t rows, int64_t width, const Body& body);
  // body(row) over rows that cost about `floats` each.
  template <class Body>
  void for_rows(int64_t rows, int64_t floats, const Body& body);

  const Kernels& kernels_;
  ThreadPool pool_;
  Scratch scratch_;
};

// Values that one tile of a cheap op should touch: below it, handing the tile over costs more than doing it.
constexpr int64_t kTileFloats = 8192;

// Rows of activations per tile of a product: their K block (128 floats each) and sums (64 floats each) stay
// in L2.
constexpr int64_t kTileRows = 192;

template <class Body>
void CpuBackend::for_rows(int64_t rows, int64_t floats, const Body& body) {
  const int64_t per_tile = floats >= kTileFloats ? 1 : kTileFloats / (floats > 0 ? floats : 1);
  pool_.run((rows + per_tile - 1) / per_tile, [&](int64_t tile, int) {
    const int64_t end = (tile + 1) * per_tile < rows ? (tile + 1) * per_tile : rows;
    for (int64_t row = tile * per_tile; row < end; ++row) body(row);
  });
}

template <class Body>
void CpuBackend::for_spans(int64_t rows, int64_t width, const Body& body) {
  const int64_t per_row = (width + kTileFloats - 1) / kTileFloats;
  for_rows(rows * per_row, width < kTileFloats ? width : kTileFloats, [&](int64_t span) {
    const int64_t first = span % per_row * kTileFloats;
    body(span / per_row, first, width - first < kTileFloats ? width - first : kTileFloats);
  });
}

}  // namespace llmservice::cpu
