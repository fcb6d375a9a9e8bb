// wgmma.h for the emulator. What is asynchronous on the device happens at the last moment here, and what it
// will write is NaN until then: bulk copies when their barrier is waited for, products in wait_wgmma().
#pragma once

#include "backends/gpu/vendor/host.h"
#include "ops/ops.h"

namespace llmservice::gpu {

constexpr bool kHasWgmma = true;
constexpr bool kRunsWgmma = true;

void init_barrier(uint64_t* barrier, uint32_t arrivals);
inline void publish_barriers() { watch::barriers_published(); }
void expect_bytes(uint64_t* barrier, uint32_t bytes);
void arrive(uint64_t* barrier);
void wait_phase(uint64_t* barrier, uint32_t parity);
void copy_bulk(void* shared, const void* global, uint32_t bytes, uint64_t* barrier);
inline void prefetch(const void*) {}
LLMSERVICE_UNMARKED inline int32_t count_in_order(int32_t* counter) {
  watch::counted_in_order(counter);
  return (*counter)++;
}
void prefetch_bulk(const void* global, uint32_t bytes);
std::byte* align_tiles(std::byte* shared);
uint64_t tile_descriptor(const std::byte* shared, uint32_t byte);

uint64_t rows_descriptor(const std::byte* shared, uint32_t stride);
inline void publish_to_products() { watch::barriers_published(); }

namespace emulator {
void put_wgmma(DType dtype, float* d, int columns, uint64_t a, uint64_t b, bool keep);
void put_wgmma_rows(float* d, int columns, const uint32_t* a, uint64_t b);
}  // namespace emulator

void commit_wgmma(Place place = Here::current());
// All that the thread has put, or all but what the last commit ended.
void make_products();
void make_earlier_products();

template <int kRegisters>
void begin_wgmma(float (&)[kRegisters], Place place = Here::current()) {
  emulator::gather_warp("begin_wgmma()", place);
}
template <int kRegisters>
void wait_wgmma(float (&)[kRegisters], Place place = Here::current()) {
  make_products();
  emulator::gather_warp("wait_wgmma()", place);
}

template <int kRegisters>
void wait_earlier_wgmma(float (&)[kRegisters], Place place = Here::current()) {
  make_earlier_products();
  emulator::gather_warp("wait_earlier_wgmma()", place);
}
template <int kRegisters>
void hold_operand(uint32_t (&)[kRegisters]) {}

inline int64_t keep_here(int64_t value) { return value; }

template <int>
void take_registers() {}
template <int>
void give_registers() {}

template <DType dtype, int kRegisters>
void wgmma(float (&d)[kRegisters], uint64_t a, uint64_t b, bool keep) {
  emulator::put_wgmma(dtype, d, kRegisters * 2, a, b, keep);
}

template <int kRegisters>
void wgmma_rows(float (&d)[kRegisters], const uint32_t* a, uint64_t b) {
  emulator::put_wgmma_rows(d, kRegisters * 2, a, b);
}

}  // namespace llmservice::gpu
