#include "backends/gpu/packing.h"

#include <algorithm>

#include "backends/gpu/kernels/coded_tiles.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/numbers.h"
#include "ops/dtype.h"

namespace llmservice::gpu {
namespace {

constexpr int64_t kWindowBytes = int64_t{16} << 20;
constexpr int64_t kStoredBlock = 128;

int64_t divided(int64_t a, int64_t b) { return (a + b - 1) / b; }

void check_format(std::span<const MatrixPart> parts, DType keep) {
  if (keep == DType::kF32) {
    throw EngineError(
        FailureReason::kInvalidEngineConfig,
        "engine.dtype is float32, which is for CPUs: GPUs hold matrices in BF16, F16 or F8_E4M3. "
        "Set it to auto or bfloat16.");
  }
  for (const MatrixPart& part : parts) {
    const DType held = held_as(part.dtype, keep);
    if (has_row_scales(held) && part.scaling != Scaling::kRow) {
      throw EngineError(FailureReason::kUnsupportedQuantization,
                        std::string("A matrix of type ") + name_of(part.dtype) +
                            " has scales of blocks, which the CPU backend takes; GPUs take those of rows.");
    }
  }
}

// Products write four outputs at a time (kernels/fragment_products.h).
void check_place(int64_t row, const MatrixPart& part) {
  if (row % 4 == 0) return;
  throw EngineError(FailureReason::kUnsupportedQuantization,
                    std::string("A matrix of type ") + name_of(part.dtype) + " runs behind " +
                        std::to_string(row) +
                        " outputs of another type; GPUs take a type after a multiple of four outputs.");
}

// For each row, where in its part's scales its own begin.
struct RowScales {
  const MatrixPart* part;
  int64_t row;  // of scales

  bool operator==(const RowScales&) const = default;
};

std::vector<RowScales> row_scales(std::span<const MatrixPart> parts) {
  std::vector<RowScales> rows;
  for (const MatrixPart& part : parts) {
    const int64_t per_scale = part.scaling == Scaling::kRow ? 1 : kStoredBlock;
    for (int64_t row = 0; row < part.rows; ++row) rows.push_back({&part, (part.scale_row + row) / per_scale});
  }
  return rows;
}

// 64 where all rows of a tile share their scales, else 1.
int32_t scale_rows_of(std::span<const RowScales> rows) {
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!(rows[row] == rows[row / kTileRows * kTileRows])) return 1;
  }
  return kTileRows;
}

// The loader has checked its scales; a part whose array is too short would be read beyond it.
void check_scales(std::span<const RowScales> rows, int64_t blocks) {
  for (const auto& [part, row] : rows) {
    const int64_t wanted = part->scaling == Scaling::kRow ? row + 1 : (row + 1) * blocks;
    if (wanted <= static_cast<int64_t>(part->scales.size())) continue;
    throw EngineError(FailureReason::kUnsupportedQuantization,
                      "A quantized tensor of " + std::to_string(part->cols) + " columns has " +
                          std::to_string(part->scales.size()) + " scales, fewer than its rows need.");
  }
}

void pack_row_scales(Device& device, std::span<const RowScales> rows, DeviceBand& band) {
  std::vector<float> scales;
  for (const auto& [part, row] : rows) {
    scales.push_back(part->scales[row] * coded_row_scale(band.matrix.dtype));
  }
  device.upload(std::as_bytes(std::span(scales)), band.scales->data());
}

void pack_scales(Device& device, std::span<const RowScales> rows, DeviceBand& band) {
  const int64_t blocks = divided(band.matrix.cols, kScaleColumns);
  const int32_t scale_rows = band.matrix.scale_rows;
  const int64_t groups = divided(band.matrix.rows, scale_rows);
  std::vector<float> scales(blocks * groups);
  for (int64_t group = 0; group < groups; ++group) {
    const auto& [part, row] = rows[group * scale_rows];
    const bool by_row = part->scaling == Scaling::kRow;
    for (int64_t block = 0; block < blocks; ++block) {
      scales[block * groups + group] = part->scales[by_row ? row : row * blocks + block] * kStoredFp8Scale;
    }
  }
  device.upload(std::as_bytes(std::span(scales)), band.scales->data());
}

}  // namespace

PackingWindows::~PackingWindows() {
  try {
    settle();
  } catch (const EngineError&) {  // it stays: whoever waits for the device next hears of it
  }
}

