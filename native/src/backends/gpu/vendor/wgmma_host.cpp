// The async copies, barriers and warpgroup products of wgmma.h as the PTX ISA describes them.
#include "backends/gpu/vendor/wgmma.h"

#if defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 32

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "backends/gpu/vendor/wgmma_sum.h"

namespace llmservice::gpu {
namespace {

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "kernel emulator: thread %u of block %u: %s\n", threadIdx.x, blockIdx.x, what);
  std::abort();
}

// What the eight bytes of a barrier hold.
struct Barrier {
  uint16_t arrivals;  // that make a phase
  uint16_t missing;
  int32_t bytes : 31;  // expected, less those that came; these may come first
  uint32_t phase : 1;
};
static_assert(sizeof(Barrier) == sizeof(uint64_t));

Barrier& at(uint64_t* barrier) { return *reinterpret_cast<Barrier*>(barrier); }

void end_phase_if_full(Barrier& barrier) {
  if (barrier.missing > 0 || barrier.bytes != 0) return;
  barrier.missing = barrier.arrivals;
  barrier.phase ^= 1;
  watch::phase_over(reinterpret_cast<const uint64_t*>(&barrier));
}

struct Copy {
  void* to;
  const void* from;
  uint32_t bytes;
  uint64_t* barrier;
};

// A product that a thread has put: its own elements of d.
struct Product {
  DType dtype;
  float* d;
  int columns;
  uint64_t a;
  uint64_t b;
  bool keep;
  // Of wgmma_rows(): both rows of `a` that are this thread's, which its registers and those of three others
  // hold.
  bool by_rows = false;
  std::array<std::array<uint16_t, 16>, 2> rows{};
};

thread_local std::vector<Copy> copies;
thread_local std::array<std::vector<Product>, 1024> products;   // by thread
thread_local std::array<std::vector<size_t>, 1024> group_ends;  // commits among them

void make_copies(uint64_t* barrier) {
  const auto waited = std::stable_partition(copies.begin(), copies.end(),
                                            [&](const Copy& copy) { return copy.barrier != barrier; });
  for (auto copy = waited; copy != copies.end(); ++copy) {
    std::memcpy(copy->to, copy->from, copy->bytes);
    at(barrier).bytes -= static_cast<int32_t>(copy->bytes);
    watch::copies_landed(barrier);
    end_phase_if_full(at(barrier));
  }
  copies.erase(waited, copies.end());
}

constexpr int kBytes = 32;  // of K in one product

WgmmaNumber e4m3_number(std::byte code) {
  static const std::array<WgmmaNumber, 256> numbers = [] {
    std::array<WgmmaNumber, 256> all;
    for (int i = 0; i < 256; ++i) {
      all[i] = wgmma_number(DType::kF8E4M3, e4m3_to_float(static_cast<uint8_t>(i)));
    }
    return all;
  }();
  return numbers[static_cast<uint8_t>(code)];
}

// Where a tile has what lies at this address without the swizzle.
const std::byte* swizzled(uint32_t address) {
  return emulator::shared_memory() + (address ^ (address >> 7 & 7) << 4);
}

// The numbers of a row of a tile, in K order.
struct TileRow {
  std::array<WgmmaNumber, kBytes> numbers;
  size_t count;

  explicit TileRow(const std::array<uint16_t, 16>& bf16) : count(bf16.size()) {
    for (size_t k = 0; k < count; ++k) numbers[k] = number(bf16[k]);
  }
  // A column of what rows_descriptor() names.
  TileRow(uint64_t descriptor, uint32_t column) : count(kBytes / 2) {
    const auto field = [&](int bit) { return static_cast<uint32_t>((descriptor >> bit & 0x3fff) << 4); };
    for (uint32_t k = 0; k < count; ++k) {
      const std::byte* const at =
          swizzled(field(0) + column / 64 * field(16) + k / 8 * field(32) + k % 8 * 128 + column % 64 * 2);
      uint16_t bf16;
      std::memcpy(&bf16, at, sizeof(bf16));
      watch::product_reads(at, sizeof(bf16));
      numbers[k] = number(bf16);
    }
  }

  TileRow(DType dtype, uint64_t descriptor, int row) : count(dtype == DType::kF8E4M3 ? kBytes : kBytes / 2) {
    const auto stride = static_cast<uint32_t>((descriptor >> 32 & 0x3fff) << 4);
    const auto start = static_cast<uint32_t>((descriptor & 0x3fff) << 4);
    std::array<std::byte, kBytes> bytes;
    for (uint32_t chunk = 0; chunk < kBytes; chunk += 16) {
      const std::byte* const at = swizzled(start + row / 8 * stride + row % 8 * 128 + chunk);
      std::memcpy(&bytes[chunk], at, 16);
      watch::product_reads(at, 16);
    }
    for (size_t k = 0; k < count; ++k) {
      numbers[k] = dtype == DType::kF8E4M3 ? e4m3_number(bytes[k])
                                           : wgmma_number(dtype, widen(dtype, bytes.data(), k));
    }
  }
  std::span<const WgmmaNumber> all() const { return {numbers.data(), count}; }

 private:
  static WgmmaNumber number(uint16_t bf16) {
    return wgmma_number(DType::kBF16, std::bit_cast<float>(uint32_t{bf16} << 16));
  }
};

