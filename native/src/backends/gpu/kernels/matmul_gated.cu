// Products of prompts with [gate F | up F] in FP8 on Hopper's warpgroup instructions, and in the same launch
// what the product behind them reads: silu(gate) · up in FP8. Neither sum goes to memory. Bits are those of a
// product, silu_mul() and quantize(): sums of K are cut where matmul_swizzled.cu cuts them.
#include "backends/gpu/kernels/gated_block.h"
#include "backends/gpu/kernels/matmul_gated.h"

namespace llmservice::gpu {
namespace {

// A warpgroup, on one tile of gate's pairs and one of up's.
[[maybe_unused]] __device__ __forceinline__ void consume_gated(const GatedProduct& p) {
  const int side = warp_id() / 4;
  GatedRing ring(GatedRing::kStages);
  GatedTile gate;
  GatedTile up;
  Turns<true> turns(ring.turns(), side);
  Meeting meeting(meeting_barrier(ring));
  const int32_t k_tiles = p.slices.k_tiles;
  Piece piece;
  for (int32_t n = 0; p.piece(n, &piece); ++n) {
    gate.clear();
    up.clear();
    const float* const scales = p.scales + 2 * piece.pair + side;
    float next_gate = scales[0];
    float next_up = scales[2 * p.pairs];
    for (int32_t k = 0; k < k_tiles;) {
      const int32_t gate_cut = p.slices.cut_after(piece.pair, k);
      const int32_t up_cut = p.slices.cut_after(piece.pair + p.pairs, k);
      const int32_t cut = gate_cut < up_cut ? gate_cut : up_cut;
      const int32_t end = cut < k_tiles ? cut : k_tiles;
      for (; k < end; ++k, ring.advance()) {
        const float gate_scale = next_gate;
        const float up_scale = next_up;
        if (k + 1 < k_tiles) {
          next_gate = scales[int64_t{k + 1} * p.scale_stride];
          next_up = scales[int64_t{k + 1} * p.scale_stride + 2 * p.pairs];
        }
        wait_phase(ring.full(ring.at), ring.phase);
        gate.add(ring.weights(side), ring.activations(), gate_scale, gate_scale, true, turns);
        up.add(ring.weights(2 + side), ring.activations(), up_scale, up_scale, true, turns);
        sync_warp();
        if (lane_id() == 0) arrive(ring.empty(ring.at));
      }
      // Found again, rather than held in registers over all of K.
      p.piece(static_cast<int32_t>(keep_here(n)), &piece);
      float* const gate_sums =
          p.carried + int64_t{blockIdx.x * 2 * kConsumers + warp_id()} * kCarriedFloats<kGatedTokens> +
          lane_id() * 4;
      float* const up_sums = gate_sums + kConsumers * kCarriedFloats<kGatedTokens>;
      const bool gate_adds = p.slices.cut_after(piece.pair, 0) < k;
      const bool up_adds = p.slices.cut_after(piece.pair + p.pairs, 0) < k;
      if (gate_adds && (k == gate_cut || k == k_tiles)) add_carried(gate, gate_sums);
      if (up_adds && (k == up_cut || k == k_tiles)) add_carried(up, up_sums);
      if (k == k_tiles) continue;
      if (k == gate_cut) {
        carry(gate, gate_sums);
        gate.clear();
      }
      if (k == up_cut) {
        carry(up, up_sums);
        up.clear();
      }
    }
#pragma unroll
    for (int i = 0; i < kGatedTokens / 2; ++i) up.sum(i) *= Silu::of(gate.sum(i));
    write_gated(p, piece, up, gated_room(ring), meeting);
  }
}

__global__ void __launch_bounds__(GatedRing::kThreads, 1) gated_product_kernel(const GatedProduct p) {
  if constexpr (kRunsWgmma) {
    GatedRing ring(GatedRing::kStages);
    if (threadIdx.x == 0) {
      for (int i = 0; i < ring.count(); ++i) {
        init_barrier(ring.full(i), 1);
        init_barrier(ring.empty(i), kConsumers);
      }
      for (int i = 0; i < 2; ++i) init_barrier(ring.turns() + i, kConsumers / 2);
      init_barrier(meeting_barrier(ring), kConsumers);
      publish_barriers();
    }
    sync_block();
    let_next_start();
    if (warp_id() >= kConsumers) {
      give_registers<40>();
      if (warp_id() == kConsumers && lane_id() == 0) produce_gated(p);
    } else {
      take_registers<232>();
      wait_for_previous();
      consume_gated(p);
    }
  }
}

// By fewer pieces a multiprocessor the last ones, or those without one, idle for longer than the launches
// that are saved take.
constexpr int64_t kFewestPieces = 2;

bool is_gated(const DeviceMatrix& gate_up, const DeviceMatrix& down, int64_t rows) {
  const auto fits = [](const DeviceMatrix& w) {
    return w.order == TileOrder::kSwizzled && w.dtype == kGatedType;
  };
  const int64_t width = gate_up.rows / 2;
  return fits(gate_up) && fits(down) && gate_up.scale_rows == kTileRows && gate_up.stride == gate_up.rows &&
         down.cols == width && width % kScaleColumns == 0 && rows > kGatedTokens &&
         width / kScaleColumns * divide_up(rows, kGatedTokens) >= kFewestPieces * gate_up.multiprocessors;
}

}  // namespace

std::optional<GatedMultiply> multiply_gated(const DeviceMatrix& gate_up, const DeviceMatrix& down,
                                            int64_t rows, std::byte* workspace) {
  if (!is_gated(gate_up, down, rows)) return std::nullopt;
  const ProductRoom room(workspace);
  const Activations to = activations_of(down, rows, room);
  if (to.layout.block_rows % kGatedTokens != 0) return std::nullopt;
  const ActivationLayout layout{TileOrder::kSwizzled, kGatedType, kGatedTokens, gate_up.cols};
  const Activations from{layout, room.behind(kCounterBytes + activation_bytes(to.layout, rows)).own};
  const ProductRoom behind = room.behind(from.records + activation_bytes(layout, rows) - room.counters);
  const auto token_blocks = static_cast<int32_t>(divide_up(rows, kGatedTokens));
  const int32_t pairs = gate_up.rows / 2 / kScaleColumns;
  const GatedProduct product{
      .tiles = gate_up.tiles,
      .scales = gate_up.scales,
      .scale_stride = gate_up.rows / kTileRows,
      .pairs = pairs,
      .slices = cut_matrix(gate_up),
      .token_blocks = token_blocks,
      .activations = from.records,
      .carried = reinterpret_cast<float*>(behind.own),
      .out = records_of(to),
  };
  const auto blocks = static_cast<uint32_t>(gate_up.multiprocessors);
  const int64_t carried = int64_t{blocks} * 2 * kConsumers * kCarriedFloats<kGatedTokens> * sizeof(float);
  return GatedMultiply{.from = from,
                       .to = to,
                       .launch = make_launch("matmul_gated", gated_product_kernel, {blocks},
                                             GatedRing::kThreads, kGatedShared, product),
                       .bytes = behind.own - workspace + carried};
}

}  // namespace llmservice::gpu