void PackingWindows::settle() {
  if (bytes_ > 0) device_.finish();
}

std::span<std::byte> PackingWindows::window(int64_t bytes) {
  if (bytes > bytes_) {
    settle();
    pinned_ = nullptr;
    memory_ = nullptr;
    pinned_ = std::make_unique<PinnedMemory>(device_, 2 * bytes);
    memory_ = std::make_unique<DeviceMemory>(device_, 2 * bytes);
    bytes_ = bytes;
  }
  return {pinned_->data() + turn_ * bytes_, static_cast<size_t>(bytes)};
}

const std::byte* PackingWindows::send(int64_t bytes) {
  device_.finish();  // the other one has arrived; it went while this one was filled
  std::byte* const to = memory_->data() + turn_ * bytes_;
  device_.send({pinned_->data() + turn_ * bytes_, static_cast<size_t>(bytes)}, to);
  turn_ = 1 - turn_;
  return to;
}

void Packer::read_rows(const MatrixPart& part, DType held, int64_t row, int64_t count,
                       std::span<std::byte> out) {
  const int64_t row_bytes = bytes_of(part.dtype, part.cols);
  const int64_t held_bytes = bytes_of(held, part.cols);
  read_in_pieces(count, row_bytes, part.any_order, [&](int reader, int64_t first, int64_t rows) {
    const auto to = out.subspan(first * held_bytes, rows * held_bytes);
    if (part.dtype == held) return part.read((row + first) * row_bytes, to);
    std::vector<std::byte>& stored = stored_[reader];
    stored.resize(rows * row_bytes);
    part.read((row + first) * row_bytes, stored);
    const auto* const floats = reinterpret_cast<const float*>(stored.data());
    auto* const halves = reinterpret_cast<uint16_t*>(to.data());
    for (int64_t i = 0; i < rows * part.cols; ++i) halves[i] = llmservice::float_to_bf16(floats[i]);
  });
}

void Packer::pack_coded(std::span<const MatrixPart> parts, DeviceBand& band,
                        const std::function<void(uint64_t)>& on_bytes) {
  const DType type = band.matrix.dtype;
  const int64_t row_bytes = bytes_of(type, band.matrix.cols);
  const int64_t row_groups = type == DType::kF4E2M1 ? band.matrix.cols / kGroupColumns : 0;
  const int64_t window_rows =
      std::clamp<int64_t>(kWindowBytes / (row_bytes + row_groups), 1, band.matrix.rows);
  int64_t first = 0;
  for (const MatrixPart& part : parts) {
    for (int64_t row = 0; row < part.rows; row += window_rows) {
      const int64_t count = std::min(window_rows, part.rows - row);
      const std::span<std::byte> window = windows_.window(window_rows * (row_bytes + row_groups));
      read_rows(part, type, row, count, window.first(count * row_bytes));
      if (row_groups > 0) {
        const auto groups =
            part.group_scales.subspan((part.scale_row + row) * row_groups, count * row_groups);
        std::ranges::copy(groups, window.begin() + count * row_bytes);
      }
      const std::byte* const sent = windows_.send(count * (row_bytes + row_groups));
      device_.run(pack_coded_rows(band.matrix, band.tiles->data(), sent, row_bytes,
                                  row_groups > 0 ? sent + count * row_bytes : nullptr,
                                  static_cast<int32_t>(first + row), static_cast<int32_t>(count)));
      on_bytes(count * row_bytes);
    }
    first += part.rows;
  }
}

void Packer::pack_codes(std::span<const MatrixPart> parts, DeviceBand& band,
                        const std::function<void(uint64_t)>& on_bytes) {
  const DType held = band.matrix.dtype;
  const int64_t row_bytes = band.matrix.cols * size_of(held);
  const int64_t window_rows = std::clamp<int64_t>(kWindowBytes / row_bytes, 1, band.matrix.rows);
  int64_t first = 0;
  for (const MatrixPart& part : parts) {
    for (int64_t row = 0; row < part.rows; row += window_rows) {
      const int64_t count = std::min(window_rows, part.rows - row);
      read_rows(part, held, row, count, windows_.window(window_rows * row_bytes));
      const std::byte* const sent = windows_.send(count * row_bytes);
      device_.run(pack_rows(band.matrix, band.tiles->data(), sent, static_cast<int32_t>(first + row),
                            static_cast<int32_t>(count)));
      on_bytes(bytes_of(part.dtype, count * part.cols));
    }
    first += part.rows;
  }
}