void multiply(const Product& p) {
  const int row = 16 * (warp_id() % 4) + lane_id() / 4;
  const TileRow a[2] = {p.by_rows ? TileRow(p.rows[0]) : TileRow(p.dtype, p.a, row),
                        p.by_rows ? TileRow(p.rows[1]) : TileRow(p.dtype, p.a, row + 8)};
  for (int i = 0; i < p.columns / 2; ++i) {
    // Elements c and c + 2 have a column in common.
    if (i % 4 >= 2) continue;
    const int column = i / 4 * 8 + lane_id() % 4 * 2 + i % 2;
    const TileRow b = p.by_rows ? TileRow(p.b, static_cast<uint32_t>(column)) : TileRow(p.dtype, p.b, column);
    for (int half = 0; half < 2; ++half) {
      float& d = p.d[i + 2 * half];
      d = wgmma_sum(p.dtype, a[half].all(), b.all(), p.keep ? d : 0.0f);
    }
  }
}

}  // namespace

void init_barrier(uint64_t* barrier, uint32_t arrivals) {
  at(barrier) = {.arrivals = static_cast<uint16_t>(arrivals),
                 .missing = static_cast<uint16_t>(arrivals),
                 .bytes = 0,
                 .phase = 0};
  watch::barrier_made(barrier);
}

void expect_bytes(uint64_t* barrier, uint32_t bytes) {
  at(barrier).bytes += static_cast<int32_t>(bytes);
  arrive(barrier);
}

void arrive(uint64_t* barrier) {
  if (at(barrier).missing == 0) stop("one arrival more than the barrier was made for");
  --at(barrier).missing;
  watch::barrier_arrived(barrier);
  end_phase_if_full(at(barrier));
}

void wait_phase(uint64_t* barrier, uint32_t parity) {
  make_copies(barrier);
  while (at(barrier).phase == parity) {
    emulator::pass();
    make_copies(barrier);
  }
  watch::phase_seen(barrier);
}

void prefetch_bulk(const void* global, uint32_t bytes) {
  if (reinterpret_cast<uintptr_t>(global) % 16 != 0 || bytes % 16 != 0) stop("prefetch off its border");
  // Whoever prefetches what is not there hears of it under the sanitizers.
  const auto* const from = static_cast<const volatile std::byte*>(global);
  static_cast<void>(from[0]);
  static_cast<void>(from[bytes - 1]);
}

void copy_bulk(void* shared, const void* global, uint32_t bytes, uint64_t* barrier) {
  const auto bits = reinterpret_cast<uintptr_t>(global) | bytes |
                    static_cast<uintptr_t>(static_cast<std::byte*>(shared) - emulator::shared_memory());
  if (bits % 16 != 0) stop("a bulk copy that does not lie on 16 bytes");
  std::memset(shared, 0xff, bytes);
  watch::copy_begins(shared, global, bytes, barrier);
  copies.push_back({shared, global, bytes, barrier});
}

std::byte* align_tiles(std::byte* shared) { return shared + (-(shared - emulator::shared_memory()) & 1023); }

uint64_t tile_descriptor(const std::byte* shared, uint32_t byte) {
  const auto address = static_cast<uint64_t>(shared - emulator::shared_memory());
  if (address % 1024 != 0) stop("a tile that does not lie on 1024 bytes");
  return uint64_t{1} << 62 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 16 | (address + byte) >> 4;
}

uint64_t rows_descriptor(const std::byte* shared, uint32_t stride) {
  if (stride % 1024 != 0) stop("tiles that do not lie on 1024 bytes");
  return (tile_descriptor(shared, 0) & ~(uint64_t{0x3fff} << 16)) | uint64_t{stride >> 4} << 16;
}

void emulator::put_wgmma(DType dtype, float* d, int columns, uint64_t a, uint64_t b, bool keep) {
  std::vector<Product>& mine = products[threadIdx.x];
  // What a tile's copy has to have brought by now, each of whose rows is read when the product is made.
  for (const uint64_t tile : {a, b}) {
    watch::product_reads(emulator::shared_memory() + ((tile & 0x3fff) << 4), 16);
  }
  if (!keep) std::fill(d, d + columns / 2, std::numeric_limits<float>::quiet_NaN());
  mine.push_back({dtype, d, columns, a, b, keep});
}

void emulator::put_wgmma_rows(float* d, int columns, const uint32_t* a, uint64_t b) {
  Product product{
      .dtype = DType::kBF16, .d = d, .columns = columns, .a = 0, .b = b, .keep = true, .by_rows = true};
  for (int half = 0; half < 2; ++half) {
    const uint64_t* const all = exchange(a[2 * half] | uint64_t{a[2 * half + 1]} << 32, "wgmma_rows()");
    for (int k = 0; k < 8; ++k) {
      const uint64_t words = all[lane_id() / 4 * 4 + k / 2];
      for (int row = 0; row < 2; ++row) {
        product.rows[row][half * 8 + k] = static_cast<uint16_t>(words >> (row * 32 + k % 2 * 16));
      }
    }
  }
  watch::product_reads(emulator::shared_memory() + ((b & 0x3fff) << 4), 16);
  products[threadIdx.x].push_back(product);
}

void commit_wgmma(Place place) {
  group_ends[threadIdx.x].push_back(products[threadIdx.x].size());
  emulator::gather_warp("commit_wgmma()", place);
}

void make_products() {
  for (const Product& product : products[threadIdx.x]) multiply(product);
  products[threadIdx.x].clear();
  group_ends[threadIdx.x].clear();
}

void make_earlier_products() {
  std::vector<Product>& mine = products[threadIdx.x];
  std::vector<size_t>& ends = group_ends[threadIdx.x];
  if (ends.size() < 2) return;
  const size_t made = ends[ends.size() - 2];
  for (size_t i = 0; i < made; ++i) multiply(mine[i]);
  mine.erase(mine.begin(), mine.begin() + static_cast<ptrdiff_t>(made));
  ends = {ends.back() - made};
}

}  // namespace llmservice::gpu

#endif
