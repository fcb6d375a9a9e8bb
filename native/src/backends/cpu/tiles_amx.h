// Tiles of AMX: eight registers of up to 16 rows of 64 bytes. A kernel over tiles is a template on them:
// HardwareTiles, for files that are compiled for the instructions, or ModelTiles (tile_model_avx512bf16.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace llmservice::cpu {

constexpr int kTiles = 8;
constexpr int kTileSide = 16;     // rows of a tile, and floats or pairs of a row
constexpr int kTileBytes = 64;    // of a row
constexpr int kTileColumns = 32;  // of activations and weights, that one product adds up

// What LDTILECFG reads: the shape of each tile; one of no rows is not there.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t first_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int tile, int count) {
    row_bytes[tile] = kTileBytes;
    rows[tile] = static_cast<uint8_t>(count);
  }
};
static_assert(sizeof(TileConfig) == 64);

#ifdef __AMX_BF16__
// Tiles are no values of C++: their instructions stand as they are, in order, so that no compiler keeps tiles
// in memory. Other state of the thread's tiles ends with the object, which makes switches of threads cheap.
class HardwareTiles {
 public:
  explicit HardwareTiles(const TileConfig& config) { asm volatile("ldtilecfg %0" ::"m"(config)); }
  ~HardwareTiles() { asm volatile("tilerelease" ::: "memory"); }
  HardwareTiles(const HardwareTiles&) = delete;
  HardwareTiles& operator=(const HardwareTiles&) = delete;

  template <int kTile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  // Rows that lie `step` bytes apart.
  template <int kTile>
  void load(const void* from, int64_t step) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(step), "i"(kTile) : "memory");
  }
  template <int kTile>
  void store(void* to, int64_t step) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(step), "i"(kTile) : "memory");
  }
  // Floats += (rows, 16 pairs) · (16 pairs, outputs).
  template <int kSum, int kRows, int kWeights>
  void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kRows), "i"(kWeights));
  }
};
#endif

}  // namespace llmservice::cpu
