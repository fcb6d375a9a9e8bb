#include "model/adapters.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "model/stored_file.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

Site site_of(Projection projection) {
  switch (projection) {
    case Projection::kQProj:
    case Projection::kKProj:
    case Projection::kVProj:
      return Site::kQkv;
    case Projection::kOProj:
      return Site::kOutput;
    case Projection::kGateProj:
    case Projection::kUpProj:
      return Site::kGateUp;
    default:
      return Site::kDown;
  }
}

DType dtype_of(AdapterDtype dtype) {
  switch (dtype) {
    case AdapterDtype::kF32:
      return DType::kF32;
    case AdapterDtype::kF16:
      return DType::kF16;
    default:
      return DType::kBF16;
  }
}

// A stored matrix of `cols` columns, read through a window.
class StoredRows {
 public:
  StoredRows(const StoredFile& file, DType dtype, int64_t offset, int64_t cols)
      : file_(file), dtype_(dtype), offset_(offset), cols_(cols), row_bytes_(cols * size_of(dtype)) {}

  // body(row, column, value) of each value; rows count from the first of `rows`.
  template <class Body>
  void read(Range rows, const Body& body) {
    const int64_t together = std::max<int64_t>(1, kWindowBytes / row_bytes_);
    for (int64_t done = 0; done < rows.count; done += together) {
      const int64_t count = std::min(together, rows.count - done);
      bytes_.resize(count * row_bytes_);
      file_.read(offset_ + (rows.begin + done) * row_bytes_, bytes_);
      for (int64_t i = 0; i < count * cols_; ++i) {
        body(done + i / cols_, i % cols_, widen(dtype_, bytes_.data(), i));
      }
    }
  }

 private:
  static constexpr int64_t kWindowBytes = 1 << 20;
  const StoredFile& file_;
  DType dtype_;
  int64_t offset_;
  int64_t cols_;
  int64_t row_bytes_;
  std::vector<std::byte> bytes_;
};

