#include "model/adapters.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

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

// Matrices begin at a line of the cache.
constexpr size_t kLineBytes = 64;

[[noreturn]] void refuse(const std::string& problem) {
  throw EngineError(FailureReason::kInvalidEngineConfig, problem);
}

}  // namespace

Adapters::Adapters(Backend& backend, const ModelConfig& config, Shard shard, DType keep, int32_t max_rank)
    : backend_(backend),
      config_(config),
      shard_(shard),
      held_(keep == DType::kF32 ? DType::kF32 : DType::kBF16),
      max_rank_(max_rank) {}

void Adapters::load(const AdapterPart& part) {
  check(part);
  try {
    const StoredFile file(part.file);
    const auto layers = static_cast<int64_t>(config_.trunk_layers());
    Adapter& adapter =
        loading_.try_emplace(part.number, LowRankTable(layers * int64_t{kSites})).first->second;
    std::vector<Place> places;
    size_t bytes = 0;
    const auto take = [&](int64_t values) {
      return std::exchange(bytes,
                           bytes + (values * size_of(held_) + kLineBytes - 1) / kLineBytes * kLineBytes);
    };
    for (const AdapterPair& pair : part.pairs) {
      check_place(pair);
      Place& added = places.emplace_back(place(pair));
      added.a = take(added.pair.a_values());
      added.b = take(added.pair.b_values());
    }
    adapter.memory.push_back(backend_.allocate(bytes));
    auto* const memory = static_cast<std::byte*>(adapter.memory.back()->data());
    for (Place& read_now : places) {
      read(file, read_now, memory);
      read_now.pair.a = memory + read_now.a;
      read_now.pair.b = memory + read_now.b;
      put(adapter.table, read_now);
    }
    if (part.last) backend_.index_pairs(adapter.table);
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
    refuse("There are no kernels for LoRA adapters on " + std::string(backend_.isa()) + ".");
  }
  if (max_rank_ == 0) {
    refuse("The engine was loaded without room for LoRA adapters (engine.maxAdapters, --max-adapters).");
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

// Behind the pairs that are there; a projection that comes twice takes the place of its first.
void Adapters::put(LowRankTable& table, const Place& place) {
  const int64_t site = static_cast<int64_t>(site_of(place.stored->projection));
  for (LowRank& pair : table.all_at(place.stored->layer * int64_t{kSites} + site)) {
    if (pair.rows > 0 && pair.first != place.pair.first) continue;
    pair = place.pair;
    return;
  }
}

void Adapters::check_place(const AdapterPair& pair) const {
  const std::string where =
      "layer " + std::to_string(pair.layer) + ", " + std::string(name_of(pair.projection));
  // Those of multi-token prediction, which come behind, take no adapters.
  if (pair.layer < 0 || pair.layer >= static_cast<int32_t>(config_.trunk_layers()))
    refuse("There is no " + where + ".");
  if (pair.rank < 1 || pair.rank > max_rank_) {
    refuse("The adapter has rank " + std::to_string(pair.rank) + " at " + where +
           "; this engine has room for ranks 1 to " + std::to_string(max_rank_) +
           " (engine.maxAdapterRank).");
  }
  const Site site = site_of(pair.projection);
  const bool attends = site == Site::kQkv || site == Site::kOutput;
  const bool there = attends ? config_.layers[pair.layer] == LayerKind::kAttention
                             : config_.feed_forward[pair.layer] == FeedForwardKind::kDense;
  const ModelConfig own = config_.of_layer(pair.layer);
  const bool is_value = pair.projection == Projection::kVProj;
  const bool no_keys = own.shares_kv && (is_value || pair.projection == Projection::kKProj);
  const bool no_values = own.keys_are_values && is_value;
  if (!there || no_keys || no_values) refuse("The model has no matrix for an adapter at " + where + ".");
}

Adapters::Place Adapters::place(const AdapterPair& stored) const {
  const std::vector<Band> bands =
      site_bands(config_.of_layer(stored.layer), shard_, site_of(stored.projection), "");
  Place place{.stored = &stored,
              .pair = {.a = nullptr,
                       .b = nullptr,
                       .dtype = held_,
                       .rank = stored.rank,
                       .cols = bands.front().cols.count,
                       .rows = 0,
                       .first = 0,
                       .scale = stored.scale},
              .columns = bands.front().cols,
              .stored_columns = bands.front().stored_cols,
              .rows = {},
              .a = 0,
              .b = 0};
  // A projection's bands lie side by side.
  for (const Band& band : bands) {
    if (band.module.ends_with(name_of(stored.projection))) {
      place.rows.push_back(band.rows);
      place.pair.rows += band.rows.count;
    } else if (place.rows.empty()) {
      place.pair.first += band.rows.count;
    }
  }
  return place;
}

void Adapters::read(const StoredFile& file, const Place& place, std::byte* memory) const {
  const auto& [stored, pair, columns, stored_columns, ranges, a_at, b_at] = place;
  Held a(held_, pair.a_values());
  StoredRows a_rows(file, dtype_of(stored->a_dtype), stored->a_offset, stored_columns);
  a_rows.read(whole(pair.rank), [&](int64_t r, int64_t column, float value) {
    const int64_t at = column - columns.begin;
    if (at >= 0 && at < columns.count) a.set(pair.a_at(r, at), value);
  });
  Held b(held_, pair.b_values());
  StoredRows b_rows(file, dtype_of(stored->b_dtype), stored->b_offset, pair.rank);
  int64_t to = 0;
  for (const Range& range : ranges) {
    b_rows.read(range, [&](int64_t row, int64_t r, float value) { b.set(pair.b_at(to + row, r), value); });
    to += range.count;
  }
  backend_.upload_now(a.bytes(), memory + a_at);
  backend_.upload_now(b.bytes(), memory + b_at);
}

void Adapters::drop(int32_t number) {
  loaded_.erase(number);
  loading_.erase(number);
}

void Adapters::apply(std::span<const AdaptedRows> rows, size_t layer, Site site, const float* x, float* out,
                     int64_t stride) {
  if (rows.empty()) return;
  const int64_t place = static_cast<int64_t>(layer * kSites) + static_cast<int64_t>(site);
  entries_.clear();
  int64_t cols = 0;
  for (const auto& [number, first, count] : rows) {
    const LowRankTable& adapter = loaded_.at(number).table;
    entries_.push_back({&adapter, first, count});
    for (const LowRank& pair : adapter.at(place)) cols = pair.cols;
  }
  if (cols > 0) backend_.add_low_rank(entries_, place, x, cols, out, stride);
}

}  // namespace llmservice
