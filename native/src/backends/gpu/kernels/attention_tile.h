// Tiles of paged K and V on their way from memory to the matrix units: read by 16 bytes into registers, while
// the tile before is worked on, then put into shared memory as the operands that lanes will want, so that
// both the writes and the reads of shared memory are whole lines of it. E4m3 is widened to bf16 there,
// exactly.
//
// The order of a sum's elements is ours to choose: a lane reads 16 neighbours of a key, which become its four
// elements of four steps of 16 features. And an operand's 16 columns need not be neighbours: columns
// [run · n, run · n + run) of V are column n of `run` operands.
#pragma once

#include "backends/gpu/vendor/mma.h"
#include "ops/ops.h"

namespace llmservice::gpu {

template <int n>
struct alignas(n >= 4 ? 16 : 4 * n) Words {
  uint32_t at[n];
};

// Sizes of attention over heads of up to kDim features, kept in Element (uint16_t: bf16, uint8_t: e4m3), by
// blocks of row_groups x column_warps warps. 16 query rows belong to column_warps warps, which share the
// tile's keys among them for the scores, and the features for the result.
template <int dim, class CacheElement, int row_groups, int column_warps, bool direct>
struct AttentionPlan {
  using Element = CacheElement;
  static constexpr int kDim = dim;
  static constexpr int kRowGroups = row_groups;
  static constexpr int kColumnWarps = column_warps;
  static constexpr bool kDirect = direct;
  static constexpr bool kScaled = sizeof(Element) == 1;
  // AMD's 64 KiB are to hold more than one block.
  static constexpr bool kOneBuffer = kWarpSize == 64;
  // Positions. Wide heads leave shared memory no more.
  static constexpr int kTile = kWarpSize == 64 || dim > 256 ? 32 : 64;
  static constexpr int kWarps = row_groups * column_warps;
  static constexpr int kThreads = kWarps * kWarpSize;
  static constexpr int kRows = row_groups * 16;
  static constexpr int kSteps = dim / 16;                      // of 16 features, of a score
  static constexpr int kUnits = kTile / 16;                    // of 16 positions
  static constexpr int kRun = dim / 16 < 8 ? dim / 16 : 8;     // neighbours of V that a lane reads
  static constexpr int kWarpGroups = dim / 16 / column_warps;  // of 16 features, of the result
  static constexpr int kScoreWarps = column_warps < kUnits ? column_warps : kUnits;
  static constexpr int kWarpUnits = kUnits / kScoreWarps;
  // Steps of q that a lane keeps in registers; where those do not suffice for all, the others lie in shared
  // memory.
  static constexpr bool kCrowded =
      kWarpSize == 32 && (dim > 256 || (dim == 256 && (direct || row_groups == 1)));
  static constexpr int kHeldSteps = !kCrowded ? kSteps : direct ? 8 : 6;
  // For __launch_bounds__: blocks of a multiprocessor (NVIDIA), or waves of a SIMD (AMD), that registers are
  // to suffice for, where that hides the latency of memory.
  static constexpr int kResident = kWarpSize == 64                            ? (direct || dim > 256 ? 2 : 3)
                                   : kScaled && row_groups == 1 && dim <= 256 ? 3
                                                                              : 1;
  // Keeps the rows of the weights on different banks.
  static constexpr int kPadding = kWarpSize == 64 ? 4 : 16;
};

// visit(n, item) for the items of a tile that are this warp's: its n-th is `item`.
template <class Plan, int kItems, class Visit>
__device__ __forceinline__ void each_item(Visit visit) {
#pragma unroll
  for (int n = 0; n * Plan::kWarps < kItems; ++n) {
    const int item = warp_id() + n * Plan::kWarps;
    if (kItems % Plan::kWarps == 0 || item < kItems) visit(n, item);
  }
}

// What a warp reads of K at once: 16 positions, 64 features.
template <class Plan>
struct KeyTile {
  using Run = Words<4 * sizeof(typename Plan::Element)>;
  static constexpr int kItems = Plan::kUnits * Plan::kDim / 64;
  static constexpr int kWarpItems = (kItems + Plan::kWarps - 1) / Plan::kWarps;
  Run runs[kWarpItems][kLines];

  // rows: where the tile's positions lie in the cache, in runs of 16 features. What is beyond head_dim meets
  // only zeros of q: any features will do.
  __device__ __forceinline__ void load(const void* cache, const int32_t* rows, int32_t head_dim) {
    each_item<Plan, kItems>([&](int n, int item) {
      const int run = item / Plan::kUnits * 4 + quarter();
      const auto* const from = static_cast<const Run*>(cache) + (run * 16 < head_dim ? run : 0);
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
        runs[n][i] = from[int64_t{rows[item % Plan::kUnits * 16 + operand_line(i)]}];
      }
    });
  }

