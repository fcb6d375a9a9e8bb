#include "backends/gpu/vendor/emulator.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/gpu/vendor/host.h"
#include "backends/gpu/vendor/warp_calls.h"
#include "backends/gpu/vendor/watch.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace llmservice::gpu::emulator {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr size_t kStackBytes = 128 << 10;
// Times that all fibers may pass the turn on without one of them meeting or ending.
constexpr int kIdleRounds = 10'000;

struct Fiber;

// Those who meet: a block's threads, or a warp's lanes.
struct Meeting {
  uint32_t members = 0;  // that have not ended
  uint64_t turn = 0;     // meetings held
  bool orders = false;   // what was written before can be read after: no exchange of values
  std::vector<Fiber*> waiting = {};
};

struct Fiber {
  fcontext_t context = nullptr;
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  uint32_t thread = 0;
  void* fake_stack = nullptr;
};

struct Block {
  const char* kernel = "";
  const std::function<void()>* body = nullptr;
  std::vector<uint32_t> order;  // threads that have not begun
  size_t begun = 0;
  std::deque<Fiber*> ready;
  Meeting all;
  std::vector<Meeting> warps;
  std::vector<FirstArrival> at_warps, at_block;  // (warps)
  std::vector<uint64_t> values;                  // (warps, 2, lanes): of this exchange and the one before
  uint32_t ended = 0;
  int idle = 0;
  std::byte* shared = nullptr;
};

thread_local Block block;
thread_local Fiber* running = nullptr;
thread_local Fiber* leaving = nullptr;  // to be kept for another thread
thread_local fcontext_t scheduler = nullptr;
thread_local std::vector<std::unique_ptr<Fiber>> fibers;
thread_local std::vector<Fiber*> spare;

#if defined(__SANITIZE_ADDRESS__)
thread_local const void* scheduler_stack = nullptr;
thread_local size_t scheduler_stack_bytes = 0;
#endif

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "kernel emulator: %s, block (%u, %u, %u): %s\n", block.kernel, blockIdx.x, blockIdx.y,
               blockIdx.z, what.c_str());
  std::abort();
}

// Leaves the running fiber for the scheduler and returns when its turn comes again.
void leave() {
  Fiber* const self = running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&self->fake_stack, scheduler_stack, scheduler_stack_bytes);
#endif
  scheduler = jump_fcontext(scheduler, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(self->fake_stack, &scheduler_stack, &scheduler_stack_bytes);
#endif
}

// Everybody is there.
void hold(Meeting& meeting) {
  ++meeting.turn;
  if (meeting.orders) {
    &meeting == &block.all ? watch::block_met()
                           : watch::warp_met(static_cast<uint32_t>(&meeting - block.warps.data()));
  }
  block.idle = 0;
  block.ready.insert(block.ready.end(), meeting.waiting.begin(), meeting.waiting.end());
  meeting.waiting.clear();
}

void end_thread(uint32_t thread) {
  Meeting& warp = block.warps[thread / kWarpSize];
  --warp.members;
  --block.all.members;
  ++block.ended;
  block.idle = 0;
  // Those who wait may need nobody else now.
  for (Meeting* meeting : {&warp, &block.all}) {
    if (meeting->members > 0 && meeting->waiting.size() == meeting->members) hold(*meeting);
  }
}

// A fiber runs one thread after the other for as long as none has to wait.
void run_threads(transfer_t from) {
  scheduler = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
#endif
  while (block.begun < block.order.size()) {
    Fiber* const self = running;
    self->thread = block.order[block.begun++];
    threadIdx = {self->thread, 0, 0};
    watch::thread_runs(self->thread, self->stack.get() + kStackBytes);
    (*block.body)();
    watch::thread_rests();
    end_thread(self->thread);
  }
  leaving = running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, scheduler_stack, scheduler_stack_bytes);
#endif
  jump_fcontext(scheduler, nullptr);
}

void resume(Fiber* fiber) {
  running = fiber;
  threadIdx = {fiber->thread, 0, 0};
  watch::thread_runs(fiber->thread, fiber->stack.get() + kStackBytes);
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, fiber->stack.get(), kStackBytes);
#endif
  const fcontext_t back = jump_fcontext(fiber->context, nullptr).fctx;
  watch::thread_rests();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  if (leaving == fiber) {
    spare.push_back(fiber);
  } else {
    fiber->context = back;
  }
  leaving = nullptr;
  running = nullptr;
}

