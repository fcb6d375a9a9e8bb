// The scalar reference of every operation: plain loops, sums in double, one thread, no blocking. Slow on
// purpose: it is the oracle of the ops tests, and shares no code with the backends it judges.
#pragma once

#include <cmath>

#include "ops/ops.h"

namespace llmservice {

inline double reference_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double reference_gelu(double x);  // approximated by tanh

class ReferenceBackend : public Backend {
 public:
  const char* isa() const override { return "reference"; }
  int threads() const override { return 1; }

  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  void upload(std::span<const std::byte> host, void* device) override;
  std::span<float> to_host(float* x, int64_t count) override;
  std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts, DType keep,
                               const std::function<void(uint64_t)>& on_bytes) override;

  bool adapts() const override { return true; }
  void add_low_rank(std::span<const LowRankRows>, int64_t place, const float* x, int64_t cols, float* out,
                    int64_t out_stride) override;

  void gather(const Matrix& table, std::span<const int32_t> ids, float* out) override;
  void matmul(const Matrix& w, const float* x, int64_t rows, float* out) override;
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
  void scale(float* x, int64_t count, float factor) override;
  void gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void erf_gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override;
  void add_layer_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                      float* out, const FaultMarks& marks) override;
  void cap(float* x, int64_t count, float limit) override;
  void add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) override;

  void route(const RoutingShape&, const float* logits, int64_t rows, const Routing&) override;
  void route_by_sigmoid(const RoutingShape&, const SigmoidRouting&, const float* correction, float* logits,
                        int64_t rows, const Routing&) override;
  void scale_routes(const RoutingShape&, const float* scales, int64_t rows, const Routing&) override;
  void run_experts(const Experts&, const RoutingShape&, const Routing&, const float* x, int64_t rows,
                   const ExpertWorkspace&, float* out) override;

  void rope_angles(std::span<const int32_t> positions, const float* frequencies, int64_t count, float factor,
                   float* cos, float* sin) override;
  void norm_rope_write(const AttentionShape&, std::span<const Segment>, const NormRope&, float* q, float* k,
                       const float* v, int64_t stride, const KvCache&) override;
  void attention(const AttentionShape&, std::span<const Segment>, const float* q, int64_t q_stride,
                 const KvCache&, float* out, const ScoreRules& rules = {}) override;

  void gdn_reset(const GdnShape&, std::span<const int32_t> slots, const GdnState&) override;
  void gdn_copy(const GdnShape&, std::span<const StateCopy>, const GdnState&) override;
  void gdn_conv(const GdnShape&, std::span<const Segment>, const float* weight, float* qkv, int64_t stride,
                const GdnState&) override;
  // Every position runs the recurrent form: the chunked form is the same function.
  void gdn(const GdnShape&, std::span<const Segment>, const float* qkv, int64_t qkv_stride,
           const float* beta_in, const float* gate_in, int64_t gate_stride, const float* a_log,
           const float* dt_bias, const GdnState&, float* out, const GdnNorm& norm) override;
};

}  // namespace llmservice
