// The LoRA adapters of a model, by number: loaded and dropped between steps, part by part, while sequences
// run. Each rank holds of A and B what it holds of the matrix that they adapt.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "bridge/structs.h"
#include "model/config.h"
#include "model/layers.h"
#include "ops/ops.h"

namespace llmservice {

// Rows [first, first + count) of a step use adapter `number`.
struct AdaptedRows {
  int32_t number;
  int32_t first;
  int32_t count;
};

class Adapters {
 public:
  static constexpr int32_t kMost = 256;  // numbers are 1 to kMost

  // Of a model whose whole config is `config`. `keep` is the type of unquantized weights: kF32 keeps pairs in
  // float32, all others in BF16. `max_rank`: of one that may be loaded, as in StepLimits.
  Adapters(Backend& backend, const ModelConfig& config, Shard shard, DType keep, int32_t max_rank);

  bool has(int32_t number) const { return loaded_.contains(number); }
  // Reads a part; the last one makes the adapter usable. Throws EngineError where the part cannot be: then
  // nothing is left of the adapter, and all others are as they were.
  void load(const AdapterPart& part);
  void drop(int32_t number);

  // out (T, stride) += what the rows' adapters add at `site` of `layer`, x (T, in) being the site's input.
  void apply(std::span<const AdaptedRows> rows, size_t layer, Site site, const float* x, float* out,
             int64_t stride);

 private:
  struct Adapter {
    LowRankTable table;                           // places: each site of each layer of the trunk
    std::vector<std::unique_ptr<Buffer>> memory;  // of each part's pairs, together: huge pages hold many
  };
  // What is to be read of a pair, and where it comes to lie in its part's memory.
  struct Place {
    const AdapterPair* stored;
    LowRank pair;
    Range columns;            // of A's
    int64_t stored_columns;   // all of A's
    std::vector<Range> rows;  // of B's
    size_t a;
    size_t b;
  };

  void check(const AdapterPart& part) const;
  void check_place(const AdapterPair& pair) const;
  static void put(LowRankTable& table, const Place& place);
  Place place(const AdapterPair& pair) const;
  // Both matrices, into `memory` of its part.
  void read(const class StoredFile& file, const Place& place, std::byte* memory) const;

  Backend& backend_;
  ModelConfig config_;
  Shard shard_;
  DType held_;
  int32_t max_rank_;
  std::map<int32_t, Adapter> loaded_;
  std::map<int32_t, Adapter> loading_;  // one at most
  std::vector<LowRankRows> entries_;    // of apply()
};

}  // namespace llmservice
