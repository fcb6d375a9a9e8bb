// How often in a row a sequence got the token that it already ended with, from logits equal to the last bit.
#pragma once

#include <cstdint>

namespace llmservice {

// A row of dashes is legitimate however long, and its logits change a little with each one: the model sees
// one dash more. Logits that do not change at all come from a model that no longer attends to its context.
class LogitsRun {
 public:
  // After each token sampled; `again`: the same as the one before it; `hash` of its logits is compared only
  // then.
  void sampled(bool again, uint64_t hash) {
    if (!again) {
      length_ = 0;
      return;
    }
    length_ = length_ > 0 && hash == hash_ ? length_ + 1 : 1;
    hash_ = hash;
  }
  bool is_stuck() const { return length_ >= kStuckLength; }

  static constexpr int32_t kStuckLength = 128;

 private:
  int32_t length_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace llmservice
