// Products on Hopper's warpgroup instructions, weights as their M operand at every number of rows: a token is
// a column of N = 8…128, so that its bits do not depend on its company. With few rows a block streams its
// share of the weights, bound by memory; with many it is bound by the tensor cores.
#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/swizzled_ring.h"
#include "backends/gpu/kernels/swizzled_tile.h"

namespace llmservice::gpu {

namespace {

// Accumulators that are read or written at a time: what is on its way takes registers.
template <int kTokens>
constexpr int kBatch = kTokens < 64 ? kTokens / 2 : 32;

// Of blocks of many tokens, which add to what is there: so many are read before the first is added.
constexpr int kManyReads = 16;

// Writes a batch of sums, those of `first_token` and after it, to `out`, or adds them to what is there.
template <int kCount>
__device__ void write(const Product& p, int64_t first_token, int32_t first_output, float (&sums)[kCount],
                      bool adds) {
  const int64_t first = first_token + lane_id() % 4 * 2;
  const int64_t tokens = p.rows - first;
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() / 4;
  const bool here[] = {output < p.outputs, output + 8 < p.outputs};
  const int64_t row = keep_here(p.stride);
  const auto each = [&](const auto& visit) {
    float* to = p.out + first * row + output;
#pragma unroll
    for (int i = 0; i < kCount; i += 4, to += 8 * row) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (i * 2 + j % 2 < tokens && here[j / 2]) visit(to[j % 2 * row + j / 2 * 8], i + j);
      }
    }
  };
  if (adds) {
    if constexpr (kCount == kManyReads) {
      float before[kCount] = {};
      each([&](const float& out, int i) { before[i] = out; });
#pragma unroll
      for (int i = 0; i < kCount; ++i) sums[i] = before[i] + sums[i];
    } else {
      each([&](const float& out, int i) { sums[i] = out + sums[i]; });
    }
  }
  each([&](float& out, int i) { out = sums[i]; });
}

template <DType dtype, int kTokens>
__device__ void write(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile,
                      bool adds) {
  constexpr int kCount = kTokens < 128 ? kBatch<kTokens> : kManyReads;
  const int64_t first_token = int64_t{piece.token_block} * kTokens;
#pragma unroll
  for (int at = 0; at < kTokens / 2; at += kCount) {
    float batch[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) batch[i] = tile.sum(at + i);
    write(p, first_token + at * 2, first_output, batch, adds);
  }
}

// Whether all of a warpgroup's outputs of all tokens exist, in rows that lie on 16 bytes.
template <int kTokens>
__device__ bool is_full(const Product& p, const Piece& piece, int32_t first_output) {
  return (int64_t{piece.token_block} + 1) * kTokens <= p.rows && first_output + kTileRows <= p.outputs &&
         p.stride % 4 == 0 && reinterpret_cast<uintptr_t>(p.out) % 16 == 0;
}

// Ends a slice of a full tile: adds the sums of the slices before (`adds`), and keeps the sums for the slice
// after (`keeps`) or writes them out. They are kept where the warp's outputs will be, four of a lane side by
// side rather than as outputs lie, which takes a quarter of the accesses.
template <DType dtype, int kTokens>
__device__ void carry(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile,
                      bool adds, bool keeps) {
  constexpr int kFours = kBatch<kTokens> / 4;
  const int64_t first_token = int64_t{piece.token_block} * kTokens + lane_id() / 4;
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() % 4 * 4;
  const int64_t step = keep_here(int64_t{p.stride} * 8);
  float* const kept = p.out + first_token * p.stride + output;
  if (adds) {
#pragma unroll
    for (int at = 0; at < kTokens / 8; at += kFours) {
      // All of a batch are read before the first is added, so that many reads are under way.
      float4 before[kFours];
#pragma unroll
      for (int i = 0; i < kFours; ++i) before[i] = *reinterpret_cast<const float4*>(kept + (at + i) * step);
#pragma unroll
      for (int i = 0; i < kFours; ++i) {
        const float values[] = {before[i].x, before[i].y, before[i].z, before[i].w};
#pragma unroll
        for (int j = 0; j < 4; ++j) tile.sum((at + i) * 4 + j) += values[j];
      }
    }
  }
  if (keeps) {
#pragma unroll
    for (int i = 0; i < kTokens / 8; ++i) {
      *reinterpret_cast<float4*>(kept + i * step) = {tile.sum(i * 4), tile.sum(i * 4 + 1),
                                                     tile.sum(i * 4 + 2), tile.sum(i * 4 + 3)};
    }
    return;
  }
  sync_warp();  // other lanes' sums were kept where this one's outputs go
  write(p, piece, first_output, tile, false);
}

// Where the sums of a slice of a pair's K lie in the workspace, for this lane: four, then those of the other
// lanes, and so on.
template <int kTokens>
__device__ float* partial_sums(const Product& p, const Piece& piece, int32_t slice) {
  const int32_t first_pair = slice * p.slices.length / p.slices.k_tiles;
  const int64_t slot =
      2 * (int64_t{piece.token_block} * p.slices.count + slice) + (first_pair == piece.pair ? 0 : 1);
  return p.partial + (slot * kConsumers + warp_id()) * kTokens * 16 + lane_id() * 4;
}