Fiber* new_fiber() {
  if (spare.empty()) {
    fibers.push_back(std::make_unique<Fiber>());
    spare.push_back(fibers.back().get());
  }
  Fiber* const fiber = spare.back();
  spare.pop_back();
  fiber->context = make_fcontext(fiber->stack.get() + kStackBytes, kStackBytes, run_threads);
  return fiber;
}

// First to last, last to first, or every other one first, by the number of the block.
void choose_order(uint32_t threads, uint64_t number) {
  block.order.resize(threads);
  for (uint32_t i = 0; i < threads; ++i) {
    const uint32_t turned = threads - 1 - i;
    const uint32_t strided = i * 2 < threads ? i * 2 : (i - (threads + 1) / 2) * 2 + 1;
    block.order[i] = number % 3 == 0 ? turned : number % 3 == 1 ? i : strided;
  }
}

// What the first warp that misses lanes waits in.
std::string waiting_lanes() {
  for (const Meeting& warp : block.warps) {
    if (warp.waiting.empty()) continue;
    return " Of warp " + std::to_string(&warp - block.warps.data()) + ", " +
           std::to_string(warp.waiting.size()) + " of " + std::to_string(warp.members) + " wait in " +
           text_of(block.at_warps[&warp - block.warps.data()].call());
  }
  return {};
}

void run_block(uint32_t threads) {
  const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  block.begun = 0;
  block.ended = 0;
  block.idle = 0;
  block.all = {.members = threads};
  block.warps.assign(warps, {});
  block.at_warps.assign(warps, {});
  block.at_block.assign(warps, {});
  for (uint32_t i = 0; i < threads; ++i) ++block.warps[i / kWarpSize].members;
  block.values.assign(size_t{warps} * 2 * kWarpSize, 0);
  while (block.ended < threads) {
    if (block.begun < block.order.size()) {
      resume(new_fiber());
    } else if (!block.ready.empty()) {
      Fiber* const next = block.ready.front();
      block.ready.pop_front();
      resume(next);
    } else {
      stop("threads wait at barriers that others never reach; did lanes of a warp part?" + waiting_lanes());
    }
  }
}

// Until all who have not ended are there.
void meet(Meeting& meeting, bool orders, const Call& call) {
  const uint32_t warp = running->thread / kWarpSize;
  std::vector<FirstArrival>& first = &meeting == &block.all ? block.at_block : block.at_warps;
  const std::string difference = first[warp].difference(meeting.turn, running->thread % kWarpSize, call);
  if (!difference.empty()) {
    stop("lanes of warp " + std::to_string(warp) + " meet in different calls: " + difference);
  }
  meeting.orders = orders;
  if (meeting.waiting.size() + 1 == meeting.members) return hold(meeting);
  meeting.waiting.push_back(running);
  leave();
}

}  // namespace

void run(const char* name, Index grid, uint32_t threads, uint32_t shared_bytes,
         const std::function<void()>& thread) {
  watch::launch_begins(name, threads, shared_bytes);
  blockDim = {threads, 1, 1};
  gridDim = grid;
  block.kernel = name;
  block.body = &thread;
  uint64_t number = 0;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
        // Its own allocation for each block, so that the address sanitizer sees both ends of it.
        const auto storage = std::make_unique_for_overwrite<std::byte[]>(shared_bytes + 128);
        void* start = storage.get();
        size_t room = shared_bytes + 128;
        block.shared = static_cast<std::byte*>(std::align(128, shared_bytes, start, room));
        if (shared_bytes > 0) std::memset(block.shared, 0xff, shared_bytes);
        choose_order(threads, number++);
        watch::block_begins(block.shared);
        run_block(threads);
        watch::block_ends();
      }
    }
  }
  watch::launch_ends();
}

void meet_block(const char* name, Place place) { meet(block.all, true, {name, place.at}); }

void meet_warp(const char* name, Place place) {
  meet(block.warps[running->thread / kWarpSize], true, {name, place.at});
}

void gather_warp(const char* name, Place place) {
  meet(block.warps[running->thread / kWarpSize], false, {name, place.at});
}

const uint64_t* exchange(uint64_t value, const char* name, Place place) {
  const uint32_t warp = running->thread / kWarpSize;
  uint64_t* const bank = &block.values[(size_t{warp} * 2 + block.warps[warp].turn % 2) * kWarpSize];
  bank[running->thread % kWarpSize] = value;
  gather_warp(name, place);
  return bank;
}

void pass() {
  if (++block.idle > kIdleRounds * static_cast<int>(block.order.size())) stop("a loop waits for ever");
  block.ready.push_back(running);
  leave();
}

std::byte* shared_memory() { return block.shared; }

}  // namespace llmservice::gpu::emulator
