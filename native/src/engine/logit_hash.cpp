#include "engine/logit_hash.h"

#include <array>
#include <bit>

namespace llmservice {
namespace {

constexpr size_t kHashLanes = 16;
constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // an odd factor loses no bit of what it multiplies

}  // namespace

uint64_t logit_hash(std::span<const float> logits) {
  std::array<uint32_t, kHashLanes> lanes{};
  size_t i = 0;
  for (; i + kHashLanes <= logits.size(); i += kHashLanes) {
    for (size_t lane = 0; lane < kHashLanes; ++lane) {
      lanes[lane] = lanes[lane] * static_cast<uint32_t>(kOdd) + std::bit_cast<uint32_t>(logits[i + lane]);
    }
  }
  uint64_t hash = logits.size();
  for (; i < logits.size(); ++i) hash = hash * kOdd + std::bit_cast<uint32_t>(logits[i]);
  for (const uint32_t lane : lanes) hash = hash * kOdd + lane;
  return hash;
}

}  // namespace llmservice
