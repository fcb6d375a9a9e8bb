// Columns of a matrix that lie in rounds over all key heads, in an order of which each rank has a run.
#pragma once

#include <memory>

#include "model/arrivals.h"
#include "model/checkpoint_source.h"
#include "model/stored_file.h"

namespace llmservice {

// Whether `ranks` share the columns of `place` so: of the output of a Gated DeltaNet layer whose value heads
// lie in rounds.
bool has_rounds(const ModelConfig& config, const TensorPlace& place, int32_t ranks);

struct RankRounds {
  int32_t ranks;
  uint64_t unit_bytes;  // of columns that stay together: a block, or a group that shares a scale
};

// Reads the matrix at `place` of `file` rank after rank: of each its key heads' columns of the first round,
// then those of the next ones. Throws ParallelismInvalid where a rank's part of a round is no whole number of
// units.
std::unique_ptr<TensorFile> rounds_by_rank(const TensorFile& file, const TensorPlace& place,
                                           const GdnConfig& gdn, RankRounds by, const Arrivals* arrivals);

}  // namespace llmservice
