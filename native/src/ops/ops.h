// The operations a backend provides, at the grain of one kernel launch. The model code above this line knows
// no device; a backend knows no model. Shapes: T rows of a step, D features, H heads; row-major, innermost
// last. Activations are float32 on the CPU. Every op gives each row the same bits whatever the other rows
// are, whatever the number of threads: reductions over K run in one fixed order per matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/attention.h"
#include "ops/error.h"
#include "ops/gdn.h"
#include "ops/graph_counts.h"
#include "ops/low_rank.h"
#include "ops/matrix.h"
#include "ops/sample_request.h"
#include "ops/side_copies.h"

namespace llmservice {

// Device memory. On the CPU: 64-byte aligned, zeroed, anonymous.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() = 0;
  virtual size_t bytes() const = 0;
};

// Rows of a step that belong to one sequence. Rows [first, first + count) of the step are positions
// [position, position + count) of the sequence.
struct Segment {
  int32_t first;
  int32_t count;
  int32_t position;
  int32_t slot;           // recurrent state
  const int32_t* blocks;  // block table of the sequence
  int32_t chunked_until;  // positions below use the chunked recurrent form; a multiple of 64
  // The last `drafts` rows may come to nothing: they leave the recurrent state as it was before them. They do
  // not lie below chunked_until.
  int32_t drafts = 0;
};

// State row `from` is to be copied over row `to`.
struct StateCopy {
  int32_t from;
  int32_t to;
};

// Row `from` of one matrix is to be copied over row `to` of another.
struct RowCopy {
  int32_t from;
  int32_t to;
};

// Where the numbers of each row first meant nothing.
struct FaultMarks {
  int32_t* first = nullptr;  // (T), 0 where they still mean something; null: nobody looks
  int32_t place = 0;
};

struct RoutingShape {
  int32_t experts;
  int32_t top_k;
  bool normalize;  // a row's weights are scaled to sum to one
};

// A choice of experts by scores that are sigmoids of the router's logits.
struct SigmoidRouting {
  int32_t groups;         // equal parts of the experts, one after the other
  int32_t chosen_groups;  // those whose two best experts score highest together
  float scale;            // of a row's weights
};

// The experts of each row: ids (T, top_k), ascending within a row, and their weights (T, top_k).
struct Routing {
  int32_t* ids;
  float* weights;
};

// A gate of min(gate, limit) * sigmoid(alpha * min(gate, limit)), which multiplies 1 + up, up within ±limit.
struct ClampedSwiglu {
  float limit;
  float alpha;
};

// The routed experts of one layer: expert e maps (D) by gate_up[e] (2F, D) to [gate F | up F], and by down[e]
// (D, F) back.
struct Experts {
  std::vector<ExpertMatrix> gate_up;
  std::vector<ExpertMatrix> down;
  const float* gate_up_bias = nullptr;   // (experts, 2F); null: none
  const float* down_bias = nullptr;      // (experts, D); null: none, or another rank adds it
  std::optional<ClampedSwiglu> clamped;  // in place of silu(gate) · up
  bool gelu = false;                     // likewise gelu(gate) · up, approximated by tanh
  std::unique_ptr<Buffer> index;         // what a backend wants with them, made by prepare()
};

// Room for `rows` pairs of a row and one of its experts, at least as many as the step has rows.
struct ExpertWorkspace {
  int64_t rows;
  float* hidden;  // (rows, D)
  float* wide;    // (rows, 2F)
  float* mixed;   // (rows, F)
};

// The most that models ask of their backend at once; attention of the widest layers of each.
struct StepLimits {
  int64_t rows;        // of a step
  int64_t sequences;   // of a step
  int32_t longest;     // positions of a sequence
  int32_t block_size;  // of block tables
  int64_t result;      // floats of one to_host()
  int32_t vocab = 0;   // of logits that it samples; 0: none
  std::vector<AttentionShape> attention = {};
  std::optional<GdnShape> gdn = std::nullopt;
  int32_t max_adapter_rank = 0;  // of adapters that are loaded later; 0: none are
};

// Memory of a device in bytes, as its driver reports it now: of a partition, where the device is one.
struct DeviceRoom {
  uint64_t total;
  uint64_t free;
  uint64_t own;    // that this backend allocated
  int64_t device;  // which of those that the process sees
};

enum class Collectives : uint8_t;
class Collective;   // collective.h
class RankChannel;  // collective.h

// Ops may run when they are called or later, in the order of their calls; what they are given as spans is
// read during the call.
class Backend : public AdapterOps {
 public:
  virtual ~Backend() = default;
  virtual const char* isa() const = 0;
  virtual int threads() const = 0;
  // Between ops, on up to threads() threads: body(job, worker) for each job; it must not throw.
  virtual void run_on_host(int64_t jobs, const std::function<void(int64_t, int)>& body) {
    for (int64_t job = 0; job < jobs; ++job) body(job, 0);
  }
  virtual GraphCounts graph_counts() const { return {}; }

