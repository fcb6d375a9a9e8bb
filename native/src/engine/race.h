// Gumbel-argmax over weights, by the noise of noise.h.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace llmservice {

// Written as its equal, the exponential race: argmax(log w + Gumbel) = argmin(E / w) with E = -log(u). As
// -log(u) >= 1 - u, a token whose (1 - u) / w already loses needs no logarithm; it has to lose by more than
// rounding, so that the winner does not depend on the order of tokens.
class Race {
 public:
  explicit Race(uint64_t key) : key_(key) {}

  void enter(int32_t token, float weight);
  // Of all tokens (V).
  void enter_all(std::span<const float> weights);
  int32_t winner() const { return winner_; }

 private:
  uint64_t key_;
  double best_ = std::numeric_limits<double>::max();
  double lost_ = best_;
  int32_t winner_ = 0;
};

}  // namespace llmservice
