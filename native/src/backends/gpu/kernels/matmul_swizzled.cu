// Products on Hopper's warpgroup instructions, weights as their M operand at every number of rows: a token is
// a column of N = 8…128, so that its bits do not depend on its company. With few rows a block streams its
// share of the weights, bound by memory; with many it is bound by the tensor cores.
#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/swizzled_plan.h"
#include "backends/gpu/kernels/swizzled_tile.h"

namespace llmservice::gpu {

#if LLMSERVICE_HAS_WGMMA

namespace {

constexpr int kConsumers = 8;  // warps: a warpgroup for each tile of a pair. One more warp brings the data
constexpr int kSharedBytes = 226 << 10;
constexpr int kMostStages = 12;

struct Product {
  const std::byte* tiles;
  const float* scales;   // null where weights have none
  int32_t scale_stride;  // floats from one K block to the next
  int32_t scale_rows;
  int32_t outputs;  // N
  Slices slices;
  bool whole;
  const std::byte* activations;
  int64_t rows;  // T
  int32_t token_blocks;
  float* partial;     // (token_blocks, slices, 2): sums of a slice's first and last pair, as accumulators lie
  int32_t* counters;  // (token_blocks, slices, kConsumers)
  float* out;         // (T, N)
};

// What a block of `kTokens` tokens is made of, and keeps in shared memory: stages of a ring, each a unit's
// two tiles of weights and its record of activations.
template <DType dtype, int kTokens>
struct Ring {
  // With many tokens, the warp that brings the data is the first of a warpgroup which leaves its registers to
  // the others. With few, registers stay free for the launch after, which may then begin.
  static constexpr bool kTradesRegisters = kTokens > 64;
  static constexpr uint32_t kThreads = (kConsumers + (kTradesRegisters ? 4 : 1)) * kWarpSize;
  static constexpr int kRecord = kTokens * (kTileBytes + (dtype == DType::kF8E4M3 ? 4 : 0));
  static constexpr int kStage = (2 * kTileSize + kRecord + 1023) / 1024 * 1024;
  static constexpr int kFit = (kSharedBytes - 2048) / kStage;
  static constexpr int kStages = kFit < kMostStages ? kFit : kMostStages;
  static constexpr int kBytes = kStages * kStage + 2048;  // with barriers, and what alignment takes

  std::byte* stages;
  uint64_t* full;
  uint64_t* empty;
  int at = 0;
  uint32_t phase = 0;

  __device__ Ring() {
    stages = align_tiles(dynamic_shared<std::byte>());
    full = reinterpret_cast<uint64_t*>(stages + kStages * kStage);
    empty = full + kStages;
  }
  __device__ std::byte* weights(int tile) const { return stages + at * kStage + tile * kTileSize; }
  __device__ std::byte* activations() const { return stages + at * kStage + 2 * kTileSize; }
  __device__ void advance() {
    if (++at < kStages) return;
    at = 0;
    phase ^= 1;
  }
};

// Units one after the other.
struct Units {
  Walk walk;
  Piece piece{};
  int32_t k = 0;