  virtual std::unique_ptr<Buffer> allocate(size_t bytes) = 0;
  // Once, when all models are loaded but for their paged KV: takes all other memory that steps will need.
  virtual void reserve(const StepLimits&) {}
  // Nothing where models lie in memory of the host.
  virtual std::optional<DeviceRoom> room() const { return std::nullopt; }
  // Once, before anything is loaded: what combines the results of ranks on this backend's device, in the
  // order of its ops; owned by the backend. Null: they lie in memory of the host, where the ranks combine
  // them. The channel outlives the backend.
  virtual Collective* connect(RankChannel&, Collectives) { return nullptr; }
  // Copies host bytes to device memory (small weights, tables).
  virtual void upload(std::span<const std::byte> host, void* device) = 0;
  // The same of any size between steps, done when it returns: the memory may be given back.
  virtual void upload_now(std::span<const std::byte> host, void* device) { upload(host, device); }
  // By the thread that calls it, at most `bytes` at once; they go before the backend.
  virtual std::unique_ptr<SideCopies> side_copies(size_t) const { return std::make_unique<HostCopies>(); }
  // Results as host memory, once all before is done; valid until the next call: on the CPU `x` itself.
  virtual std::span<float> to_host(float* x, int64_t count) = 0;
  virtual bool samples() const { return false; }  // whether sample() is there
  // results[i] is what came of requests[i] from logits (R, vocab): the token of engine/sampler.h.
  virtual void sample(const SampleBatch&, const float*, int32_t /*vocab*/, SampleResult*) {}
  // All of a step has been asked for: it may begin. Block tables do not change before this.
  virtual void submit() {}

