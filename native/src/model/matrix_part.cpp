// Reading scales, band by band.
#include "model/matrix_part.h"

#include <cmath>

#include "ops/dtype.h"

namespace llmservice {
namespace {

// The band's columns in units that share a scale.
Range in_units(const Band& band, int64_t unit) {
  check_column_borders(band, unit, "use fewer ranks");
  return {band.cols.begin / unit, (band.cols.count + unit - 1) / unit};
}

// Elements of `stored_cols` a row, each of `element_bytes`.
TensorReader reader_of(const Tensor& tensor, int64_t stored_cols, Range rows, Range cols,
                       int64_t element_bytes) {
  return band_reader([tensor](uint64_t at, std::span<std::byte> out) { tensor.read(at, out); }, stored_cols,
                     rows, cols, element_bytes,
                     [tensor](uint64_t at, uint64_t bytes) { tensor.announce(at, bytes); });
}

// A band of a stored (rows, cols) tensor of scales, widened.
std::vector<float> read_scales(const Tensor& tensor, int64_t stored_cols, Range rows, Range cols,
                               const BytesRead& on_bytes) {
  const int64_t unit = size_of(tensor.dtype);
  std::vector<std::byte> bytes(rows.count * cols.count * unit);
  reader_of(tensor, stored_cols, rows, cols, unit)(0, bytes);
  on_bytes(bytes.size());
  std::vector<float> out(rows.count * cols.count);
  for (size_t i = 0; i < out.size(); ++i) out[i] = widen(tensor.dtype, bytes.data(), static_cast<int64_t>(i));
  return out;
}

float read_one(const Tensor& tensor, const BytesRead& on_bytes) {
  return read_scales(tensor, 1, whole(1), whole(1), on_bytes).front();
}

// Of kF8E4M3 and kI8.
void read_outer_scales(const StoredWeight& stored, const Band& band, PartScales& scales, MatrixPart& part,
                       const BytesRead& on_bytes) {
  if (stored.scaling == Scaling::kBlock) {
    const Range columns = in_units(band, kScaleBlock);
    scales.values =
        read_scales(*stored.scale, blocks_of(stored.cols), whole(blocks_of(stored.rows)), columns, on_bytes);
    part.scale_row = band.rows.begin;
  } else if (stored.one_scale()) {
    scales.values.assign(band.rows.count, read_one(*stored.scale, on_bytes));
  } else {
    scales.values = read_scales(*stored.scale, 1, band.rows, whole(1), on_bytes);
  }
}

void read_nvfp4_scales(const StoredWeight& stored, const Band& band, PartScales& scales,
                       const BytesRead& on_bytes) {
  const float global = read_one(*stored.global_scale, on_bytes);
  if (!std::isfinite(global) || (stored.divides && global == 0)) {
    throw EngineError(FailureReason::kCheckpointCorrupt,
                      band.module + ": the scale of its whole tensor is " + std::to_string(global) + ".");
  }
  scales.values.assign(band.rows.count, stored.divides ? 1.0f / global : global);
  const Range groups = in_units(band, kGroupColumns);
  scales.groups.resize(band.rows.count * groups.count);
  reader_of(*stored.scale, stored.cols / kGroupColumns, band.rows, groups, 1)(0, scales.groups);
  on_bytes(scales.groups.size());
}

}  // namespace

void check_column_borders(const Band& band, int64_t unit, const char* remedy) {
  const int64_t end = band.cols.begin + band.cols.count;
  if (band.cols.begin % unit == 0 && (end % unit == 0 || end == band.stored_cols)) return;
  throw EngineError(FailureReason::kParallelismInvalid,
                    band.module + ": a rank's columns are " + std::to_string(band.cols.begin) + " to " +
                        std::to_string(end - 1) + ", which cuts a group of " + std::to_string(unit) +
                        " that share a scale; " + remedy + ".");
}

MatrixPart matrix_part(const StoredWeight& stored, const Band& band, PartScales& scales,
                       const BytesRead& on_bytes) {
  const Tensor weight = stored.weight;
  // Two E2M1 columns are read as one byte, and the columns of a block as one.
  const int64_t per_unit = weight.dtype == DType::kF4E2M1 ? 2 : block_layout(weight.dtype).columns;
  if (is_block_type(weight.dtype)) check_column_borders(band, per_unit, "use fewer ranks");
  const Range columns = {band.cols.begin / per_unit, band.cols.count / per_unit};
  MatrixPart part{
      .dtype = weight.dtype,
      .rows = band.rows.count,
      .cols = band.cols.count,
      .read = reader_of(weight, stored.cols / per_unit, band.rows, columns, bytes_of(weight.dtype, per_unit)),
      .scales = {},
      .scale_row = 0,
      .scaling = stored.scaling,
      .group_scales = {}};
  part.order = weight.file->column_order();
  // What makes bytes of others, or waits for them, does so in turn.
  part.any_order = !weight.derived && weight.arrivals == nullptr;
  if (!part.order.empty())
    check_column_borders(band, stored.cols,
                         "columns in the order of their groups stay together: use one rank");
  if (weight.dtype == DType::kF4E2M1) {
    read_nvfp4_scales(stored, band, scales, on_bytes);
  } else if (has_scales(weight.dtype)) {
    read_outer_scales(stored, band, scales, part, on_bytes);
  }
  part.scales = scales.values;
  part.group_scales = scales.groups;
  return part;
}

}  // namespace llmservice