// Leaves a warp's sums of its part of K in the workspace. The last warp to come adds all parts up, in the
// order of K, and writes them out.
template <DType dtype, int kTokens>
__device__ void join(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile) {
  const int32_t first = p.slices.first_of(piece.pair);
  const int32_t last = p.slices.last_of(piece.pair);
  const int32_t own = (piece.pair * p.slices.k_tiles + piece.begin) / p.slices.length;
  float* const mine = partial_sums<kTokens>(p, piece, own);
#pragma unroll
  for (int i = 0; i < kTokens / 2; i += 4) {
    *reinterpret_cast<float4*>(mine + i * kWarpSize) = {tile.sum(i), tile.sum(i + 1), tile.sum(i + 2),
                                                        tile.sum(i + 3)};
  }
  sync_warp();
  int32_t* const counter = p.counters + (piece.token_block * p.slices.count + first) * kConsumers + warp_id();
  const int32_t before = lane_id() == 0 ? count_in_order(counter) : 0;
  if (shuffle(before, 0) != last - first) return;
  sync_warp();  // what lane 0 may now read of the others' sums, all lanes may
  if (lane_id() == 0) *counter = 0;
  constexpr int kCount = kBatch<kTokens>;
  // Sums of so many slices are read at once: each comes from L2, and one after the other they would take
  // longer than the product of a few rows.
  constexpr int kAtOnce = 32 / kCount;
#pragma unroll 1
  for (int at = 0; at < kTokens / 2; at += kCount) {
    float sums[kCount];
#pragma unroll 1
    for (int32_t slice = first; slice <= last; slice += kAtOnce) {
      float4 parts[kAtOnce][kCount / 4];
#pragma unroll
      for (int s = 0; s < kAtOnce; ++s) {
        if (slice + s > last) break;
        const float* const from = partial_sums<kTokens>(p, piece, slice + s) + at * kWarpSize;
#pragma unroll
        for (int i = 0; i < kCount / 4; ++i) {
          parts[s][i] = *reinterpret_cast<const float4*>(from + 4 * i * kWarpSize);
        }
      }
#pragma unroll
      for (int s = 0; s < kAtOnce; ++s) {
        if (slice + s > last) break;
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
          const float4& four = parts[s][i / 4];
          const float values[] = {four.x, four.y, four.z, four.w};
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            sums[i + j] = slice + s == first ? values[j] : sums[i + j] + values[j];
          }
        }
      }
    }
    write(p, int64_t{piece.token_block} * kTokens + at * 2, first_output, sums, false);
  }
}

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

// Blocks of more tokens walk all K: join() with so many accumulators would make the loop spill some.
[[maybe_unused]] constexpr int kMaxSplitTokens = 128;

// A warpgroup, on the tiles of one side of its pairs.
template <DType dtype, int kTokens>
__device__ void consume(const Product& p) {
  const int side = warp_id() / 4;
  Ring<dtype, kTokens> ring(p);
  Tile<dtype, kTokens> tile;
  // With few tokens memory is what is waited for.
  Turns<(kTokens >= 128)> turns(ring.turns(), side);
  Piece piece;
  for (int32_t n = 0; p.shares.piece(p.slices, n, &piece); ++n) {
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
      p.shares.piece(p.slices, static_cast<int32_t>(keep_here(n)), &piece);
      const bool adds = p.slices.cut_after(piece.pair, piece.begin) < k;
      if (first_output >= p.outputs) continue;
      bool whole = true;
      if constexpr (kTokens <= kMaxSplitTokens) whole = piece.begin == 0 && piece.end == p.slices.k_tiles;
      if (!whole) {
        join(p, piece, first_output, tile);
      } else if (kTokens >= 128 && is_full<kTokens>(p, piece, first_output)) {
        carry(p, piece, first_output, tile, adds, k < piece.end);
      } else {
        write(p, piece, first_output, tile, adds);
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

Activations activations_for(const DeviceMatrix& matrix, const SwizzledShape& shape, std::byte* workspace) {
  return {layout_of(matrix, shape.tokens), workspace + kCounterBytes};
}

Launch multiply_in(const DeviceMatrix& matrix, const SwizzledShape& shape, int64_t rows, std::byte* workspace,
                   float* out) {
  const Slices slices = cut_matrix(matrix);
  std::byte* const activations = activations_for(matrix, shape, workspace).records;
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
      .counters = reinterpret_cast<int32_t*>(workspace),
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

int64_t swizzled_workspace(const DeviceMatrix& matrix, int64_t rows) {
  const Slices slices = cut_matrix(matrix);
  const int64_t split = max_split_rows(matrix, slices);
  const int64_t tokens = divide_up(rows < split ? rows : split, 256) * 256;
  const int64_t sums = slices.count * 2 * int64_t{2 * kTileRows} * tokens;
  return activation_room(matrix, rows) + sums * static_cast<int64_t>(sizeof(float));
}

Activations swizzled_activations(const DeviceMatrix& matrix, int64_t rows, std::byte* workspace) {
  return activations_for(matrix, shape_for(matrix, rows), workspace);
}

Launch swizzled_multiply(const DeviceMatrix& matrix, int64_t rows, std::byte* workspace, float* out,
                         int32_t resident) {
  SwizzledShape shape = shape_for(matrix, rows);
  shape.resident = resident;
  return multiply_in(matrix, shape, rows, workspace, out);
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
                         std::byte* workspace, float* out) {
  return {quantize(activations_for(matrix, shape, workspace), x, rows),
          multiply_in(matrix, shape, rows, workspace, out)};
}

}  // namespace llmservice::gpu
