// A block of random words is made once and sent as often as the memory is long.
#include "random_memory.h"

#include <algorithm>
#include <random>
#include <vector>

namespace llmservice::bench {
namespace {

struct Bits {
  uint32_t random;  // those that are drawn
  uint32_t set;
};

Bits bits_of(Values values) {
  switch (values) {
    case Values::kF32:
      return {0x807fffff, 0x3e000000};
    case Values::kBF16:
      return {0x80ff80ff, 0x3c003c00};
    case Values::kF8E4M3:
      return {0xbfbfbfbf, 0};
    default:
      return {0x000fffff, 0x3c200000};
  }
}

}  // namespace

RandomMemory::RandomMemory(gpu::Device& device, Values values, int64_t bytes)
    : memory_(device, (bytes + 15) / 16 * 16) {
  constexpr size_t kBlockBytes = size_t{16} << 20;
  const Bits bits = bits_of(values);
  std::mt19937 random(1);
  std::vector<uint32_t> block(std::min(kBlockBytes, memory_.bytes()) / sizeof(uint32_t));
  for (uint32_t& word : block) word = (random() & bits.random) | bits.set;
  const auto host = std::as_bytes(std::span(block));
  for (size_t at = 0; at < memory_.bytes(); at += host.size()) {
    device.upload(host.first(std::min(host.size(), memory_.bytes() - at)), memory_.data() + at);
  }
}

}  // namespace llmservice::bench
