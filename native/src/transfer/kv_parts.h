// What is transferred of blocks and a snapshot, cut into parts that one message carries each: of one block,
// or of the snapshot, up to kPartBytes that follow each other in the order of its lines.
#pragma once

#include <optional>
#include <vector>

#include "model/caches.h"

namespace llmservice {

constexpr size_t kPartBytes = size_t{1} << 20;

// Blocks, and a row of recurrent state, of one engine.
struct KvSet {
  std::vector<int32_t> blocks;
  std::optional<int32_t> state;
};

class KvParts {
 public:
  KvParts(std::vector<CacheLine> block_lines, std::vector<CacheLine> state_lines);

  size_t block_bytes() const { return block_.bytes; }
  size_t state_bytes() const { return state_.bytes; }
  int64_t count(const KvSet& set) const;
  int64_t bytes(const KvSet& set) const;
  // Of a part below count().
  std::vector<Region> regions(const KvSet& set, int64_t part) const;

 private:
  struct Unit {
    explicit Unit(std::vector<CacheLine> of);
    int64_t parts() const { return static_cast<int64_t>((bytes + kPartBytes - 1) / kPartBytes); }
    std::vector<Region> regions(int32_t index, int64_t part) const;

    std::vector<CacheLine> lines;
    size_t bytes = 0;
  };

  Unit block_;
  Unit state_;
};

}  // namespace llmservice
