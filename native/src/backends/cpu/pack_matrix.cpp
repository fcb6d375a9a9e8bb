// Packing: stored rows are turned K-major by all threads while they are hot.
#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <mutex>

#include "backends/cpu/packed_matrix.h"
#include "ops/dtype.h"

namespace llmservice::cpu {
namespace {

constexpr int64_t kWindowBytes = int64_t{16} << 20;
// That a worker reads of a panel at once, of whole rows: what its cache holds, and what stays its memory.
constexpr int64_t kBandBytes = int64_t{512} << 10;

// Copies `rows` row-major rows of `cols` into panel order, kTogether columns of a row side by side,
// converting each element. A line of each row at a time: rows often lie a power of two apart, where few fit
// in cache.
template <int64_t kTogether, class From, class To, class Convert>
void scatter(const From* from, int64_t rows, int64_t cols, To* to, Convert convert) {
  constexpr int64_t kLine = 64 / sizeof(From);
  From lines[kPanelRows][kLine];
  for (int64_t first = 0; first < cols; first += kLine) {
    const int64_t count = std::min(kLine, cols - first);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * cols + first, count, lines[r]);
    for (int64_t k = 0; k < count; ++k) {
      To* column = to + element_of<kTogether>(first + k);
      for (int64_t r = 0; r < rows; ++r) column[r * kTogether] = convert(lines[r][k]);
    }
  }
}

template <class Element, int64_t kTogether = 1>
void scatter_as_is(const std::byte* from, int64_t rows, int64_t cols, std::byte* to) {
  scatter<kTogether>(reinterpret_cast<const Element*>(from), rows, cols, reinterpret_cast<Element*>(to),
                     [](Element x) { return x; });
}

// Rows that lie in one panel.
void pack_band(DType from, DType to, const std::byte* data, int64_t rows, int64_t cols, std::byte* out) {
  const auto* halves = reinterpret_cast<const uint16_t*>(data);
  const auto* floats = reinterpret_cast<const float*>(data);
  if (from == DType::kF4E2M1) return scatter_as_is<uint32_t>(data, rows, cols / 8, out);
  constexpr int64_t kFp8Together = columns_together(DType::kF8E4M3);
  constexpr int64_t kBf16Together = columns_together(DType::kBF16);
  if (from == to) {
    static_assert(kFp8Together == 2 && kBf16Together == 2);
    const bool in_pairs = cols % 2 == 0;  // which move as one element
    if (from == DType::kF8E4M3 && in_pairs) return scatter_as_is<uint16_t>(data, rows, cols / 2, out);
    if (from == DType::kBF16 && in_pairs) return scatter_as_is<uint32_t>(data, rows, cols / 2, out);
    if (from == DType::kF8E4M3) return scatter_as_is<uint8_t, kFp8Together>(data, rows, cols, out);
    if (from == DType::kBF16) return scatter_as_is<uint16_t, kBf16Together>(data, rows, cols, out);
    if (size_of(from) == 1) return scatter_as_is<uint8_t>(data, rows, cols, out);
    if (size_of(from) == 2) return scatter_as_is<uint16_t>(data, rows, cols, out);
    return scatter_as_is<float>(data, rows, cols, out);
  }
  if (to == DType::kBF16) {  // from F32: F16 is held as it is
    return scatter<kBf16Together>(floats, rows, cols, reinterpret_cast<uint16_t*>(out), float_to_bf16);
  }
  auto* packed = reinterpret_cast<float*>(out);
  if (from == DType::kBF16) return scatter<1>(halves, rows, cols, packed, bf16_to_float);
  scatter<1>(halves, rows, cols, packed, f16_to_float);
}

// The loader has checked its scales; a part whose arrays are too short would read beyond them.
void check_scales(const MatrixPart& part, int64_t blocks) {
  const int64_t end = part.scale_row + part.rows;
  const bool by_row = part.scaling == Scaling::kRow;
  const int64_t wanted = by_row ? end : (end + kDepthBlock - 1) / kDepthBlock * blocks;
  const int64_t groups = part.dtype == DType::kF4E2M1 ? end * part.cols / kGroupColumns : 0;
  if (wanted <= static_cast<int64_t>(part.scales.size()) &&
      groups <= static_cast<int64_t>(part.group_scales.size())) {
    return;
  }
  throw EngineError(FailureReason::kUnsupportedQuantization,
                    "A quantized tensor of " + std::to_string(part.cols) + " columns has " +
                        std::to_string(part.scales.size()) + " scales, too few for its row " +
                        std::to_string(end - 1) + ": expected one per " + (by_row ? "row" : "128x128 block") +
                        ".");
}

void pack_scales(const MatrixPart& part, int64_t first_row, const PackedPanels& panels) {
  const int64_t blocks = panels.scale_blocks();
  const int64_t rows_per_scale = part.scaling == Scaling::kRow ? 1 : kDepthBlock;
  for (int64_t row = 0; row < part.rows; ++row) {
    const float* from = part.scales.data() + (part.scale_row + row) / rows_per_scale * blocks;
    float* to = panels.scale(first_row + row);
    for (int64_t b = 0; b < blocks; ++b) to[b * kPanelRows] = from[b] * widening_factor(part.dtype);
  }
  const int64_t groups = part.dtype == DType::kF4E2M1 ? part.cols / kGroupColumns : 0;
  for (int64_t row = 0; row < part.rows && groups > 0; ++row) {
    const std::byte* from = part.group_scales.data() + (part.scale_row + row) * groups;
    scatter_as_is<uint8_t>(from, 1, groups, panels.group_scale(first_row + row));
  }
}

void pack_block_rows(DType type, const std::byte* data, int64_t first_row, int64_t end,
                     const PackedPanels& panels) {
  const int64_t row_bytes = bytes_of(type, panels.cols());
  for (int64_t row = first_row; row < end; ++row, data += row_bytes) {
    pack_block_row(panels.block_panel(row), data, panels.cols());
  }
}

// Whether panels of that type and width multiply activations that are rounded so.
bool takes(Activations activations, DType held, int64_t cols) {
  return activations == Activations::kFixed ? takes_fixed(held) : takes_pairs(held, cols);
}

// What of the run a job packs: rows [first_row, first_row + rows), which are the part's from `part_row` on.
struct PackedRows {
  int64_t first_row;
  int64_t rows;
  int64_t part_row;
};

// The first of the errors that tiles meet, in their order: a body of the pool must not throw.
class FirstError {
 public:
  template <class Body>
  void keep(int64_t tile, const Body& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ != nullptr && tile_ < tile) return;
      tile_ = tile;
      error_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  int64_t tile_ = 0;
  std::exception_ptr error_;
};

class Packing {
 public:
  Packing(ThreadPool& pool, Scratch& scratch, const std::function<void(uint64_t)>& on_bytes)
      : pool_(pool), scratch_(scratch), on_bytes_(on_bytes) {}

