// Products on Hopper's warpgroup instructions, weights as their M operand at every number of rows: a token is
// a column of N = 8…128, so that its bits do not depend on its company. With few rows a block streams its
// share of the weights, bound by memory; with many it is bound by the tensor cores.
#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/swizzled_sums.h"

namespace llmservice::gpu {

namespace {

// Scales of this thread's two outputs, in a unit.
template <DType dtype>
__device__ float2 weight_scales(const Product& p, int32_t k, int32_t first_output) {
  if constexpr (dtype != DType::kF8E4M3) return {1, 1};
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() / 4;
  const int32_t last = p.outputs - 1;
  const float* const scales = p.scales + int64_t{k} * p.scale_stride;
  return {scales[(output < last ? output : last) >> p.scale_shift],
          scales[(output + 8 < last ? output + 8 : last) >> p.scale_shift]};
}

// A warpgroup, on the tiles of one side of its pairs.
template <DType dtype, int kTokens>
__device__ void consume(const Product& p) {
  const int side = warp_id() / 4;
  Ring<dtype, kTokens> ring(p);
  Tile<dtype, kTokens> tile;
  // With few tokens memory is what is waited for.
  Turns<(kTokens >= 128)> turns(ring.turns(), side);
  Piece piece;
  for (int32_t n = 0; p.shares.template piece<kWalksAll<kTokens>>(p.slices, n, &piece); ++n) {
    const int32_t first_output = (2 * piece.pair + side) * kTileRows;
    for (int32_t k = piece.begin; k < piece.end;) {
      const int32_t cut = p.slices.cut_after(piece.pair, k);
      const int32_t end = cut < piece.end ? cut : piece.end;
      tile.clear();
      float2 next = weight_scales<dtype>(p, k, first_output);
      for (; k < end; ++k, ring.advance()) {
        const float2 scales = next;
        if (k + 1 < end) next = weight_scales<dtype>(p, k + 1, first_output);
        wait_phase(ring.full(ring.at), ring.phase);
        tile.add(ring.weights(side), ring.activations(), scales.x, scales.y,
                 kTokens >= 128 && p.scale_shift != 0, turns);
        sync_warp();
        if (lane_id() == 0) arrive(ring.empty(ring.at));
      }
      // Found again, rather than held in registers over all of K.
      p.shares.template piece<kWalksAll<kTokens>>(p.slices, static_cast<int32_t>(keep_here(n)), &piece);
      const bool adds = p.slices.cut_after(piece.pair, piece.begin) < k;
      if (first_output >= p.outputs) continue;
      bool whole = true;
      if constexpr (!kWalksAll<kTokens>) whole = piece.begin == 0 && piece.end == p.slices.k_tiles;
      if (!whole) {
        join(p, piece, first_output, tile);
      } else {
        float* const carried = carried_sums<kTokens>(p);
        if (adds) add_carried(tile, carried);
        if (k < piece.end) {
          carry(tile, carried);
        } else {
          write(p, piece, first_output, tile);
        }
      }
    }
  }
}

template <DType dtype, int kTokens>
__global__ void __launch_bounds__((Ring<dtype, kTokens>::kThreads), 1) product_kernel(const Product p) {
  if constexpr (kRunsWgmma) {
    Ring<dtype, kTokens> ring(p);
    if (threadIdx.x == 0) {
      for (int i = 0; i < ring.count(); ++i) {
        init_barrier(ring.full(i), 1);
        init_barrier(ring.empty(i), kConsumers);
      }
      for (int i = 0; i < 2; ++i) init_barrier(ring.turns() + i, kConsumers / 2);
      publish_barriers();
    }
    sync_block();
    let_next_start();
    if (warp_id() >= kConsumers) {
      if constexpr (Ring<dtype, kTokens>::kTradesRegisters) give_registers<40>();
      if (warp_id() == kConsumers && lane_id() == 0) produce<dtype, kTokens>(p);
    } else {
      if constexpr (Ring<dtype, kTokens>::kTradesRegisters) take_registers<232>();
      wait_for_previous();
      consume<dtype, kTokens>(p);
    }
  }
}

// With more rows, sums of slices would take more memory than those of so many rows of a matrix whose slices
// occupy every multiprocessor.
int64_t max_split_rows(const DeviceMatrix& matrix, const Slices& slices) {
  return int64_t{1024} * matrix.multiprocessors / slices.count;
}

// By the time that blocks take one after the other, in cycles of a multiprocessor: its tensor cores need four
// for each token of a unit, memory as many as for some hundred tokens.
SwizzledShape shape_for(const DeviceMatrix& matrix, int64_t rows) {
  const Slices slices = cut_matrix(matrix);
  const int32_t multiprocessors = matrix.multiprocessors;
  for (const int32_t tokens : {8, 16, 32, 64, 128}) {
    if (rows <= tokens) return {tokens, false};
  }
  constexpr int64_t kEnds = 8;  // units' worth of time that the end of a piece takes
  SwizzledShape best{};
  int64_t least = INT64_MAX;
  for (const SwizzledShape shape : {SwizzledShape{256, true}, {128, true}, {128, false}}) {
    const int64_t blocks = divide_up(rows, shape.tokens);
    if (!shape.whole && rows > max_split_rows(matrix, slices)) continue;
    const int64_t pieces = shape.whole ? divide_up(slices.pairs * blocks, multiprocessors)
                                       : divide_up(slices.count * blocks, multiprocessors);
    const int64_t units = (shape.whole ? slices.k_tiles : slices.length) + kEnds;
    const int64_t time = pieces * units * (shape.tokens + 16);
    if (time < least) best = shape;
    if (time < least) least = time;
  }
  return best;
}

// Two blocks of more would want more registers than there are.
constexpr int kMaxSharingTokens = 16;

template <DType dtype>
Launch launch_of(Product p, int32_t tokens, uint32_t blocks, int32_t resident) {
  const auto with = [&]<int kTokens>(std::integral_constant<int, kTokens>) {
    using OwnRing = Ring<dtype, kTokens>;
    p.stages = kTokens > kMaxSharingTokens ? OwnRing::kStages : OwnRing::stages_of(resident);
    return make_launch("matmul", product_kernel<dtype, kTokens>, {blocks}, OwnRing::kThreads,
                       OwnRing::bytes_of(p.stages), p);
  };
  switch (tokens) {
    case 8:
      return with(std::integral_constant<int, 8>{});
    case 16:
      return with(std::integral_constant<int, 16>{});
    case 32:
      return with(std::integral_constant<int, 32>{});
    case 64:
      return with(std::integral_constant<int, 64>{});
    case 128:
      return with(std::integral_constant<int, 128>{});
    default:
      return with(std::integral_constant<int, 256>{});
  }
}

ActivationLayout layout_of(const DeviceMatrix& matrix, int32_t tokens) {
  return {TileOrder::kSwizzled, matrix.dtype, tokens, matrix.cols};
}

// Largest of all products with up to `rows` rows: blocks of fewer tokens need no more room than those of 256.
int64_t activation_room(const DeviceMatrix& matrix, int64_t rows) {
  return divide_up(activation_bytes(layout_of(matrix, 256), rows), 256) * 256;
}

Activations activations_for(const DeviceMatrix& matrix, const SwizzledShape& shape, const ProductRoom& room) {
  return {layout_of(matrix, shape.tokens), room.own};
}

Launch multiply_in(const DeviceMatrix& matrix, const SwizzledShape& shape, int64_t rows,
                   const ProductRoom& room, float* out) {
  const Slices slices = cut_matrix(matrix);
  std::byte* const activations = activations_for(matrix, shape, room).records;
  const auto token_blocks = static_cast<int32_t>(divide_up(rows, shape.tokens));
  const Product product{
      .tiles = matrix.tiles,
      .scales = matrix.scales,
      .scale_stride = static_cast<int32_t>(divide_up(matrix.rows, matrix.scale_rows)),
      .scale_shift = matrix.scale_rows == 1 ? 0 : 6,
      .outputs = matrix.rows,
      .stride = matrix.stride,
      .slices = slices,
      .shares = {.token_blocks = token_blocks, .whole = shape.whole},
      .activations = activations,
      .rows = rows,
      .partial = reinterpret_cast<float*>(activations + activation_room(matrix, rows)),
      .counters = reinterpret_cast<int32_t*>(room.counters),
      .out = out,
      .stages = 0,
      .ahead = {},
  };
  const int32_t pairs = slices.pairs * token_blocks;
  const int32_t blocks = !shape.whole                     ? slices.count * token_blocks
                         : pairs < matrix.multiprocessors ? pairs
                                                          : matrix.multiprocessors;
  const auto launch = matrix.dtype == DType::kF8E4M3 ? launch_of<DType::kF8E4M3>
                      : matrix.dtype == DType::kBF16 ? launch_of<DType::kBF16>
                                                     : launch_of<DType::kF16>;
  return launch(product, shape.tokens, blocks, shape.resident);
}

}  // namespace

// Where slices are cut within pairs, those that occupy every multiprocessor have room for the sums that
// blocks carry, 128 KiB each: there are as many as half of the multiprocessors and half of the pairs at
// least.
int64_t swizzled_workspace(const DeviceMatrix& matrix, int64_t rows) {
  const Slices slices = cut_matrix(matrix);
  const int64_t split = max_split_rows(matrix, slices);
  const int64_t tokens = divide_up(rows < split ? rows : split, 256) * 256;
  const int64_t sums = slices.count * 2 * int64_t{2 * kTileRows} * tokens;
  return activation_room(matrix, rows) + sums * static_cast<int64_t>(sizeof(float));
}

Activations swizzled_activations(const DeviceMatrix& matrix, int64_t rows, const ProductRoom& room) {
  return activations_for(matrix, shape_for(matrix, rows), room);
}

Launch swizzled_multiply(const DeviceMatrix& matrix, int64_t rows, const ProductRoom& room, float* out,
                         int32_t resident) {
  SwizzledShape shape = shape_for(matrix, rows);
  shape.resident = resident;
  return multiply_in(matrix, shape, rows, room, out);
}

int64_t swizzled_read_ahead(Launch& product, const DeviceMatrix& next, int64_t bytes) {
  constexpr int64_t kUnit = 2 * kTileSize;
  Product p = product.argument<Product>(0);
  const Slices slices = cut_matrix(next);
  const int64_t fit = bytes / (kUnit * slices.count);
  const auto units = static_cast<int32_t>(fit < slices.length ? fit : slices.length);
  for (Ahead& ahead : p.ahead) {
    if (ahead.units > 0) continue;
    ahead = {next.tiles, slices, next.rows, units};
    product.count = 0;
    product.used = 0;
    product.add_argument(p);
    return units * slices.count * kUnit;
  }
  return 0;
}

Launches swizzled_matmul(const DeviceMatrix& matrix, const SwizzledShape& shape, const float* x, int64_t rows,
                         const ProductRoom& room, float* out) {
  return {quantize(activations_for(matrix, shape, room), x, rows),
          multiply_in(matrix, shape, rows, room, out)};
}

}  // namespace llmservice::gpu
