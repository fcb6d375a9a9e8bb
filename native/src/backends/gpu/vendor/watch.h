// What the access checker (test/access) hears of the emulator, of kernels' synchronization and of what is
// asynchronous on a device. Outside a build with LLMSERVICE_WATCHED each is an empty inline function. Threads
// are those of the running block.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(LLMSERVICE_WATCHED)
#define LLMSERVICE_WATCH(function) void function;
#else
#define LLMSERVICE_WATCH(function) \
  inline void function {}
#endif

namespace llmservice::gpu::watch {

// Memory of the device, or of the host that kernels may use: where it begins, and its bytes.
LLMSERVICE_WATCH(memory_begins(const void*, size_t))
LLMSERVICE_WATCH(memory_ends(const void*))
// What is given to the stream next begins when all before has ended.
LLMSERVICE_WATCH(stream_waits())

// Name, threads of a block, dynamic shared bytes.
LLMSERVICE_WATCH(launch_begins(const char*, uint32_t, uint32_t))
LLMSERVICE_WATCH(launch_ends())
// Its dynamic shared memory.
LLMSERVICE_WATCH(block_begins(const std::byte*))
LLMSERVICE_WATCH(block_ends())
// Accesses are this thread's, whose stack ends there, until nobody's.
LLMSERVICE_WATCH(thread_runs(uint32_t, const void*))
LLMSERVICE_WATCH(thread_rests())

// All threads of the block, or lanes of that warp, are there.
LLMSERVICE_WATCH(block_met())
LLMSERVICE_WATCH(warp_met(uint32_t))

// vendor.h's wait_for_previous(), let_next_start(), publish_block(); a counter counted up, without and with
// order.
LLMSERVICE_WATCH(waited())
LLMSERVICE_WATCH(next_may_start())
LLMSERVICE_WATCH(published())
LLMSERVICE_WATCH(counted(const int32_t*))
LLMSERVICE_WATCH(counted_in_order(const int32_t*))
// An access that no compiler marked: address, bytes.
LLMSERVICE_WATCH(read(const void*, size_t))
LLMSERVICE_WATCH(changed_at_once(const void*, size_t))

// wgmma.h's barriers: initialized, made known to what is asynchronous, arrived at, its copies landed, its
// phase over, and that seen.
LLMSERVICE_WATCH(barrier_made(const uint64_t*))
LLMSERVICE_WATCH(barriers_published())
LLMSERVICE_WATCH(barrier_arrived(const uint64_t*))
LLMSERVICE_WATCH(copies_landed(const uint64_t*))
LLMSERVICE_WATCH(phase_over(const uint64_t*))
LLMSERVICE_WATCH(phase_seen(const uint64_t*))
// A copy put on its way: to, from, bytes, barrier. What a product reads of shared memory.
LLMSERVICE_WATCH(copy_begins(const void*, const void*, size_t, const uint64_t*))
LLMSERVICE_WATCH(product_reads(const void*, size_t))

}  // namespace llmservice::gpu::watch

#undef LLMSERVICE_WATCH