// (rows, cols) of values in the type that they are held in.
class Held {
 public:
  Held(DType dtype, int64_t values) : dtype_(dtype), bytes_(values * size_of(dtype)) {}
  void set(int64_t index, float value) {
    if (dtype_ == DType::kF32) {
      std::memcpy(bytes_.data() + index * 4, &value, 4);
    } else {
      const uint16_t rounded = float_to_bf16(value);
      std::memcpy(bytes_.data() + index * 2, &rounded, 2);
    }
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  DType dtype_;
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse(const std::string& problem) {
  throw EngineError(FailureReason::kInvalidEngineConfig, problem);
}

}  // namespace

Adapters::Adapters(Backend& backend, const ModelConfig& config, Shard shard, DType keep)
    : backend_(backend),
      config_(config),
      shard_(shard),
      held_(keep == DType::kF32 ? DType::kF32 : DType::kBF16) {}

void Adapters::load(const AdapterPart& part) {
  check(part);
  try {
    const StoredFile file(part.file);
    Adapter& adapter = loading_.try_emplace(part.number, config_.trunk_layers()).first->second;
    for (const AdapterPair& pair : part.pairs) {
      check_place(pair);
      const Site site = site_of(pair.projection);
      const std::vector<Band> bands = site_bands(config_, shard_, site, "");
      adapter[pair.layer][static_cast<size_t>(site)].push_back(read(file, pair, bands));
    }
  } catch (const std::bad_alloc&) {
    loading_.clear();
    throw EngineError(FailureReason::kModelTooLarge, "The adapter does not fit in this machine's memory.");
  } catch (...) {
    loading_.clear();
    throw;
  }
  if (part.last) loaded_.insert(loading_.extract(part.number));
}

void Adapters::check(const AdapterPart& part) const {
  if (!backend_.adapts()) {
    refuse("LoRA adapters run on CPUs alone: there are no kernels for them on " +
           std::string(backend_.isa()) + ".");
  }
  if (part.number < 1 || part.number > kMost) {
    refuse("An adapter has number " + std::to_string(part.number) + "; numbers are 1 to " +
           std::to_string(kMost) + ".");
  }
  if (has(part.number)) refuse("Adapter " + std::to_string(part.number) + " is loaded already.");
  if (!loading_.empty() && !loading_.contains(part.number)) {
    refuse("Adapter " + std::to_string(part.number) + " is to be loaded while adapter " +
           std::to_string(loading_.begin()->first) + " is not whole.");
  }
}

void Adapters::check_place(const AdapterPair& pair) const {
  const std::string where =
      "layer " + std::to_string(pair.layer) + ", " + std::string(name_of(pair.projection));
  if (pair.layer < 0 || pair.layer >= std::ssize(config_.layers)) refuse("There is no " + where + ".");
  if (pair.rank < 1 || pair.rank > kMaxRank) {
    refuse("The adapter has rank " + std::to_string(pair.rank) + " at " + where + "; ranks are 1 to " +
           std::to_string(kMaxRank) + ".");
  }
  const Site site = site_of(pair.projection);
  const bool attends = site == Site::kQkv || site == Site::kOutput;
  const bool there = attends ? config_.layers[pair.layer] == LayerKind::kAttention
                             : config_.feed_forward[pair.layer] == FeedForwardKind::kDense;
  if (!there) refuse("The model has no matrix for an adapter at " + where + ".");
}

Adapters::Pair Adapters::read(const StoredFile& file, const AdapterPair& stored,
                              const std::vector<Band>& bands) const {
  LowRank view{.a = nullptr,
               .b = nullptr,
               .dtype = held_,
               .rank = stored.rank,
               .cols = bands.front().cols.count,
               .rows = 0,
               .first = 0,
               .scale = stored.scale};
  // A projection's bands lie side by side.
  std::vector<Range> own;
  for (const Band& band : bands) {
    if (band.module.ends_with(name_of(stored.projection))) {
      own.push_back(band.rows);
      view.rows += band.rows.count;
    } else if (own.empty()) {
      view.first += band.rows.count;
    }
  }
  const Range columns = bands.front().cols;
  Held a(held_, view.cols * view.width());
  StoredRows a_rows(file, dtype_of(stored.a_dtype), stored.a_offset, bands.front().stored_cols);
  a_rows.read(whole(view.rank), [&](int64_t r, int64_t column, float value) {
    const int64_t at = column - columns.begin;
    if (at >= 0 && at < columns.count) a.set(at * view.width() + r, value);
  });
  Held b(held_, view.rank * view.rows);
  StoredRows b_rows(file, dtype_of(stored.b_dtype), stored.b_offset, view.rank);
  int64_t to = 0;
  for (const Range& range : own) {
    b_rows.read(range, [&](int64_t row, int64_t r, float value) { b.set(r * view.rows + to + row, value); });
    to += range.count;
  }
  const size_t a_bytes = (a.bytes().size() + 63) / 64 * 64;
  Pair pair{.memory = backend_.allocate(a_bytes + b.bytes().size()), .view = view};
  auto* const memory = static_cast<std::byte*>(pair.memory->data());
  backend_.upload(a.bytes(), memory);
  backend_.upload(b.bytes(), memory + a_bytes);
  pair.view.a = memory;
  pair.view.b = memory + a_bytes;
  return pair;
}

void Adapters::drop(int32_t number) {
  loaded_.erase(number);
  loading_.erase(number);
}

void Adapters::apply(std::span<const AdaptedRows> rows, size_t layer, Site site, const float* x, float* out,
                     int64_t stride) {
  if (rows.empty()) return;
  entries_.clear();
  int64_t cols = 0;
  for (const auto& [number, first, count] : rows) {
    for (const Pair& pair : loaded_.at(number)[layer][static_cast<size_t>(site)]) {
      entries_.push_back({&pair.view, first, count});
      cols = pair.view.cols;
    }
  }
  if (!entries_.empty()) backend_.add_low_rank(entries_, x, cols, out, stride);
}

}  // namespace llmservice
