// wgmma.h in PTX (ISA 8.0 and later, sm_90a).
#pragma once

#include "backends/gpu/vendor/cuda.h"
#include "ops/ops.h"

namespace llmservice::gpu {

constexpr bool kHasWgmma = true;

#ifdef __CUDACC__

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool kRunsWgmma = true;
#else
constexpr bool kRunsWgmma = false;
#endif

__device__ __forceinline__ uint32_t shared_address(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

__device__ __forceinline__ void init_barrier(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void expect_bytes(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void wait_phase(uint64_t* barrier, uint32_t parity) {
  uint32_t over = 0;
  while (over == 0) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

__device__ __forceinline__ void copy_bulk(void* shared, const void* global, uint32_t bytes,
                                          uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(shared)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void prefetch(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(global)));
}

__device__ __forceinline__ void prefetch_bulk(const void* global, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(global)),
               "r"(bytes)
               : "memory");
}

// Two fences of the whole warp around a plain atomic order more, and take longer.
__device__ __forceinline__ int32_t count_in_order(int32_t* counter) {
  int32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return before;
}

__device__ __forceinline__ std::byte* align_tiles(std::byte* shared) {
  return shared + (-shared_address(shared) & 1023);
}

// "Matrix descriptor": the address and the 1024 bytes between groups of eight rows in units of 16 bytes; the
// other stride is not used by swizzled tiles; 1 in the top two bits is the 128-byte swizzle.
__device__ __forceinline__ uint64_t tile_descriptor(const std::byte* shared, uint32_t byte) {
  constexpr uint32_t kHigh = 1u << 30 | 1024 >> 4;
  return uint64_t{kHigh} << 32 | ((1u << 16) + (shared_address(shared) >> 4) + (byte >> 4));
}

// The same with rows that run along N ("N-major"): `stride` is that between groups of 64 columns ("leading
// dimension byte offset"), 1024 bytes that between groups of eight rows ("stride dimension byte offset").
__device__ __forceinline__ uint64_t rows_descriptor(const std::byte* shared, uint32_t stride) {
  constexpr uint32_t kHigh = 1u << 30 | 1024 >> 4;
  return uint64_t{kHigh} << 32 | ((stride >> 4 << 16) + (shared_address(shared) >> 4));
}

__device__ __forceinline__ void publish_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Registers that products write behind the compiler's back: what it does with them stays on its side of this.
template <int kRegisters>
__device__ __forceinline__ void hold_registers(float (&d)[kRegisters]) {
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

template <int kRegisters>
__device__ __forceinline__ void begin_wgmma(float (&d)[kRegisters]) {
  hold_registers(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kRegisters>
__device__ __forceinline__ void wait_wgmma(float (&d)[kRegisters]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  hold_registers(d);
}

template <int kRegisters>
__device__ __forceinline__ void wait_earlier_wgmma(float (&d)[kRegisters]) {
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  hold_registers(d);
}
template <int kRegisters>
__device__ __forceinline__ void hold_operand(uint32_t (&a)[kRegisters]) {
#pragma unroll
  for (uint32_t& word : a) asm volatile("" : "+r"(word)::"memory");
}

__device__ __forceinline__ int64_t keep_here(int64_t value) {
  asm volatile("" : "+l"(value)::"memory");
  return value;
}

template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

#define LLMSERVICE_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define LLMSERVICE_D8(i) LLMSERVICE_D4(i), LLMSERVICE_D4(i + 4)
#define LLMSERVICE_D16(i) LLMSERVICE_D8(i), LLMSERVICE_D8(i + 8)
#define LLMSERVICE_D32(i) LLMSERVICE_D16(i), LLMSERVICE_D16(i + 16)
#define LLMSERVICE_D64(i) LLMSERVICE_D32(i), LLMSERVICE_D32(i + 32)
#define LLMSERVICE_D128(i) LLMSERVICE_D64(i), LLMSERVICE_D64(i + 64)
#define LLMSERVICE_LIST4 "%0,%1,%2,%3"
#define LLMSERVICE_LIST8 LLMSERVICE_LIST4 ",%4,%5,%6,%7"
#define LLMSERVICE_LIST16 LLMSERVICE_LIST8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define LLMSERVICE_LIST32 LLMSERVICE_LIST16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define LLMSERVICE_LIST64                                             \
  LLMSERVICE_LIST32                                                   \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define LLMSERVICE_LIST128                                                       \
  LLMSERVICE_LIST64                                                              \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"             \
  ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"             \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
  ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// Registers of d, the numbers of the operands after them, and the instruction's name and last arguments.
#define LLMSERVICE_WGMMA(registers, a_number, b_number, keep_number, type, last)    \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" keep_number                 \
               ", 0;\n\t"                                                           \
               "wgmma.mma_async.sync.aligned." type " {" LLMSERVICE_LIST##registers \
               "}, %" a_number ", %" b_number ", p, 1, 1" last ";\n\t}"             \
               : LLMSERVICE_D##registers(0)                                         \
               : "l"(a), "l"(b), "r"(static_cast<int>(keep)))

#define LLMSERVICE_WGMMA_COLUMNS(columns, registers, a_number, b_number, keep_number)                       \
  if constexpr (dtype == DType::kF8E4M3) {                                                                  \
    LLMSERVICE_WGMMA(registers, a_number, b_number, keep_number, "m64n" columns "k32.f32.e4m3.e4m3", "");   \
  } else if constexpr (dtype == DType::kBF16) {                                                             \
    LLMSERVICE_WGMMA(registers, a_number, b_number, keep_number, "m64n" columns "k16.f32.bf16.bf16",        \
                     ",0,0");                                                                               \
  } else {                                                                                                  \
    LLMSERVICE_WGMMA(registers, a_number, b_number, keep_number, "m64n" columns "k16.f32.f16.f16", ",0,0"); \
  }

template <DType dtype, int kRegisters>
__device__ __forceinline__ void wgmma(float (&d)[kRegisters], uint64_t a, uint64_t b, bool keep) {
  if constexpr (kRegisters == 4) {
    LLMSERVICE_WGMMA_COLUMNS("8", 4, "4", "5", "6")
  } else if constexpr (kRegisters == 8) {
    LLMSERVICE_WGMMA_COLUMNS("16", 8, "8", "9", "10")
  } else if constexpr (kRegisters == 16) {
    LLMSERVICE_WGMMA_COLUMNS("32", 16, "16", "17", "18")
  } else if constexpr (kRegisters == 32) {
    LLMSERVICE_WGMMA_COLUMNS("64", 32, "32", "33", "34")
  } else {
    static_assert(kRegisters == 64);
    LLMSERVICE_WGMMA_COLUMNS("128", 64, "64", "65", "66")
  }
}

template <int kRegisters>
__device__ __forceinline__ void wgmma_rows(float (&d)[kRegisters], const uint32_t* a, uint64_t b) {
  static_assert(kRegisters == 128);
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, 1, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" LLMSERVICE_LIST128
      "}, {%128,%129,%130,%131}, %132, p, 1, 1, 1;\n\t}"
      : LLMSERVICE_D128(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#undef LLMSERVICE_WGMMA_COLUMNS
#undef LLMSERVICE_WGMMA

#endif  // __CUDACC__

}  // namespace llmservice::gpu