  __device__ explicit Units(const Product& p) : walk(p.slices, p.token_blocks, p.whole) {}
  __device__ bool next() {
    if (++k < piece.end) return true;
    if (!walk.next(&piece)) return false;
    k = piece.begin;
    return true;
  }
};

template <DType dtype, int kTokens>
__device__ void bring_weights(const Product& p, const Units& unit, const Ring<dtype, kTokens>& ring) {
  const int32_t first = 2 * unit.piece.pair;
  const int tiles = (first + 1) * kTileRows < p.outputs ? 2 : 1;
  expect_bytes(&ring.full[ring.at], tiles * kTileSize + Ring<dtype, kTokens>::kRecord);
  for (int i = 0; i < tiles; ++i) {
    const int64_t tile = int64_t{first + i} * p.slices.k_tiles + unit.k;
    copy_bulk(ring.weights(i), p.tiles + tile * kTileSize, kTileSize, &ring.full[ring.at]);
  }
  if constexpr (dtype == DType::kF8E4M3) {
    // Consumers read scales only one unit ahead.
    const float* const scales =
        p.scales + int64_t{unit.k} * p.scale_stride + first * kTileRows / p.scale_rows;
    for (int i = 0; i < tiles * kTileRows / p.scale_rows; i += 32) prefetch(scales + i);
  }
}

template <DType dtype, int kTokens>
__device__ void bring_activations(const Product& p, const Units& unit, const Ring<dtype, kTokens>& ring) {
  constexpr int kRecord = Ring<dtype, kTokens>::kRecord;
  const int64_t record = int64_t{unit.piece.token_block} * p.slices.k_tiles + unit.k;
  copy_bulk(ring.activations(), p.activations + record * kRecord, kRecord, &ring.full[ring.at]);
}

// One thread. Weights are on their way before the launch before has ended, activations only after.
template <DType dtype, int kTokens>
__device__ void produce(const Product& p) {
  Ring<dtype, kTokens> early;
  Ring<dtype, kTokens> ring;
  Units early_unit(p);
  Units unit(p);
  int filled = 0;
  for (; filled < ring.kStages && early_unit.next(); ++filled, early.advance()) {
    bring_weights(p, early_unit, early);
  }
  wait_for_previous();
  for (int i = 0; i < filled; ++i, ring.advance()) {
    unit.next();
    bring_activations(p, unit, ring);
  }
  // `ring` is where it began, a phase later: a stage is free once the phase before is over.
  for (; unit.next(); ring.advance()) {
    wait_phase(&ring.empty[ring.at], ring.phase ^ 1);
    bring_weights(p, unit, ring);
    bring_activations(p, unit, ring);
  }
}

// Writes sums to `out`, or adds them to what is there.
template <DType dtype, int kTokens>
__device__ void write(const Product& p, const Piece& piece, int32_t first_output, Tile<dtype, kTokens>& tile,
                      bool adds) {
  const int64_t first = int64_t{piece.token_block} * kTokens;
  const int64_t tokens = p.rows - first;
  const int32_t outputs = p.outputs - first_output;
  float* const out = p.out + first * p.outputs + first_output;
  tile.each([&](int token, int output, float sum) {
    if (token >= tokens || output >= outputs) return;
    float* const to = out + int64_t{token} * p.outputs + output;
    *to = adds ? *to + sum : sum;
  });
}

// Leaves a warp's sums of its part of K in the workspace. The last warp to come adds all parts up, in the
// order of K, and has them in `tile`.
template <DType dtype, int kTokens>
__device__ bool join(const Product& p, const Piece& piece, Tile<dtype, kTokens>& tile) {
  using Sums = Tile<dtype, kTokens>;
  const int32_t first = p.slices.first_of(piece.pair);
  const int32_t last = p.slices.last_of(piece.pair);
  const int32_t slices = piece.token_block * p.slices.count;
  const auto place = [&](int32_t slice) {
    const int64_t slot =
        2 * int64_t{slices + slice} + (slice * p.slices.length / p.slices.k_tiles != piece.pair);
    return p.partial + (slot * kConsumers + warp_id()) * kTokens * 16 + lane_id() * 4;
  };
  const auto each_four = [&](const auto& visit) {
#pragma unroll
    for (int group = 0; group < Sums::kGroups; ++group) {
#pragma unroll
      for (int i = 0; i < Sums::kRegisters; i += 4) {
        visit(&tile.sums[group][i], (group * Sums::kRegisters + i) * kWarpSize);
      }
    }
  };
  const int32_t own =
      piece.begin == 0 ? first : (piece.pair * p.slices.k_tiles + piece.begin) / p.slices.length;
  float* const mine = place(own);
  each_four([&](const float* sums, int at) {
    *reinterpret_cast<float4*>(mine + at) = {sums[0], sums[1], sums[2], sums[3]};
  });
  publish_block();
  sync_warp();
  int32_t* const counter = p.counters + (slices + first) * kConsumers + warp_id();
  int32_t before = lane_id() == 0 ? count_up(counter) : 0;
  before = shuffle(before, 0);
  if (before != last - first) return false;
  publish_block();  // what others had written before they counted is read only after
  if (lane_id() == 0) *counter = 0;
  for (int32_t slice = first; slice <= last; ++slice) {
    const float* const from = place(slice);
    each_four([&](float* sums, int at) {
      const float4 four = *reinterpret_cast<const float4*>(from + at);
      const float values[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = slice == first ? values[i] : sums[i] + values[i];
    });
  }
  return true;
}

// Scales of this thread's two outputs, in a unit.
template <DType dtype>
__device__ float2 weight_scales(const Product& p, int32_t k, int32_t first_output) {
  if constexpr (dtype != DType::kF8E4M3) return {1, 1};
  const int32_t output = first_output + warp_id() % 4 * 16 + lane_id() / 4;
  const int32_t last = p.outputs - 1;
  const float* const scales = p.scales + int64_t{k} * p.scale_stride;
  return {scales[(output < last ? output : last) / p.scale_rows],
          scales[(output + 8 < last ? output + 8 : last) / p.scale_rows]};
}

// A warpgroup, on the tiles of one side of its pairs.
template <DType dtype, int kTokens>
__device__ void consume(const Product& p) {
  const int side = warp_id() / 4;
  Ring<dtype, kTokens> ring;
  Walk walk(p.slices, p.token_blocks, p.whole);
  Tile<dtype, kTokens> tile;
  Piece piece;
  while (walk.next(&piece)) {
    const int32_t first_output = (2 * piece.pair + side) * kTileRows;
    const bool there = first_output < p.outputs;
    const int32_t first_unit = piece.pair * p.slices.k_tiles;
    int32_t cut = (first_unit + piece.begin) / p.slices.length * p.slices.length + p.slices.length;
    bool adds = false;
    tile.clear();
    float2 next = weight_scales<dtype>(p, piece.begin, first_output);
    for (int32_t k = piece.begin; k < piece.end; ++k, ring.advance()) {
      const float2 scales = next;
      if (k + 1 < piece.end) next = weight_scales<dtype>(p, k + 1, first_output);
      if (first_unit + k == cut && there) {
        write(p, piece, first_output, tile, adds);
        tile.clear();
        adds = true;
      }
      if (first_unit + k == cut) cut += p.slices.length;
      wait_phase(&ring.full[ring.at], ring.phase);
      if (there) tile.add(ring.weights(side), ring.activations(), scales.x, scales.y);
      sync_warp();
      if (lane_id() == 0) arrive(&ring.empty[ring.at]);
    }
    if (!there) continue;
    const bool all_of_k = piece.begin == 0 && piece.end == p.slices.k_tiles;
    if (all_of_k || join(p, piece, tile)) write(p, piece, first_output, tile, adds);
  }
}

template <DType dtype, int kTokens>
__global__ void __launch_bounds__(Ring<dtype, kTokens>::kThreads, 1) product_kernel(const Product p) {
  if constexpr (kRunsWgmma) {
    Ring<dtype, kTokens> ring;
    if (threadIdx.x == 0) {
      for (int i = 0; i < ring.kStages; ++i) {
        init_barrier(&ring.full[i], 1);
        init_barrier(&ring.empty[i], kConsumers);
      }
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

// Sums of parts of K take much memory where there are more rows.
constexpr int64_t kMostSplitRows = 1024;

struct Shape {
  int32_t tokens;  // of a block
  bool whole;
};

// By the time that blocks take one after the other, in cycles of a multiprocessor: its tensor cores need four
// for each token of a unit, memory as many as for some hundred tokens.
Shape choose_shape(const Slices& slices, int64_t rows, int32_t multiprocessors) {
  for (const int32_t tokens : {8, 16, 32, 64, 128}) {
    if (rows <= tokens) return {tokens, false};
  }
  constexpr int64_t kEnds = 8;  // units' worth of time that the end of a piece takes
  Shape best{};
  int64_t least = INT64_MAX;
  for (const Shape shape : {Shape{256, true}, Shape{256, false}, Shape{128, true}, Shape{128, false}}) {
    const int64_t blocks = divide_up(rows, shape.tokens);
    if (!shape.whole && rows > kMostSplitRows) continue;
    const int64_t pieces = shape.whole ? divide_up(slices.pairs * blocks, multiprocessors)
                                       : divide_up(slices.count * blocks, multiprocessors);
    const int64_t units = (shape.whole ? slices.k_tiles : slices.length) + kEnds;
    const int64_t time = pieces * units * (shape.tokens + 16);
    if (time < least) best = shape;
    if (time < least) least = time;
  }
  return best;
}

template <DType dtype>
Launch launch_of(const Product& p, int32_t tokens, uint32_t blocks) {
  const auto with = [&]<int kTokens>(std::integral_constant<int, kTokens>) {
    return make_launch("matmul", product_kernel<dtype, kTokens>, {blocks}, Ring<dtype, kTokens>::kThreads,
                       Ring<dtype, kTokens>::kBytes, p);
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

}  // namespace

int64_t swizzled_workspace(const DeviceMatrix& matrix, int64_t rows) {
  const int64_t tokens = divide_up(rows < kMostSplitRows ? rows : kMostSplitRows, 256) * 256;
  const int64_t sums = cut_matrix(matrix).count * 2 * int64_t{2 * kTileRows} * tokens;
  return activation_room(matrix, rows) + sums * static_cast<int64_t>(sizeof(float));
}

Launches swizzled_matmul(const DeviceMatrix& matrix, const float* x, int64_t rows, std::byte* workspace,
                         float* out) {
  const Slices slices = cut_matrix(matrix);
  const Shape shape = choose_shape(slices, rows, matrix.multiprocessors);
  const ActivationLayout layout = layout_of(matrix, shape.tokens);
  std::byte* const activations = workspace + kCounterBytes;
  const auto token_blocks = static_cast<int32_t>(divide_up(rows, shape.tokens));
  const Product product{
      .tiles = matrix.tiles,
      .scales = matrix.scales,
      .scale_stride = static_cast<int32_t>(divide_up(matrix.rows, matrix.scale_rows)),
      .scale_rows = matrix.scale_rows,
      .outputs = matrix.rows,
      .slices = slices,
      .whole = shape.whole,
      .activations = activations,
      .rows = rows,
      .token_blocks = token_blocks,
      .partial = reinterpret_cast<float*>(activations + activation_room(matrix, rows)),
      .counters = reinterpret_cast<int32_t*>(workspace),
      .out = out,
  };
  const int32_t pairs = slices.pairs * token_blocks;
  const int32_t blocks = !shape.whole                     ? slices.count * token_blocks
                         : pairs < matrix.multiprocessors ? pairs
                                                          : matrix.multiprocessors;
  const auto launch = matrix.dtype == DType::kF8E4M3 ? launch_of<DType::kF8E4M3>
                      : matrix.dtype == DType::kBF16 ? launch_of<DType::kBF16>
                                                     : launch_of<DType::kF16>;
  return {quantize(layout, x, rows, activations), launch(product, shape.tokens, blocks)};
}

#else

int64_t swizzled_workspace(const DeviceMatrix&, int64_t) { return 0; }

Launches swizzled_matmul(const DeviceMatrix&, const float*, int64_t, std::byte*, float*) {
  throw EngineError("EngineFault", "Swizzled tiles are for devices with wgmma.");
}

#endif  // LLMSERVICE_HAS_WGMMA

}  // namespace llmservice::gpu