  // operands: (units, steps, lanes)
  __device__ __forceinline__ void store(Operand* operands) const {
    each_item<Plan, kItems>([&](int n, int item) {
      const int at = (item % Plan::kUnits * Plan::kSteps + item / Plan::kUnits * 4) * kWarpSize + lane_id();
#pragma unroll
      for (int y = 0; y < 4; ++y) {
        Operand operand;
#pragma unroll
        for (int i = 0; i < kLines; ++i) operand.line[i] = quad(runs[n][i], y);
        operands[at + y * kWarpSize] = operand;
      }
    });
  }

 private:
  __device__ __forceinline__ static Quad quad(const Run& run, int y) {
    if constexpr (Plan::kScaled) {
      return widen_fp8(run.at[y]);
    } else {
      return {run.at[2 * y], run.at[2 * y + 1]};
    }
  }
};

// What a warp reads of V at once: 16 positions, 16 runs of features.
template <class Plan>
struct ValueTile {
  using Run = Words<Plan::kRun * sizeof(typename Plan::Element) / 4>;
  static constexpr int kSpans = Plan::kDim / (16 * Plan::kRun);
  static constexpr int kItems = Plan::kUnits * kSpans;
  static constexpr int kWarpItems = (kItems + Plan::kWarps - 1) / Plan::kWarps;
  Run runs[kWarpItems][kLines][4];

  __device__ __forceinline__ void load(const void* cache, const int32_t* rows, int32_t head_dim) {
    each_item<Plan, kItems>([&](int n, int item) {
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
        const int run = item / Plan::kUnits * 16 + operand_line(i);
        const auto* const from = static_cast<const Run*>(cache) + (run * Plan::kRun < head_dim ? run : 0);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          runs[n][i][e] = from[int64_t{rows[position(item, e)]} * (16 / Plan::kRun)];
        }
      }
    });
  }

  // A weight of zero would not hide what is not finite: such positions are marked and their runs zeroed.
  __device__ __forceinline__ void hide_faults(int32_t* faulty) {
    static_assert(!Plan::kScaled);
    each_item<Plan, kItems>([&](int n, int item) {
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          bool finite = true;
          for (const uint32_t word : runs[n][i][e].at) {
            finite &= (word & 0x7f80) != 0x7f80 && (word & 0x7f800000) != 0x7f800000;
          }
          if (finite) continue;
          faulty[position(item, e)] = 1;
          runs[n][i][e] = {};
        }
      }
    });
  }

  // operands: (units, groups of 16 features, lanes)
  __device__ __forceinline__ void store(Operand* operands) const {
    each_item<Plan, kItems>([&](int n, int item) {
      const int group = item % Plan::kUnits * (Plan::kDim / 16) + item / Plan::kUnits * Plan::kRun;
      uint32_t words[kLines][4][Plan::kRun / 2];
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) widen(runs[n][i][e], words[i][e]);
      }
#pragma unroll
      for (int j = 0; j < Plan::kRun; ++j) {
        Operand operand;
#pragma unroll
        for (int i = 0; i < kLines; ++i) {
          const auto& w = words[i];
          const int at = j / 2;
          operand.line[i] = j % 2 == 0
                                ? Quad{low_halves(w[0][at], w[1][at]), low_halves(w[2][at], w[3][at])}
                                : Quad{high_halves(w[0][at], w[1][at]), high_halves(w[2][at], w[3][at])};
        }
        operands[(group + j) * kWarpSize + lane_id()] = operand;
      }
    });
  }

 private:
  __device__ __forceinline__ static int position(int item, int e) {
    return item % Plan::kUnits * 16 + quarter() * 4 + e;
  }
  __device__ __forceinline__ static void widen(const Run& run, uint32_t (&words)[Plan::kRun / 2]) {
#pragma unroll
    for (int k = 0; k < Plan::kRun / 4; ++k) {
      const Quad quad = [&] {
        if constexpr (Plan::kScaled) {
          return widen_fp8(run.at[k]);
        } else {
          return Quad{run.at[2 * k], run.at[2 * k + 1]};
        }
      }();
      words[2 * k] = quad.low;
      words[2 * k + 1] = quad.high;
    }
  }
};

// The feature that column n of the result's group stands for.
template <class Plan>
__device__ __forceinline__ int feature_of(int group, int n) {
  return (group / Plan::kRun * 16 + n) * Plan::kRun + group % Plan::kRun;
}

}  // namespace llmservice::gpu
