// The emulator's hooks (vendor/watch.h), for the watcher of the calling thread.
#include "backends/gpu/vendor/watch.h"

#include "access/watcher.h"

namespace llmservice::gpu::watch {
namespace {

using access::Kind;
using access::Watcher;

Watcher& mine() { return Watcher::mine(); }
uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }
uintptr_t caller(void* address) { return reinterpret_cast<uintptr_t>(address); }

}  // namespace

void memory_begins(const void* memory, size_t bytes) { access::add_memory(number(memory), bytes); }
void memory_ends(const void* memory) { access::remove_memory(number(memory)); }
void stream_waits() { mine().stream_waits(); }

void launch_begins(const char* name, uint32_t threads, uint32_t shared_bytes) {
  mine().launch_begins(name, threads, shared_bytes);
}
void launch_ends() { mine().launch_ends(); }
void block_begins(const std::byte* shared) { mine().block_begins(number(shared)); }
void block_ends() { mine().block_ends(); }
void thread_runs(uint32_t thread, const void* stack_end) { mine().thread_runs(thread, number(stack_end)); }
void thread_rests() { mine().thread_rests(); }

void block_met() { mine().clocks.block_met(); }
void warp_met(uint32_t warp) { mine().clocks.warp_met(warp); }

void waited() { mine().waited(); }
void next_may_start() { mine().next_may_start(); }
void published() { mine().published(); }
void read(const void* from, size_t bytes) {
  mine().access(number(from), bytes, Kind::kRead, caller(__builtin_return_address(0)));
}
void changed_at_once(const void* at, size_t bytes) {
  mine().access(number(at), bytes, Kind::kOneStep, caller(__builtin_return_address(0)));
}
void counted(const int32_t* counter) {
  mine().access(number(counter), sizeof *counter, Kind::kOneStep, caller(__builtin_return_address(0)));
  mine().counted(counter, false);
}
void counted_in_order(const int32_t* counter) {
  mine().access(number(counter), sizeof *counter, Kind::kOneStep, caller(__builtin_return_address(0)));
  mine().counted(counter, true);
}

void barrier_made(const uint64_t* barrier) { mine().clocks.barrier_made(barrier, mine().thread()); }
void barriers_published() { mine().clocks.fence(mine().thread()); }
void barrier_arrived(const uint64_t* barrier) { mine().clocks.arrive(barrier, mine().thread()); }
void copies_landed(const uint64_t* barrier) { mine().clocks.copies_landed(barrier); }
void phase_over(const uint64_t* barrier) { mine().clocks.phase_over(barrier); }
void phase_seen(const uint64_t* barrier) { mine().clocks.phase_seen(barrier, mine().thread()); }
void copy_begins(const void* to, const void* from, size_t bytes, const uint64_t* barrier) {
  mine().copy_begins(number(to), number(from), bytes, barrier);
}
void product_reads(const void* from, size_t bytes) {
  mine().access(number(from), bytes, Kind::kProductRead, caller(__builtin_return_address(0)));
}

}  // namespace llmservice::gpu::watch
