// Sums a buffer far larger than any cache.
#include "bandwidth.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "median.h"

namespace llmservice::bench {
namespace {

constexpr int64_t kBufferBytes = int64_t{1} << 30;
constexpr int64_t kTileBytes = int64_t{1} << 20;
constexpr int64_t kPasses = 8;

// Eight independent sums, so that the loads and not the additions are the limit.
uint64_t sum_of(const uint64_t* words, int64_t count) {
  uint64_t sums[8] = {};
  for (int64_t i = 0; i < count; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace

BandwidthProbe::BandwidthProbe(int threads) : pool_(threads), buffer_(kBufferBytes) {
  std::memset(buffer_.data(), 1, kBufferBytes);  // untouched pages would all be the one zero page
}

double BandwidthProbe::measure() {
  constexpr int64_t kTiles = kBufferBytes / kTileBytes / kPasses;
  std::vector<uint64_t> sums(kTiles);
  double best = 0;
  for (int64_t pass = 0; pass < kPasses; ++pass) {
    const double seconds = seconds_of([&] {
      pool_.run(kTiles, [&](int64_t tile, int) {
        const auto* words =
            reinterpret_cast<const uint64_t*>(buffer_.at((pass * kTiles + tile) * kTileBytes));
        sums[tile] = sum_of(words, kTileBytes / 8);
      });
    });
    best = std::max(best, static_cast<double>(kTiles * kTileBytes) / seconds);
  }
  // The sums are used, so that the compiler keeps the reads.
  if (sums.front() != sums.back())
    throw EngineError(FailureReason::kEngineFault, "The buffer changed while it was read.");
  return best;
}

}  // namespace llmservice::bench
