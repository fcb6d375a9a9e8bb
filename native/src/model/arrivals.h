// Weights that still arrive. Whoever fetches them says what is there in a file of one byte per piece: not 0
// once the piece is on disk, for good. Readers of weights wait for the pieces that they need.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bridge/structs.h"

namespace llmservice {

class Arrivals {
 public:
  // `on_wait` is called again and again during a wait, and ends it by throwing.
  Arrivals(ArrivalMap map, std::function<void()> on_wait);

  // Returns when bytes [offset, offset + count) of `file` are on disk. Thread-safe.
  void wait_for(const std::string& file, uint64_t offset, uint64_t count) const;

 private:
  bool is_there(uint64_t piece) const;

  ArrivalMap map_;
  std::function<void()> on_wait_;
  uint64_t pieces_;
  // What was seen to be there: most reads are small and of the piece that the last one was of.
  std::unique_ptr<std::atomic<bool>[]> seen_;
};

}  // namespace llmservice
