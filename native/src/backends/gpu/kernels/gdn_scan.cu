// The chunked gated delta rule, chunk after chunk: with T', P and the rows' factors of gdn_prepare.cu
//   V' = T' (V - e^G ⊙ (K S));  O = e^G ⊙ (Q S) + P V';  S <- e^{G_last} S + (e^{G_last-G} ⊙ K)ᵀ V'
// A warp holds 16 columns of a head's S in registers for the whole sequence and shares nothing but what it
// reads with its neighbours: sums of one product are, as they lie, right operands of the next. Bound by the
// matrix units' float32 rate over the longest sequence: 116 products of 16 x 16 x 16 for a chunk and warp.
#include "backends/gpu/kernels/gdn_kernels.h"
#include "backends/gpu/kernels/gdn_tiles.h"
#include "backends/gpu/kernels/piece_stream.h"

namespace llmservice::gpu {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kColumns = 16 * kWarps;  // of a block
constexpr int kDepthTiles = kGdnDepth / 16;
constexpr int kHalf = kGdnChunk / 2;  // rows of K or Q in a piece

// Pieces of a chunk in the order of their use: halves of K, V, T', halves of Q, P, halves of K.
constexpr int kPieces = 9;
constexpr int kValues = 2;
constexpr int kInverse = 3;
constexpr int kTrianglePieces = 1 << kInverse | 1 << 6;
constexpr int kQueryPieces = 1 << 4 | 1 << 5;
constexpr int kSecondHalves = 1 << 1 | 1 << 5 | 1 << 8;

// K and Q in shared memory, rows of kGdnDepth floats, and V, rows of kColumns: vectors of 16 bytes change
// places so that neither reading down columns nor along rows, as operands do for either warp size, finds a
// bank busy.
__device__ __forceinline__ int turn_of(int row) { return (row & 3) << 3 ^ ((row & 4) != 0 ? 28 : 0); }
template <int kWidth>
__device__ __forceinline__ int place_of(int row, int d) {
  return row * kWidth + (d ^ turn_of(row));
}
// place_of<kGdnDepth>(row, 16 d + along) with along < 16, so that the compiler sees how little of it depends
// on d: only bit 4 of d may turn.
__device__ __forceinline__ int place_in_tile(int row, int d, int along) {
  const int in_two = along ^ turn_of(row) ^ d % 2 * 16;
  return row * kGdnDepth + in_two + d / 2 * 32;
}

template <bool kWhole>
struct ChunkSource {
  static constexpr bool kAsync = kWhole && kWarpSize == 32;
  const GdnArguments& a;
  int32_t first;  // row of the first chunk
  int v_head;
  int k_head;
  int first_column;  // of the block

  __device__ static bool is_triangle(int piece) { return (kTrianglePieces >> piece % kPieces & 1) != 0; }
  // Vectors of a row.
  __device__ static int across(int piece) { return (piece % kPieces == kValues ? kColumns : kGdnDepth) / 4; }
  __device__ int vectors(int piece) const {
    return (is_triangle(piece) ? kGdnTriangleFloats : kHalf * kGdnDepth) / 4;
  }
  __device__ int place(int piece, int vector) const {
    if (is_triangle(piece)) return vector * 4;
    if (piece % kPieces == kValues)
      return place_of<kColumns>(vector / (kColumns / 4), vector % (kColumns / 4) * 4);
    return place_of<kGdnDepth>(vector / (kGdnDepth / 4), vector % (kGdnDepth / 4) * 4);
  }
  __device__ const float* address(int piece, int vector) const {
    const int32_t chunk = first + piece / kPieces * kGdnChunk;
    const int in_chunk = piece % kPieces;
    if (is_triangle(piece)) {
      return chunk_workspace(a, chunk, v_head) + (in_chunk == kInverse ? 0 : kGdnTriangleFloats) + vector * 4;
    }
    const int64_t row = chunk + ((kSecondHalves >> in_chunk & 1) != 0 ? kHalf : 0) + vector / across(piece);
    const int d = vector % across(piece) * 4;
    if (in_chunk == kValues) return a.v(row, v_head) + first_column + d;
    return ((kQueryPieces >> in_chunk & 1) != 0 ? a.q(row, k_head) : a.k(row, k_head)) + d;
  }
  __device__ Float4 value(int piece, int vector) const {
    const float* const at = address(piece, vector);
    if (kWhole || is_triangle(piece)) return load_floats<4>(at);
    const int there = piece % kPieces == kValues ? a.v_dim - first_column : a.k_dim;
    return load_some<4>(at, there - vector % across(piece) * 4);
  }
};

// The columns' tiles of V', each lane its own values: registers of 32 lanes are few, and a lane's place in
// shared memory, where nobody else reads, serves as well.
class ValueTiles {
 public:
  static constexpr bool kInShared = kWarpSize == 32;
  static constexpr int kFloats = kInShared ? kWarps * kGdnTiles * 256 : 0;  // of the block

