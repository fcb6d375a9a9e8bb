// What became of lists of launches that could be graphs, since a backend was made.
#pragma once

#include <cstdint>

namespace llmservice {

// Steps that ran as graphs of launches, on backends that make them.
struct GraphCounts {
  uint64_t captured = 0;
  uint64_t replayed = 0;
  uint64_t direct = 0;   // ran launch by launch
  uint64_t refused = 0;  // of these, because the device had no room for a graph
  uint64_t bytes = 0;    // that the device had less, by its driver, after those that are kept had first run
};

}  // namespace llmservice
