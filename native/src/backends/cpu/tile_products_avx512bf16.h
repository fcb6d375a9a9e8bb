// A weight panel times rows of activations in BF16, by tiles: BF16 from where the weights lie, FP8 and INT8
// widened, a K block at a time, to memory of the L1 cache. Include only from files that are compiled for
// avx512bf16 or more.
//
// An output is a chain over steps of 32 columns, each step as tile_model_avx512bf16.h says: of BF16 one chain
// over the whole depth; of the others one over each K block, times the block's scale. All rows go through
// tiles, a single one too: a tile costs as many cycles as it has rows, and no bit depends on how many.
#pragma once

#include "backends/cpu/code_pairs_avx512bf16.h"
#include "backends/cpu/pair_products_avx512bf16.h"
#include "backends/cpu/tiles_amx.h"

namespace llmservice::cpu {
namespace {

constexpr int64_t kPairRowBytes = 4 * kPanelRows;  // of one pair of columns of a panel
constexpr int64_t kTileStepBytes = kTileSide * kPairRowBytes;
constexpr int kPassRows = 2 * kTileSide;

// Which tile holds what: sums of kRowTiles by kOutputTiles tiles, so that each is loaded for several
// products.
template <int kRowTiles>
struct TileGrid {
  static constexpr int kOutputTiles = 4 / kRowTiles;
  static constexpr int kOutputs = kOutputTiles * kTileSide;
  static constexpr int sum(int m, int n) { return m * kOutputTiles + n; }
  static constexpr int x(int m) { return 4 + m; }
  static constexpr int weights(int n) { return 6 + n % 2; }

