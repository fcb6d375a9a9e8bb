#include "model/checkpoint.h"

#include <algorithm>
#include <optional>

#include "model/fused_experts.h"
#include "model/nvfp4_blocks.h"
#include "model/restored_tensor.h"
#include "model/rounds_by_rank.h"
#include "model/stored_weight.h"
#include "ops/block_types.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

std::optional<DType> dtype_named(const std::string& name) {
  using enum DType;
  for (const DType t : {kF32,  kBF16, kF16,  kI8,   kF8E4M3, kF4E2M1, kQ8_0,   kQ4_0,  kQ4_K, kQ6_K, kQ4_1,
                        kQ5_0, kQ5_1, kQ5_K, kQ2_K, kQ3_K,   kIQ4_NL, kIQ4_XS, kMXFP4, kInt4, kInt8}) {
    if (name == name_of(t)) return t;
  }
  return std::nullopt;
}

// Both NaN encodings of e4m3 have the seven low bits set.
bool has_fp8_nan(std::span<const std::byte> data) {
  uint32_t found = 0;
  for (const std::byte b : data) found |= (static_cast<uint8_t>(b) & 0x7f) == 0x7f ? 1u : 0u;
  return found != 0;
}

// Of experts that lie otherwise, or of blocks whose codes and scales lie apart.
bool is_of_experts(Restoration restoration) {
  return restoration == Restoration::kExperts || restoration == Restoration::kPairedExperts ||
         restoration == Restoration::kBlocks;
}

// Of the columns that a rank keeps together.
uint64_t unit_bytes(const CheckpointSource& source, const TensorPlace& place) {
  const auto dtype = dtype_named(place.dtype);
  if (!dtype) return 1;
  if (is_block_type(*dtype)) return block_layout(*dtype).bytes;
  if (*dtype == DType::kF4E2M1) return kGroupColumns / 2;
  const bool in_blocks = place.quantizable && source.quantization == LoadQuantization::kFp8;
  return size_of(*dtype) * (in_blocks ? kScaleBlock : 1);
}

}  // namespace

std::string to_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t dim : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

void Tensor::read(uint64_t at, std::span<std::byte> out) const {
  if (arrivals != nullptr && !derived) arrivals->wait_for(file->name(), offset + at, out.size());
  file->read(offset + at, out);
  if (dtype == DType::kF8E4M3 && has_fp8_nan(out)) {
    throw EngineError(FailureReason::kCheckpointCorrupt,
                      file->name() + ": tensor " + name + " holds FP8 values that are not numbers.");
  }
  if (is_block_type(dtype) && !has_finite_scales(dtype, out)) {
    throw EngineError(FailureReason::kCheckpointCorrupt,
                      file->name() + ": tensor " + name + " has a block whose scale is not a finite number.");
  }
}

void Tensor::announce(uint64_t at, uint64_t count) const {
  if (!derived && arrivals == nullptr) file->announce(offset + at, count);
}

Checkpoint::Checkpoint(const CheckpointSource& source, const Arrivals* arrivals, int32_t ranks)
    : arrivals_(arrivals) {
  for (const TensorPlace& place : source.tensors) where_[place.name] = open(source, place, ranks);
}

const TensorFile& Checkpoint::open(const CheckpointSource& source, const std::string& name) {
  std::unique_ptr<TensorFile>& file = files_[name];
  if (file == nullptr) file = std::make_unique<StoredFile>(source.dir / name);
  return *file;
}

template <class Derive>
void Checkpoint::derive(Opened& opened, Derive derive) {
  opened.file = restored_.emplace_back(derive(*opened.file, opened.derived ? nullptr : arrivals_)).get();
  opened.derived = true;
}