DeviceBand Packer::pack_band(std::span<const MatrixPart> parts, DType held, TileOrder order,
                             const std::function<void(uint64_t)>& on_bytes) {
  int64_t row_count = 0;
  for (const MatrixPart& part : parts) row_count += part.rows;
  const int64_t cols = parts.front().cols;
  const bool coded = is_coded(held);
  const bool scaled = held == DType::kF8E4M3 || has_row_scales(held);
  const std::vector<RowScales> rows = scaled ? row_scales(parts) : std::vector<RowScales>{};
  const int32_t scale_rows = scaled ? scale_rows_of(rows) : kTileRows;
  if (scaled) check_scales(rows, divided(cols, kScaleColumns));
  DeviceBand band;
  band.tiles = std::make_unique<DeviceMemory>(device_, tile_bytes(held, row_count, cols));
  if (scaled) {
    band.scales = std::make_unique<DeviceMemory>(device_, scale_bytes(held, row_count, cols, scale_rows));
  }
  band.matrix = {.tiles = band.tiles->data(),
                 .scales = scaled ? reinterpret_cast<const float*>(band.scales->data()) : nullptr,
                 .scale_rows = scale_rows,
                 .dtype = held,
                 .order = coded ? TileOrder::kFragments : order,
                 .rows = static_cast<int32_t>(row_count),
                 .cols = static_cast<int32_t>(cols),
                 .stride = static_cast<int32_t>(row_count),
                 .multiprocessors = device_.multiprocessors()};
  // Reading may make the scales of rows and blocks.
  if (coded) {
    pack_coded(parts, band, on_bytes);
    if (scaled) pack_row_scales(device_, rows, band);
  } else {
    pack_codes(parts, band, on_bytes);
    if (scaled) pack_scales(device_, rows, band);
  }
  return band;
}

std::unique_ptr<DeviceWeights> Packer::pack(std::span<const MatrixPart> parts, DType keep, TileOrder order,
                                            const std::function<void(uint64_t)>& on_bytes) {
  check_format(parts, keep);
  auto weights = std::make_unique<DeviceWeights>();
  weights->cols = parts.front().cols;
  const auto held_of = [&](const MatrixPart& part) { return held_as(part.dtype, keep); };
  for (size_t first = 0, end = 0; first < parts.size(); first = end) {
    const DType held = held_of(parts[first]);
    while (end < parts.size() && held_of(parts[end]) == held) ++end;
    check_place(weights->rows, parts[first]);
    const DeviceBand& band =
        weights->bands.emplace_back(pack_band(parts.subspan(first, end - first), held, order, on_bytes));
    weights->rows += band.matrix.rows;
    weights->bytes += band.bytes();
  }
  for (DeviceBand& band : weights->bands) band.matrix.stride = static_cast<int32_t>(weights->rows);
  const std::span<const int32_t> columns = parts.front().order;
  if (!columns.empty()) {
    weights->order = std::make_unique<DeviceMemory>(device_, columns.size_bytes());
    device_.upload(std::as_bytes(columns), weights->order->data());
    weights->bytes += columns.size_bytes();
  }
  return weights;
}

std::unique_ptr<DeviceWeights> Packer::narrow(const DeviceMatrix& wide) {
  constexpr DType kHeld = DType::kF8E4M3;
  auto weights = std::make_unique<DeviceWeights>();
  DeviceBand& band = weights->bands.emplace_back();
  band.tiles = std::make_unique<DeviceMemory>(device_, tile_bytes(kHeld, wide.rows, wide.cols));
  band.scales = std::make_unique<DeviceMemory>(device_, scale_bytes(kHeld, wide.rows, wide.cols, kTileRows));
  auto* const scales = reinterpret_cast<float*>(band.scales->data());
  band.matrix = wide;
  band.matrix.tiles = band.tiles->data();
  band.matrix.scales = scales;
  band.matrix.scale_rows = kTileRows;
  band.matrix.dtype = kHeld;
  device_.run(narrow_tiles(wide, band.tiles->data(), scales));
  weights->rows = wide.rows;
  weights->cols = wide.cols;
  weights->bytes = band.bytes();
  return weights;
}

}  // namespace llmservice::gpu
