// Memory for intermediate values: one growing area per worker, two shared by all. Contents last one op.
#pragma once

#include <vector>

#include "backends/cpu/anonymous_memory.h"

namespace llmservice::cpu {

class Scratch {
 public:
  explicit Scratch(int workers) : areas_(workers) {}

  // Uninitialized floats for `worker`, which alone may ask; earlier pointers of this worker become invalid.
  float* of_worker(int worker, size_t floats) { return grown(areas_[worker], floats); }
  // Uninitialized floats for the whole op; asked for before its tiles start.
  float* shared(size_t floats) { return grown(shared_, floats); }
  // The same beside them.
  float* ordered(size_t floats) { return grown(ordered_, floats); }

 private:
  static float* grown(AnonymousMemory& area, size_t floats) {
    const size_t bytes = floats * sizeof(float);
    if (area.bytes() < bytes) area = AnonymousMemory(bytes + bytes / 2);
    return static_cast<float*>(area.data());
  }

  std::vector<AnonymousMemory> areas_;
  AnonymousMemory shared_;
  AnonymousMemory ordered_;
};

}  // namespace llmservice::cpu
