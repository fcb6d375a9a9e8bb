// Asking for tiles, and trying them. Compiled for any machine: this decides what may run.
#include "backends/cpu/tile_check.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/gemm_amx.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace llmservice::cpu {
namespace {

// A generator of bits that is the same everywhere (Marsaglia's xorshift).
class Bits {
 public:
  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    return state_ ^= state_ << 5;
  }
  // A BF16 number within eight powers of two around one, or one below 2^-126.
  uint16_t number() {
    const uint32_t bits = next();
    const uint32_t exponent = bits % 16 == 0 ? 0 : 123 + bits / 16 % 8;
    return static_cast<uint16_t>((bits >> 16 & 0x807f) | exponent << 7);
  }

 private:
  uint32_t state_ = 2463534242;
};

// A panel of either type with scales, and what multiplies it.
struct Trial {
  DType dtype;
  int64_t depth;
  int rows;

  std::vector<float> product(decltype(Kernels::multiply_pairs) multiply) const {
    Bits bits;
    const int64_t blocks = (depth + kDepthBlock - 1) / kDepthBlock;
    std::vector<uint16_t> numbers((depth + 1) / 2 * 2 * kPanelRows);
    for (uint16_t& each : numbers) each = bits.number();
    std::vector<uint8_t> codes(numbers.size());
    for (uint8_t& each : codes) {
      const auto code = static_cast<uint8_t>(bits.next() >> 8);
      each = (code & 0x7f) == 0x7f ? 0 : code;  // that is NaN
    }
    std::vector<float> scales(blocks * kPanelRows);
    for (float& each : scales) each = static_cast<float>(bits.next() % 1000 + 1) / 256;
    std::vector<uint16_t> x(blocks * rows * kDepthBlock, 0);
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t row = 0; row < rows; ++row)
        x[(k / kDepthBlock * rows + row) * kDepthBlock + k % kDepthBlock] = bits.number();
    }
    const bool is_wide = dtype == DType::kBF16;
    const PanelView panel{
        .weights = is_wide ? reinterpret_cast<const std::byte*>(numbers.data())
                           : reinterpret_cast<const std::byte*>(codes.data()),
        .scales = is_wide ? nullptr : scales.data(),
        .scale_step = kPanelRows,
        .shared = nullptr,
        .depth = depth,
        .dtype = dtype,
        .activations = Activations::kBf16,
    };
    std::vector<std::byte> memory(kPanelScratch * sizeof(float) + 64);
    void* scratch = memory.data();
    size_t room = memory.size();
    std::align(64, kPanelScratch * sizeof(float), scratch, room);
    std::vector<float> total(rows * kPanelRows, 0.0f);
    multiply(panel, {x.data(), rows, nullptr}, rows, static_cast<float*>(scratch), total.data());
    return total;
  }
};

// Two passes of 32 rows and one of a tile; one of two tiles. Both depths end within a step.
constexpr Trial kTrials[] = {
    {DType::kBF16, 331, 69}, {DType::kBF16, 200, 21}, {DType::kF8E4M3, 331, 69}, {DType::kF8E4M3, 200, 21}};

#if defined(__x86_64__)
bool is_in_cpu() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16 = 1u << 22;
  constexpr unsigned kTileUnit = 1u << 24;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBf16) != 0 && (d & kTileUnit) != 0;
}

// Linux saves tiles for processes that asked (since 5.16): until then the first one ends the process. Threads
// that are there and those to come have it too.
bool is_permitted() {
  constexpr long kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;     // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

bool try_tiles() {
  if (!is_in_cpu()) return false;
  if (!is_permitted()) {
    std::fprintf(stderr,
                 "This CPU has AMX, but the system does not let processes use it: AVX-512 BF16 it is.\n");
    return false;
  }
  if (give_same_bits(multiply_tiles, multiply_modelled_tiles)) return true;
  std::fprintf(stderr, "AMX gives other bits on this CPU than Intel describes: AVX-512 BF16 it is.\n");
  return false;
}
#endif

}  // namespace

bool give_same_bits(decltype(Kernels::multiply_pairs) one, decltype(Kernels::multiply_pairs) other) {
  for (const Trial& trial : kTrials) {
    const std::vector<float> found = trial.product(one);
    const std::vector<float> expected = trial.product(other);
    if (std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) != 0) return false;
  }
  return true;
}

bool has_tiles() {
#if defined(__x86_64__)
  static const bool usable = try_tiles();
  return usable;
#else
  return false;
#endif
}

}  // namespace llmservice::cpu