  // Packs a run of parts that are held in one type.
  PackedPanels pack_run(std::span<const MatrixPart> parts, DType held, Activations activations) {
    int64_t rows = 0;
    for (const MatrixPart& part : parts) rows += part.rows;
    PackedPanels panels(rows, parts.front().cols, held, parts.front().scaling,
                        takes(activations, held, parts.front().cols) ? activations : Activations::kFloat32);
    int64_t first_row = 0;
    for (const MatrixPart& part : parts) {
      if (has_scales(held)) check_scales(part, panels.scale_blocks());
      const int64_t row_bytes = bytes_of(part.dtype, part.cols);
      const int64_t window_rows = std::clamp<int64_t>(kWindowBytes / row_bytes, 1, part.rows);
      for (int64_t row = 0; row < part.rows; row += window_rows) {
        const PackedRows next{first_row + row, std::min(window_rows, part.rows - row), row};
        if (part.any_order) {
          read_panels(part, next, panels);
        } else {
          read_window(part, next, panels);
        }
        on_bytes_(next.rows * row_bytes);
      }
      if (has_scales(held)) pack_scales(part, first_row, panels);  // read may have made them
      first_row += part.rows;
    }
    return panels;
  }

 private:
  // Each worker reads what it packs.
  void read_panels(const MatrixPart& part, const PackedRows& window, const PackedPanels& panels) {
    FirstError error;
    const int64_t row_bytes = bytes_of(part.dtype, part.cols);
    run_panels(window, [&](int64_t begin, int64_t end, int worker) {
      error.keep(begin, [&] {
        const int64_t at_once = std::max<int64_t>(kBandBytes / row_bytes, 1);
        for (int64_t row = begin; row < end; row += at_once) {
          const int64_t next = std::min(row + at_once, end);
          const std::span bytes = bytes_for(worker, (next - row) * row_bytes);
          part.read((row - window.first_row + window.part_row) * row_bytes, bytes);
          pack_rows(part, bytes.data(), row, next, panels);
        }
      });
    });
    error.rethrow();
  }

