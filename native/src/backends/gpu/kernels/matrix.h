// Weight matrices on the device, as the tiles that the matrix units read.
#pragma once

#include "ops/ops.h"

namespace llmservice::gpu {

// How the 8 KiB of a tile lie.
enum class TileOrder : uint8_t {
  kSwizzled,   // rows of 128 bytes in the 128-byte swizzle of wgmma's shared memory operands
  kFragments,  // lane after lane, as mma.sync or mfma takes them into registers
};

constexpr int32_t kTileRows = 64;    // outputs
constexpr int32_t kTileBytes = 128;  // of K: 128 columns of eight bits, 64 of sixteen
constexpr int32_t kScaleColumns = 128;

// (rows, cols) padded with zeros to whole tiles; the tiles of 64 outputs lie one after the other along K.
// Types of four bits and integers of eight (coded_tiles.h) lie in tiles of 128 columns with their groups'
// scales, in kFragments.
struct DeviceMatrix {
  const std::byte* tiles;
  // kF8E4M3: (ceil(cols / 128), ceil(rows / scale_rows)), each of scale_rows outputs and 128 columns. kI8 and
  // kF4E2M1: (rows), what sums of codes times scales of groups are multiplied by. Others: null.
  const float* scales;
  int32_t scale_rows;  // 64 where all rows of a tile share their scales, else 1
  DType dtype;         // all but kF32
  TileOrder order;
  int32_t rows;
  int32_t cols;
  int32_t stride;           // of a product's rows: of the outputs that this one's are among, or `rows`
  int32_t multiprocessors;  // of the device: with the shape, they fix how K is cut
};

}  // namespace llmservice::gpu
