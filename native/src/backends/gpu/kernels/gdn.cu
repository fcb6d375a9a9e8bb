// Plans the gated delta rule: chunks first, then what runs recurrently behind them.
#include <string>

#include "backends/gpu/kernels/gdn_kernels.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/vectors.h"

namespace llmservice::gpu {
namespace {

constexpr int kThreads = 256;

// Norms the rows of a chunk, a warp each. Grid (runs of 64 rows, v_heads).
__global__ void __launch_bounds__(kThreads) norm_chunks_kernel(GdnArguments a) {
  wait_for_previous();
  let_next_start();
  const int32_t first =
      find_tile<kGdnChunk>(a.segments, a.segment_count, static_cast<int32_t>(blockIdx.x), 0, true).row;
  if (first == kNoRow) return;
  const auto v_head = static_cast<int>(blockIdx.y);
#pragma unroll 2
  for (int i = warp_id(); i < kGdnChunk; i += kThreads / kWarpSize) {
    write_output(a, first + i, v_head, 0, a.out_of(first + i, v_head));
  }
}

bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % sizeof(Float4) == 0; }

[[noreturn]] void refuse(const std::string& what) {
  throw EngineError(FailureReason::kUnsupportedArchitecture,
                    "Gated DeltaNet with " + what + " is not supported.");
}

GdnArguments arguments_of(const GdnShape& shape, const StepSegments& step, const float* qkv,
                          int64_t qkv_stride, const float* beta_in, const float* gate_in, int64_t gate_stride,
                          const float* a_log, const float* dt_bias, const GdnState& state, float* workspace,
                          float* out, const GdnNorm& norm) {
  if (shape.k_dim > kGdnDepth) refuse("heads of " + std::to_string(shape.k_dim) + " keys");
  if (norm.weight != nullptr && shape.v_dim > kGdnNormWidth) {
    refuse("a norm over heads of " + std::to_string(shape.v_dim) + " values");
  }
  const bool whole = shape.k_dim % 4 == 0 && shape.v_dim % 4 == 0 && qkv_stride % 4 == 0 && is_aligned(qkv) &&
                     is_aligned(state.s);
  return {.segments = step.segments,
          .qkv = qkv,
          .qkv_stride = qkv_stride,
          .beta = beta_in,
          .gate = gate_in,
          .gate_stride = gate_stride,
          .a_log = a_log,
          .dt_bias = dt_bias,
          .s = state.s,
          .workspace = workspace,
          .out = out,
          .z = norm.z,
          .z_stride = norm.stride,
          .norm_weight = norm.weight,
          .norm_eps = norm.eps,
          .segment_count = step.count,
          .k_heads = shape.k_heads,
          .v_heads = shape.v_heads,
          .k_dim = shape.k_dim,
          .v_dim = shape.v_dim,
          .tiled = shape.tiled ? 1 : 0,
          .whole = whole ? 1 : 0};
}

}  // namespace

int64_t gdn_workspace(const GdnShape& shape, int64_t rows) {
  return rows / kGdnChunk * shape.v_heads * kGdnChunkFloats;
}

Launches gdn(const GdnShape& shape, const StepSegments& step, int64_t rows, const float* qkv,
             int64_t qkv_stride, const float* beta_in, const float* gate_in, int64_t gate_stride,
             const float* a_log, const float* dt_bias, const GdnState& state, float* workspace, float* out,
             const GdnNorm& norm) {
  const GdnArguments a = arguments_of(shape, step, qkv, qkv_stride, beta_in, gate_in, gate_stride, a_log,
                                      dt_bias, state, workspace, out, norm);
  Launches launches;
  if (step.max_rows >= kGdnChunk && rows >= kGdnChunk) {
    launches.push_back(gdn_prepare_chunks(a, rows));
    launches.push_back(gdn_scan_chunks(a));
    if (norm.weight != nullptr) {
      const Grid grid = {static_cast<uint32_t>(rows / kGdnChunk), static_cast<uint32_t>(a.v_heads)};
      launches.push_back(make_launch("gdn_norm", norm_chunks_kernel, grid, kThreads, 0, a));
    }
  }
  launches.push_back(gdn_recurrent(a));
  return launches;
}

std::optional<Launch> gdn_step(const GdnShape& shape, const StepSegments& step, const GdnConvolution& conv,
                               const float* qkv, int64_t qkv_stride, const float* beta_in,
                               const float* gate_in, int64_t gate_stride, const float* a_log,
                               const float* dt_bias, const GdnState& state, float* out, const GdnNorm& norm,
                               const Activations* to) {
  const GdnArguments a = arguments_of(shape, step, qkv, qkv_stride, beta_in, gate_in, gate_stride, a_log,
                                      dt_bias, state, nullptr, out, norm);
  const bool takes = a.whole != 0 && shape.k_dim == kGdnDepth && shape.v_dim == kGdnNormWidth &&
                     shape.conv_kernel == 4 && is_aligned(conv.weight);
  if (!takes || step.max_rows >= kGdnChunk) return std::nullopt;
  return gdn_step_rows(a, conv, to);
}

}  // namespace llmservice::gpu