  // Whether it lacks nothing that some models, drafts or adapters take.
  virtual bool runs_all_models() const { return true; }
  // x (count) *= factor.
  virtual void scale(float* x, int64_t count, float factor) = 0;
  // out (T, F) = gelu(gate_up[:, :F]) · gate_up[:, F:], gate_up (T, 2F); gelu approximated by tanh.
  virtual void gelu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) = 0;
  // The same with gelu(x) = x/2 (1 + erf(x / sqrt(2))).
  virtual void erf_gelu_mul(const float* /*gate_up*/, int64_t /*rows*/, int64_t /*width*/, float* /*out*/) {}
  // As add_rms_norm(), of x less its mean; `out` may be `x`.
  virtual void add_layer_norm(float* /*x*/, const float* /*y*/, const float* /*weight*/, float /*eps*/,
                              int64_t /*rows*/, int64_t /*dim*/, float* /*out*/, const FaultMarks&) {}
  // x (count) becomes limit * tanh(x / limit).
  virtual void cap(float* x, int64_t count, float limit) = 0;
  // The top_k experts of each row by sigmoid(logits) + correction (experts), within the chosen groups, equal
  // ones by lower index. Their weights are without the correction. logits (T, experts) become their sigmoids.
  virtual void route_by_sigmoid(const RoutingShape&, const SigmoidRouting&, const float* /*correction*/,
                                float* /*logits*/, int64_t /*rows*/, const Routing&) {}
  // The weights of each row's experts times scales (experts).
  virtual void scale_routes(const RoutingShape&, const float* /*scales*/, int64_t /*rows*/, const Routing&) {}

  // Packs a matrix from its parts, reading each byte once through a bounded window (16 MiB).
  // `on_bytes` gets how many stored bytes were read. Unquantized parts are held as held_as(dtype, keep).
  virtual std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts, DType keep,
                                       const std::function<void(uint64_t)>& on_bytes) = 0;
  // The same for an expert.
  ExpertMatrix pack_expert(std::span<const MatrixPart> parts, DType keep,
                           const std::function<void(uint64_t)>& on_bytes) {
    return ExpertMatrix(pack_for_experts(parts, keep, on_bytes));
  }
  // Before the first run_experts() with them.
  // A copy of a packed matrix that is read faster, for results that need not be as exact; null: there is
  // none.
  virtual std::unique_ptr<Matrix> narrowed(const Matrix&) { return nullptr; }
  virtual void prepare(Experts&, const RoutingShape&) {}

  // out (T, K) = rows `ids` of the packed table (vocab, K); zeros for kNoRow.
  virtual void gather(const Matrix& table, std::span<const int32_t> ids, float* out) = 0;
  // out (T, N) = x (T, K) · Wᵀ.
  virtual void matmul(const Matrix& w, const float* x, int64_t rows, float* out) = 0;
  // out = x / rms(x) · weight, per row of `dim`; `weight` holds what multiplies (1 + w is baked in by the
  // loader).
  virtual void rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t dim,
                        float* out) = 0;
  // x += y (null: nothing), then out = rms_norm(x). A row that holds a NaN or an infinity, and has nothing in
  // marks.first yet, gets marks.place there; where only `out` holds one, place + 1.
  virtual void add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows,
                            int64_t dim, float* out, const FaultMarks& marks) = 0;
  // x (T, D) += bias (D), per row.
  virtual void add_bias(float* x, const float* bias, int64_t rows, int64_t width) = 0;
  // out (R, D) = the named rows of x (T, D); zeros for kNoRow.
  virtual void take_rows(const float* x, std::span<const int32_t> rows, int64_t width, float* out) = 0;
  // The named rows of `from`, `width` floats each, to their places in `to`; both with row strides.
  virtual void copy_rows(std::span<const RowCopy> rows, const float* from, int64_t from_stride, int64_t width,
                         float* to, int64_t to_stride) = 0;
  // out (T, C) = columns (C), on the device, of x (T, D); `missing` for kNoRow.
  virtual void take_columns(const float* x, int64_t rows, int64_t width, const int32_t* columns,
                            int64_t count, float missing, float* out) = 0;
  // out (T, F) = silu(gate_up[:, :F]) · gate_up[:, F:], gate_up (T, 2F).
  virtual void silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) = 0;
  // x (T, D) *= sigmoid(gate (T, D)); gate has row stride `gate_stride` floats.
  virtual void sigmoid_mul(float* x, const float* gate, int64_t gate_stride, int64_t rows, int64_t width) = 0;

  // out (T, D) += sigmoid(gate (T)) · y (T, D); null: all of y.
  virtual void add_gated(float* out, const float* y, const float* gate, int64_t rows, int64_t width) = 0;

  // The top_k experts of each row by its softmax over all of logits (T, experts), equal ones by lower index.
  virtual void route(const RoutingShape&, const float* logits, int64_t rows, const Routing&) = 0;
  // out (T, D) = Σ over the row's experts, in ascending order, of weight · down(silu(gate(x)) · up(x)), or as
  // Experts has it.
  virtual void run_experts(const Experts&, const RoutingShape&, const Routing&, const float* x, int64_t rows,
                           const ExpertWorkspace&, float* out) = 0;

  // cos, sin (T, F) of each row's position times each of the frequencies (F), times `factor`.
  virtual void rope_angles(std::span<const int32_t> positions, const float* frequencies, int64_t count,
                           float factor, float* cos, float* sin) = 0;
  // q (T, heads, head_dim) is normed and rotated in place. k (T, kv_heads, head_dim) is too, and goes with v
  // to the cache, to the segments' positions; what k holds afterwards is unspecified. All have row stride
  // `stride`. v may be k: values are then what keys were before. Without kv_heads, there is q alone.
  virtual void norm_rope_write(const AttentionShape&, std::span<const Segment>, const NormRope&, float* q,
                               float* k, const float* v, int64_t stride, const KvCache&) = 0;
  // out (T, heads, head_dim): attention of q over the cache, causal unless the rules say otherwise. KV is
  // split at fixed absolute positions.
  virtual void attention(const AttentionShape&, std::span<const Segment>, const float* q, int64_t q_stride,
                         const KvCache&, float* out, const ScoreRules& rules = {}) = 0;

  // Zeroes the slots' conv tail and S.
  virtual void gdn_reset(const GdnShape&, std::span<const int32_t> slots, const GdnState&) = 0;
  // Copies conv tails and S.
  virtual void gdn_copy(const GdnShape&, std::span<const StateCopy>, const GdnState&) = 0;
  // Causal depthwise conv + SiLU over qkv (T, channels), row stride `stride` floats, in place, carrying the
  // tail (the inputs of the last conv_kernel - 1 positions but drafts, oldest first) in state. weight:
  // (channels, conv_kernel).
  virtual void gdn_conv(const GdnShape&, std::span<const Segment>, const float* weight, float* qkv,
                        int64_t stride, const GdnState&) = 0;
  // Gated delta rule. qkv (T, [q k_heads·k_dim | k k_heads·k_dim | v v_heads·v_dim]) after the conv, row
  // stride `qkv_stride`, may be overwritten; beta_in, gate_in (T, v_heads), row stride `gate_stride`: raw b
  // and a projections; a_log, dt_bias (v_heads). out (T, v_heads, v_dim). L2-normalizes q and k (eps 1e-6
  // added to the sum of squares), scales q by 1/sqrt(k_dim). Positions below chunked_until: chunks of 64
  // that begin on multiples of 64 (segments respect these borders); others recurrently. `norm` comes last.
  virtual void gdn(const GdnShape&, std::span<const Segment>, const float* qkv, int64_t qkv_stride,
                   const float* beta_in, const float* gate_in, int64_t gate_stride, const float* a_log,
                   const float* dt_bias, const GdnState&, float* out, const GdnNorm& norm) = 0;

 private:
  virtual std::unique_ptr<Matrix> pack_for_experts(std::span<const MatrixPart> parts, DType keep,
                                                   const std::function<void(uint64_t)>& on_bytes) {
    return pack(parts, keep, on_bytes);
  }
};

struct CpuOptions {
  int threads = 0;           // 0: one per physical core in the affinity mask
  const char* isa = "auto";  // auto | float32 | portable | avx2 | avx512 | avx512bf16 | amx
  // Of several ranks on this machine, each takes its part of the cores.
  int rank = 0;
  int ranks = 1;
};
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions&);
// Instruction families this machine can run, best last; always begins with "portable".
std::vector<std::string> cpu_isas();

}  // namespace llmservice
