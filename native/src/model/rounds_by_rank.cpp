#include "model/rounds_by_rank.h"

#include <algorithm>

#include "model/derived_tensor.h"
#include "ops/error.h"

namespace llmservice {
namespace {

class RoundsByRank final : public DerivedTensor {
 public:
  RoundsByRank(const TensorFile& from, uint64_t begin, const Arrivals* arrivals, uint64_t part_bytes,
               uint64_t rounds, uint64_t ranks)
      : DerivedTensor(from, begin, arrivals), part_bytes_(part_bytes), rounds_(rounds), ranks_(ranks) {}

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    const uint64_t parts = rounds_ * ranks_;
    while (!out.empty()) {
      const uint64_t part = offset / part_bytes_;
      const uint64_t within = offset % part_bytes_;
      const size_t count = std::min<size_t>(out.size(), part_bytes_ - within);
      const uint64_t stored = part % rounds_ * ranks_ + part % parts / rounds_;
      read_stored((part - part % parts + stored) * part_bytes_ + within, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  }

 private:
  uint64_t part_bytes_;  // that a rank has of a round of a row
  uint64_t rounds_;
  uint64_t ranks_;
};

}  // namespace

bool has_rounds(const ModelConfig& config, const TensorPlace& place, int32_t ranks) {
  return ranks > 1 && config.gdn && config.gdn->tiled && place.shape.size() == 2 &&
         place.name.find(".linear_attn.out_proj.weight") != std::string::npos;
}

std::unique_ptr<TensorFile> rounds_by_rank(const TensorFile& file, const TensorPlace& place,
                                           const GdnConfig& gdn, RankRounds by, const Arrivals* arrivals) {
  const auto rounds = static_cast<uint64_t>(gdn.v_heads / gdn.k_heads);
  const auto ranks = static_cast<uint64_t>(by.ranks);
  const uint64_t row_bytes = place.bytes / static_cast<uint64_t>(place.shape[0]);
  if (row_bytes % (rounds * ranks * by.unit_bytes) != 0) {
    throw EngineError(FailureReason::kParallelismInvalid,
                      file.name() + ": the columns of tensor " + place.stored_name + " lie in " +
                          std::to_string(rounds) + " rounds over all key heads, of which " +
                          std::to_string(ranks) +
                          " ranks would cut columns that share a scale; use fewer ranks.");
  }
  return std::make_unique<RoundsByRank>(file, place.offset, arrivals, row_bytes / (rounds * ranks), rounds,
                                        ranks);
}

}  // namespace llmservice
