// What AMX's instructions do by Intel's description (Software Developer's Manual, volume 2, TDPBF16PS), in
// AVX-512: for tests on machines without them, and to hold the hardware to at start. Of a product, first and
// second products of pairs are summed apart over the pairs, then those two sums added, then to what the tile
// holds: each step rounded once to nearest even, numbers below 2^-126 read and written as zero. What faults
// there ends the process here.
#pragma once

#include <immintrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/tiles_amx.h"

namespace llmservice::cpu {
namespace {

class ModelTiles {
 public:
  explicit ModelTiles(const TileConfig& config) : config_(config) {
    if (config.palette != 1 || config.first_row != 0) fault("a palette that is not there");
    for (int tile = 0; tile < kTileSide; ++tile) {
      const int rows = config.rows[tile];
      const int bytes = config.row_bytes[tile];
      if ((rows == 0) != (bytes == 0) || rows > kTileSide) fault("a tile of no shape");
      // Hardware has narrower ones; the kernels have none.
      if (rows > 0 && (tile >= kTiles || bytes != kTileBytes)) fault("a tile that is not modelled");
    }
  }
  ModelTiles(const ModelTiles&) = delete;
  ModelTiles& operator=(const ModelTiles&) = delete;

  template <int kTile>
  void zero() {
    rows_of(kTile);
    std::memset(tiles_[kTile], 0, sizeof tiles_[kTile]);
  }
  template <int kTile>
  void load(const void* from, int64_t step) {
    zero<kTile>();
    for (int row = 0; row < rows_of(kTile); ++row)
      std::memcpy(tiles_[kTile][row], static_cast<const std::byte*>(from) + row * step, kTileBytes);
  }
  template <int kTile>
  void store(void* to, int64_t step) const {
    for (int row = 0; row < rows_of(kTile); ++row)
      std::memcpy(static_cast<std::byte*>(to) + row * step, tiles_[kTile][row], kTileBytes);
  }
  template <int kSum, int kRows, int kWeights>
  void multiply() {
    static_assert(kSum != kRows && kSum != kWeights && kRows != kWeights);
    if (rows_of(kSum) != rows_of(kRows)) fault("sums of other rows than those that are multiplied");
    if (rows_of(kWeights) != kTileSide) fault("other weights than a row has pairs");
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(kNearestWithoutDenormals);
    asm volatile("" ::: "memory");  // what follows reads and writes memory: it stays between the modes
    for (int row = 0; row < rows_of(kSum); ++row)
      add_row(tiles_[kRows][row], tiles_[kWeights], tiles_[kSum][row]);
    asm volatile("" ::: "memory");
    _mm_setcsr(mode);
  }

 private:
  static constexpr unsigned kNearestWithoutDenormals = 0x1f80 | 0x8000 | 0x0040;

  [[noreturn]] static void fault(const char* what) {
    std::fprintf(stderr, "model of AMX tiles: %s\n", what);
    std::abort();
  }
  int rows_of(int tile) const {
    if (config_.rows[tile] == 0) fault("a tile that is not configured");
    return config_.rows[tile];
  }
  static void add_row(const std::byte* pairs, const std::byte (*weights)[kTileBytes], std::byte* sums) {
    const __m512i second = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    __m512 of_first = _mm512_setzero_ps();
    __m512 of_second = _mm512_setzero_ps();
    for (int k = 0; k < kTileSide; ++k) {
      int32_t both;
      std::memcpy(&both, pairs + k * sizeof both, sizeof both);
      const __m512i x = _mm512_set1_epi32(both);
      const __m512i w = _mm512_load_si512(weights[k]);
      of_first = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)),
                                 _mm512_castsi512_ps(_mm512_slli_epi32(w, 16)), of_first);
      of_second = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(x, second)),
                                  _mm512_castsi512_ps(_mm512_and_si512(w, second)), of_second);
    }
    const __m512 held = _mm512_load_ps(sums);
    _mm512_store_ps(sums, _mm512_add_ps(held, _mm512_add_ps(of_first, of_second)));
  }

  TileConfig config_;
  alignas(64) std::byte tiles_[kTiles][kTileSide][kTileBytes] = {};
};

}  // namespace
}  // namespace llmservice::cpu
