// Sums a buffer far larger than any cache.
#include "bandwidth.h"

#include <cstring>

#include "backends/cpu/anonymous_memory.h"
#include "median.h"

namespace llmservice::bench {
namespace {

constexpr int64_t kBufferBytes = int64_t{1} << 30;
constexpr int64_t kTileBytes = int64_t{1} << 20;

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

double read_bandwidth(cpu::ThreadPool& pool, int repeats) {
  cpu::AnonymousMemory buffer(kBufferBytes);
  std::memset(buffer.data(), 1, kBufferBytes);  // untouched pages would all be the one zero page
  constexpr int64_t kTiles = kBufferBytes / kTileBytes;
  std::vector<uint64_t> sums(kTiles);
  std::vector<double> rates;
  for (int i = 0; i < repeats; ++i) {
    const double seconds = seconds_of([&] {
      pool.run(kTiles, [&](int64_t tile, int) {
        sums[tile] = sum_of(reinterpret_cast<const uint64_t*>(buffer.at(tile * kTileBytes)), kTileBytes / 8);
      });
    });
    rates.push_back(static_cast<double>(kBufferBytes) / seconds);
  }
  // Used, so that the compiler keeps the reads.
  if (sums.front() != sums.back()) throw EngineError("EngineFault", "The bandwidth buffer changed while it was read.");
  return median(rates);
}

}  // namespace llmservice::bench