  // For passes of `rows` rows.
  static TileConfig config(int rows) {
    TileConfig config;
    for (int m = 0; m < kRowTiles; ++m) {
      const int count = std::min(rows - m * kTileSide, kTileSide);
      config.set(x(m), count);
      for (int n = 0; n < kOutputTiles; ++n) config.set(sum(m, n), count);
    }
    for (int n = 0; n < 2; ++n) config.set(weights(n), kTileSide);
    return config;
  }
};

template <int kRowTiles, class Tiles>
void zero_sums(Tiles& tiles) {
  unrolled<4>([&](auto tile) __attribute__((always_inline)) { tiles.template zero<tile>(); });
}

// Pointers go by value, not through closures: those would lie in memory, which each instruction on tiles may
// change as far as the compiler knows.
template <int... M, class Tiles>
[[gnu::always_inline]] inline void load_rows(Tiles& tiles, const uint16_t* x,
                                             std::integer_sequence<int, M...>) {
  using Grid = TileGrid<sizeof...(M)>;
  (tiles.template load<Grid::x(M)>(x + M * kTileSide * kDepthBlock, kDepthBlock * sizeof(uint16_t)), ...);
}

template <int kOutputTile, int... M, class Tiles>
[[gnu::always_inline]] inline void add_products(Tiles& tiles, const std::byte* weights,
                                                std::integer_sequence<int, M...>) {
  using Grid = TileGrid<sizeof...(M)>;
  constexpr int kWeights = Grid::weights(kOutputTile);
  tiles.template load<kWeights>(weights + kOutputTile * kTileBytes, kPairRowBytes);
  (tiles.template multiply<Grid::sum(M, kOutputTile), Grid::x(M), kWeights>(), ...);
}

// Sums += x (rows, 128 each) · weights, over steps of 32 columns, of the grid's outputs.
template <int kRowTiles, class Tiles>
[[gnu::always_inline]] inline void add_steps(Tiles& tiles, const uint16_t* x, const std::byte* weights,
                                             int64_t steps) {
  constexpr auto kRows = std::make_integer_sequence<int, kRowTiles>{};
  for (int64_t step = 0; step < steps; ++step) {
    load_rows(tiles, x + step * kTileColumns, kRows);
    const std::byte* const at = weights + step * kTileStepBytes;
    add_products<0>(tiles, at, kRows);
    add_products<1>(tiles, at, kRows);
    if constexpr (kRowTiles == 1) {
      add_products<2>(tiles, at, kRows);
      add_products<3>(tiles, at, kRows);
    }
  }
}

// To (rows, 64) floats.
template <int kRowTiles, class Tiles>
void store_sums(Tiles& tiles, float* to) {
  using Grid = TileGrid<kRowTiles>;
  unrolled<kRowTiles>([&](auto m) __attribute__((always_inline)) {
    unrolled<Grid::kOutputTiles>([&](auto n) __attribute__((always_inline)) {
      tiles.template store<Grid::sum(m, n)>(to + (m * kPanelRows + n) * kTileSide,
                                            kPanelRows * sizeof(float));
    });
  });
}

// Pairs of weights from `pairs` on become zero, up to a whole step.
inline void fill_step(std::byte* weights, int64_t pairs) {
  const int64_t end = (pairs + kTileSide - 1) / kTileSide * kTileSide;
  std::memset(weights + pairs * kPairRowBytes, 0, (end - pairs) * kPairRowBytes);
}

// As BF16 lies, but for the columns behind the last whole step, which go through scratch.
template <int kRowTiles, class Tiles>
[[gnu::noinline]] void multiply_in_place(Tiles& tiles, const PanelView& panel, const PairRows& x, int rows,
                                         float* scratch, float* total) {
  using Grid = TileGrid<kRowTiles>;
  constexpr int64_t kBlockSteps = kDepthBlock / kTileColumns;
  const int64_t whole = panel.depth / kTileColumns;
  const int64_t rest = (panel.depth - whole * kTileColumns + 1) / 2;  // pairs
  auto* const padded = reinterpret_cast<std::byte*>(scratch);
  std::memcpy(padded, panel.weights + whole * kTileStepBytes, rest * kPairRowBytes);
  fill_step(padded, rest);
  for (int row = 0; row < rows; row += kPassRows) {
    const PairRows of_pass = x.from(row);
    for (int first = 0; first < kPanelRows; first += Grid::kOutputs) {
      const int64_t place = first * 4;  // bytes of the outputs before, in a row of pairs
      zero_sums<kRowTiles>(tiles);
      for (int64_t step = 0; step < whole; step += kBlockSteps) {
        add_steps<kRowTiles>(tiles, of_pass.block(step / kBlockSteps),
                             panel.weights + step * kTileStepBytes + place,
                             std::min(whole - step, kBlockSteps));
      }
      if (rest > 0) {
        add_steps<kRowTiles>(tiles, of_pass.block(whole / kBlockSteps) + whole % kBlockSteps * kTileColumns,
                             padded + place, 1);
      }
      store_sums<kRowTiles>(tiles, total + row * kPanelRows + first);
    }
  }
}

// total (rows, outputs of 64) += sums · scales; without scales a plain sum.
inline void add_scaled(const float* sums, const float* scales, int rows, int outputs, float* total) {
  for (int j = 0; j < outputs; j += kTileSide) {
    const __m512 scale = scales != nullptr ? _mm512_loadu_ps(scales + j) : _mm512_set1_ps(1);
    for (int r = 0; r < rows; ++r) {
      float* const to = total + r * kPanelRows + j;
      const __m512 sum = _mm512_loadu_ps(sums + r * kPanelRows + j);
      _mm512_storeu_ps(to, _mm512_fmadd_ps(sum, scale, _mm512_loadu_ps(to)));
    }
  }
}

// scratch: a widened K block, then a pass's sums.
template <int kRowTiles, class Weights, class Tiles>
[[gnu::noinline]] void multiply_widened(Tiles& tiles, const PanelView& panel, const PairRows& x, int rows,
                                        float* scratch, float* total) {
  using Grid = TileGrid<kRowTiles>;
  constexpr int64_t kBlockBytes = kDepthBlock * kPanelRows;  // of codes
  auto* const widened = reinterpret_cast<std::byte*>(scratch);
  float* const sums = scratch + kDepthBlock * kPanelRows / 2;
  for (int64_t b = 0; b * kDepthBlock < panel.depth; ++b) {
    const auto columns = static_cast<int>(std::min<int64_t>(panel.depth - b * kDepthBlock, kDepthBlock));
    widen_block<Weights>({panel.weights + b * kBlockBytes}, columns, scratch);
    fill_step(widened, (columns + 1) / 2);
    const float* const scales = panel.scales != nullptr ? panel.scales + b * panel.scale_step : nullptr;
    for (int row = 0; row < rows; row += kPassRows) {
      for (int first = 0; first < kPanelRows; first += Grid::kOutputs) {
        zero_sums<kRowTiles>(tiles);
        add_steps<kRowTiles>(tiles, x.from(row).block(b), widened + first * 4,
                             (columns + kTileColumns - 1) / kTileColumns);
        store_sums<kRowTiles>(tiles, sums);
        add_scaled(sums, scales != nullptr ? scales + first : nullptr, std::min(rows - row, kPassRows),
                   Grid::kOutputs, total + row * kPanelRows + first);
      }
    }
  }
}

// Passes of kPassRows rows, or one of fewer.
template <int kRowTiles, class Tiles>
void multiply_passes(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total) {
  Tiles tiles(TileGrid<kRowTiles>::config(std::min(rows, kPassRows)));
  if (panel.dtype == DType::kBF16) {
    multiply_in_place<kRowTiles>(tiles, panel, x, rows, scratch, total);
  } else if (panel.dtype == DType::kF8E4M3) {
    multiply_widened<kRowTiles, Fp8Pairs>(tiles, panel, x, rows, scratch, total);
  } else {
    multiply_widened<kRowTiles, BytePairs<DType::kI8>>(tiles, panel, x, rows, scratch, total);
  }
}

// Types whose scales apply to no less than a K block. Others stay with products of pairs: each group of 16 or
// 32 columns would move its sums from tiles to memory and back.
constexpr bool takes_tiles(DType t) { return t == DType::kBF16 || t == DType::kF8E4M3 || t == DType::kI8; }

// As Kernels::multiply_pairs, of types that take tiles.
template <class Tiles>
void multiply_by_tiles(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total) {
  const int whole = rows / kPassRows * kPassRows;
  const int rest = rows - whole;
  if (whole > 0) multiply_passes<2, Tiles>(panel, x, whole, scratch, total);
  if (rest == 0) return;
  const PairRows last = x.from(whole);
  float* const to = total + whole * kPanelRows;
  if (rest > kTileSide) {
    multiply_passes<2, Tiles>(panel, last, rest, scratch, to);
  } else {
    multiply_passes<1, Tiles>(panel, last, rest, scratch, to);
  }
}

}  // namespace
}  // namespace llmservice::cpu