Checkpoint::Opened Checkpoint::open(const CheckpointSource& source, const TensorPlace& place, int32_t ranks) {
  if (place.packed) {
    const auto open_part = [&](const std::string& name) { return &open(source, name); };
    return {restored_.emplace_back(packed_tensor(place, open_part, arrivals_, unpacked_)).get(), &place,
            true};
  }
  Opened opened{&open(source, place.file), &place, false};
  if (place.block_part) {
    derive(opened, [&](const TensorFile& file, const Arrivals* arrivals) {
      return nvfp4_part(file, place, arrivals);
    });
  }
  if (is_of_experts(place.restoration)) {
    const TensorFile* const scales = place.scales ? &open(source, place.scales->file) : nullptr;
    derive(opened, [&](const TensorFile& file, const Arrivals* arrivals) {
      return fused_experts(place, file, scales, arrivals, *turned_);
    });
  } else if (place.restoration != Restoration::kNone) {
    derive(opened, [&](const TensorFile& file, const Arrivals* arrivals) {
      return restored_tensor(file, place, source.config.head_dim, arrivals);
    });
  }
  if (has_rounds(source.config, place, ranks)) {
    derive(opened, [&](const TensorFile& file, const Arrivals* arrivals) {
      const RankRounds by{.ranks = ranks, .unit_bytes = unit_bytes(source, place)};
      return rounds_by_rank(file, place, *source.config.gdn, by, arrivals);
    });
  }
  return opened;
}

Tensor Checkpoint::tensor(const std::string& name) const {
  const auto found = where_.find(name);
  if (found == where_.end()) {
    throw EngineError(FailureReason::kCheckpointIncomplete, "The checkpoint has no tensor " + name + ".");
  }
  const auto& [file, place, derived] = found->second;
  const auto dtype = dtype_named(place->dtype);
  if (!dtype) {
    throw EngineError(FailureReason::kUnsupportedQuantization,
                      file->name() + ": tensor " + name + " has type " + place->dtype +
                          "; supported are F32, BF16, F16, F8_E4M3, I8 and U8 (NVFP4).");
  }
  return {.name = place->stored_name,
          .dtype = *dtype,
          .shape = place->shape,
          .offset = place->offset,
          .bytes = place->bytes,
          .file = file,
          .derived = derived,
          .quantizable = place->quantizable,
          // What packed tensors are made of, they wait for themselves.
          .arrivals = place->packed ? nullptr : arrivals_};
}

Tensor Checkpoint::tensor(const std::string& name, const std::vector<int64_t>& shape) const {
  Tensor found = tensor(name);
  if (found.shape != shape) {
    throw EngineError(FailureReason::kCheckpointCorrupt,
                      found.file->name() + ": tensor " + name + " has shape " + to_text(found.shape) +
                          " where config.json implies " + to_text(shape) + ".");
  }
  return found;
}

std::vector<int64_t> Checkpoint::integers(const std::string& name, int64_t count) const {
  const auto found = where_.find(name);
  if (found == where_.end()) {
    throw EngineError(FailureReason::kCheckpointIncomplete, "The checkpoint has no tensor " + name + ".");
  }
  const auto& [file, place, derived] = found->second;
  const bool fits = place->shape == std::vector<int64_t>{count};
  if (place->dtype != "I64" || !fits) {
    throw EngineError(fits ? FailureReason::kUnsupportedQuantization : FailureReason::kCheckpointCorrupt,
                      file->name() + ": tensor " + place->stored_name + " has type " + place->dtype +
                          " and shape " + to_text(place->shape) + "; it is read as I64 of shape " +
                          to_text({count}) + ".");
  }
  std::vector<int64_t> values(count);
  if (arrivals_ != nullptr) arrivals_->wait_for(file->name(), place->offset, place->bytes);
  file->read(place->offset, std::as_writable_bytes(std::span(values)));
  return values;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, opened] : where_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t Checkpoint::bytes_of(const std::function<bool(const std::string&)>& wanted) const {
  uint64_t total = 0;
  for (const auto& [name, opened] : where_) {
    if (wanted(name)) total += opened.place->bytes;
  }
  return total;
}

}  // namespace llmservice