  void read_window(const MatrixPart& part, const PackedRows& window, const PackedPanels& panels) {
    const int64_t row_bytes = bytes_of(part.dtype, part.cols);
    window_.resize(std::max<size_t>(window_.size(), window.rows * row_bytes));
    part.read(window.part_row * row_bytes, std::span(window_).first(window.rows * row_bytes));
    run_panels(window, [&](int64_t begin, int64_t end, int) {
      pack_rows(part, window_.data() + (begin - window.first_row) * row_bytes, begin, end, panels);
    });
  }

  // body(begin, end, worker) for the rows of each panel touched.
  template <class Body>
  void run_panels(const PackedRows& window, const Body& body) {
    const int64_t first = window.first_row / kPanelRows;
    const int64_t end_row = window.first_row + window.rows;
    pool_.run((end_row - 1) / kPanelRows + 1 - first, [&](int64_t tile, int worker) {
      body(std::max(window.first_row, (first + tile) * kPanelRows),
           std::min(end_row, (first + tile + 1) * kPanelRows), worker);
    });
  }

  std::span<std::byte> bytes_for(int worker, int64_t bytes) {
    auto* const data = scratch_.of_worker(worker, (bytes + sizeof(float) - 1) / sizeof(float));
    return {reinterpret_cast<std::byte*>(data), static_cast<size_t>(bytes)};
  }

  static void pack_rows(const MatrixPart& part, const std::byte* from, int64_t begin, int64_t end,
                        const PackedPanels& panels) {
    if (is_block_type(part.dtype)) return pack_block_rows(part.dtype, from, begin, end, panels);
    pack_band(part.dtype, panels.held(), from, end - begin, part.cols, panels.weight(begin));
  }

  ThreadPool& pool_;
  Scratch& scratch_;
  const std::function<void(uint64_t)>& on_bytes_;
  std::vector<std::byte> window_;
};

}  // namespace

std::unique_ptr<PackedMatrix> pack_matrix(std::span<const MatrixPart> parts, DType keep,
                                          Activations activations,
                                          const std::function<void(uint64_t)>& on_bytes, ThreadPool& pool,
                                          Scratch& scratch) {
  Packing packing(pool, scratch, on_bytes);
  std::vector<PackedPanels> runs;
  std::vector<int32_t> order = parts.front().order;
  while (!parts.empty()) {
    const DType held = held_as(parts.front().dtype, keep);
    const auto end = std::ranges::find_if(parts, [&](const MatrixPart& part) {
      return held_as(part.dtype, keep) != held || part.scaling != parts.front().scaling;
    });
    const auto count = static_cast<size_t>(end - parts.begin());
    runs.push_back(packing.pack_run(parts.first(count), held, activations));
    parts = parts.subspan(count);
  }
  return std::make_unique<PackedMatrix>(std::move(runs), std::move(order));
}

}  // namespace llmservice::cpu
