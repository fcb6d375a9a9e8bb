// wgmma.h for vendors that have no such devices: names for kernels that are compiled, but not run.
#pragma once

#include "backends/gpu/vendor/vendor.h"
#include "ops/ops.h"

namespace llmservice::gpu {

constexpr bool kHasWgmma = false;
constexpr bool kRunsWgmma = false;

__device__ void init_barrier(uint64_t* barrier, uint32_t arrivals);
__device__ void publish_barriers();
__device__ void expect_bytes(uint64_t* barrier, uint32_t bytes);
__device__ void arrive(uint64_t* barrier);
__device__ void wait_phase(uint64_t* barrier, uint32_t parity);
__device__ void copy_bulk(void* shared, const void* global, uint32_t bytes, uint64_t* barrier);
__device__ void prefetch(const void* global);
__device__ int32_t count_in_order(int32_t* counter);
__device__ void prefetch_bulk(const void* global, uint32_t bytes);
__device__ std::byte* align_tiles(std::byte* shared);
__device__ uint64_t tile_descriptor(const std::byte* shared, uint32_t byte);
__device__ uint64_t rows_descriptor(const std::byte* shared, uint32_t stride);
__device__ void publish_to_products();
__device__ void commit_wgmma();
__device__ int64_t keep_here(int64_t value);

template <int kRegisters>
__device__ void begin_wgmma(float (&d)[kRegisters]);
template <DType dtype, int kRegisters>
__device__ void wgmma(float (&d)[kRegisters], uint64_t a, uint64_t b, bool keep);
template <int kRegisters>
__device__ void wgmma_rows(float (&d)[kRegisters], const uint32_t* a, uint64_t b);
template <int kRegisters>
__device__ void wait_wgmma(float (&d)[kRegisters]);
template <int kRegisters>
__device__ void wait_earlier_wgmma(float (&d)[kRegisters]);
template <int kRegisters>
__device__ void hold_operand(uint32_t (&a)[kRegisters]);
template <int>
__device__ void take_registers();
template <int>
__device__ void give_registers();

}  // namespace llmservice::gpu