  __device__ explicit ValueTiles(float* shared) : place_(shared + warp_id() * kGdnTiles * 256) {}
  __device__ __forceinline__ void set(int t, const Tile& tile) {
    if constexpr (kInShared) {
      store_lanes(place_ + t * 256, tile);
    } else {
      tiles_[t] = tile;
    }
  }
  __device__ __forceinline__ Tile get(int t) const {
    if constexpr (kInShared) {
      return load_lanes(place_ + t * 256);
    } else {
      return tiles_[t];
    }
  }

 private:
  float* const place_;
  Tile tiles_[kInShared ? 1 : kGdnTiles];
};

// 16 columns of S, a tile of 16 rows each.
struct State {
  Tile tiles[kDepthTiles];
};

// The lane's value i of tile `tile` of a matrix of 16 columns is at row 16 tile + inner_of, column outer_of.
template <bool kWhole, class Move>
__device__ __forceinline__ void each_value(int columns, int rows, const Move& move) {
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) {
    const int row = inner_of(lane_id(), i);
    const int column = outer_of(lane_id(), i);
    if (kWhole || (column < columns && row < rows)) move(i, row, column);
  }
}

// sums += the piece's 32 rows · S, of which `depth` tiles are there.
__device__ __forceinline__ void read_state(const float* piece, const State& s, int depth, Tile (&sums)[2]) {
#pragma unroll
  for (int d = 0; d < kDepthTiles; ++d) {
    if (d >= depth) break;
    const Operand right = operand(s.tiles[d].v);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      multiply_add(sums[i], operand_of_runs([&](int outer, int inner) {
                     return load_floats<kInnerRun>(piece + place_in_tile(16 * i + outer, d, inner));
                   }),
                   right);
    }
  }
}

// The factors of a lane's values of a tile of rows.
__device__ __forceinline__ void scale_rows(Tile& tile, const float* factors) {
#pragma unroll
  for (int i = 0; i < kTileFloats; ++i) tile.v[i] *= factors[inner_of(lane_id(), i)];
}

// Grid (v_heads, tiles of kColumns columns, segments).
template <bool kWhole>
__global__ void __launch_bounds__(kThreads) scan_kernel(GdnArguments a) {
  using Stream = PieceStream<ChunkSource<kWhole>, kThreads>;
  const auto v_head = static_cast<int>(blockIdx.x);
  const int of_block = static_cast<int>(blockIdx.y) * kColumns;
  const int first_column = of_block + 16 * warp_id();
  const int columns = a.v_dim - first_column;  // that are there
  const bool is_idle = !kWhole && columns <= 0;
  const int depth = kWhole ? kDepthTiles : is_idle ? 0 : (a.k_dim + 15) / 16;
  wait_for_previous();
  let_next_start();
  const Segment segment = a.segments[blockIdx.z];
  const int chunks = chunked_rows(segment) / kGdnChunk;
  if (chunks == 0) return;
  const ChunkSource<kWhole> source{a, segment.first, v_head, a.k_head_of(v_head), of_block};
  float* const shared = dynamic_shared<float>();
  ValueTiles values(shared + Stream::kFloats);
  Stream stream(source, shared, chunks * kPieces);

  float* const state = a.s_of(segment, v_head) + first_column;
  State s;
#pragma unroll
  for (int d = 0; d < kDepthTiles; ++d) {
    each_value<kWhole>(columns, a.k_dim - 16 * d, [&](int i, int row, int column) {
      s.tiles[d].v[i] = state[int64_t{16 * d + row} * a.v_dim + column];
    });
  }

#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int32_t first = segment.first + chunk * kGdnChunk;
    const float* const scalars = chunk_workspace(a, first, v_head) + 2 * kGdnTriangleFloats;
    // First K and T', which make V' of V, then Q and P, which make the output. What the passes and halves
    // differ in is chosen at run time, so that the products' code stays small enough for the instruction
    // cache.
    Tile sums[kGdnTiles];
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        Tile read[2];
        read_state(stream.next(), s, depth, read);
#pragma unroll
        for (int t = 0; t < kGdnTiles; ++t) {
          if (t / 2 != half) continue;
          sums[t] = read[t % 2];
          scale_rows(sums[t], scalars + pass * kGdnChunk + 16 * t);
        }
      }
      if (pass == 0) {
        const float* const v = stream.next();
#pragma unroll
        for (int t = 0; t < kGdnTiles; ++t) {
#pragma unroll
          for (int i = 0; i < kTileFloats; ++i) {
            const int row = 16 * t + inner_of(lane_id(), i);
            sums[t].v[i] = v[place_of<kColumns>(row, 16 * warp_id() + outer_of(lane_id(), i))] - sums[t].v[i];
          }
          values.set(t, sums[t]);
          sums[t] = Tile{};
        }
      }
      const float* const triangle = stream.next();
#pragma unroll
      for (int t = kGdnTiles - 1; t >= 0; --t) {
        if (is_idle) break;
#pragma unroll
        for (int m = 0; m <= t; ++m) {
          multiply_add(sums[t], operand_of_lanes(triangle + triangle_tile(t, m)), operand(values.get(m).v));
        }
        if (pass == 0) values.set(t, sums[t]);
      }
    }
    float* const to = a.out_of(first, v_head) + first_column;
#pragma unroll
    for (int t = 0; t < kGdnTiles; ++t) {
      each_value<kWhole>(columns, kGdnChunk, [&](int i, int row, int column) {
        to[int64_t{16 * t + row} * a.v_heads * a.v_dim + column] = sums[t].v[i];
      });
    }
    const float last = scalars[3 * kGdnChunk];
    // Half a chunk's part of S is summed from zero and then added to it: matrix units round sums towards
    // zero, which S would feel chunk after chunk.
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const float* const keys = stream.next();
      Operand right[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        Tile rows = half == 0 ? values.get(i) : values.get(2 + i);
        scale_rows(rows, scalars + 2 * kGdnChunk + 16 * (2 * half + i));
        right[i] = operand(rows.v);
      }
      const float decay = half == 0 ? last : 1.0f;
#pragma unroll
      for (int d = 0; d < kDepthTiles; ++d) {
        if (d >= depth) break;
        Tile sum;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_add(sum, operand_of_values([&](int outer, int inner) {
                         return keys[place_in_tile(16 * i + inner, d, outer)];
                       }),
                       right[i]);
        }
#pragma unroll
        for (int j = 0; j < kTileFloats; ++j) {
          s.tiles[d].v[j] = fmaf(decay, s.tiles[d].v[j], sum.v[j]);
        }
      }
    }
  }

#pragma unroll
  for (int d = 0; d < kDepthTiles; ++d) {
    each_value<kWhole>(columns, a.k_dim - 16 * d, [&](int i, int row, int column) {
      state[int64_t{16 * d + row} * a.v_dim + column] = s.tiles[d].v[i];
    });
  }
}

template <bool kWhole>
Launch scan(const GdnArguments& a) {
  const Grid grid = {static_cast<uint32_t>(a.v_heads),
                     static_cast<uint32_t>((a.v_dim + kColumns - 1) / kColumns),
                     static_cast<uint32_t>(a.segment_count)};
  return make_launch(
      "gdn_scan", scan_kernel<kWhole>, grid, kThreads,
      (PieceStream<ChunkSource<kWhole>, kThreads>::kFloats + ValueTiles::kFloats) * sizeof(float), a);
}

}  // namespace

Launch gdn_scan_chunks(const GdnArguments& a) {
  return a.whole != 0 && a.k_dim == kGdnDepth && a.v_dim % kColumns == 0 ? scan<true>(a) : scan<false>(a);
}

}  // namespace llmservice::gpu
