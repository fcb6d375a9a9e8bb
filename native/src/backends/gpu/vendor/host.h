// No device: the vocabulary of vendor.h as ordinary C++, so that the kernels themselves run in tests on any
// machine. Every thread of a block is a fiber (emulator.h); a block's threads begin in an order that changes
// from block to block, so that a barrier that is missing shows. LLMSERVICE_WARP_SIZE chooses 32 or 64 lanes.
// Streams run what they are given at once. Captured graphs keep their launches and run them again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>

#include "backends/gpu/vendor/emulator.h"
#include "backends/gpu/vendor/host_runtime.h"
#include "backends/gpu/vendor/watch.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __forceinline__ inline
#define __launch_bounds__(...)

namespace llmservice::gpu {

struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

constexpr const char* kVendor = "host";
constexpr int kWarpSize = LLMSERVICE_WARP_SIZE;
constexpr const char* kPeerAdvice = "The emulator is set so";

constexpr const char* kNccl = "NCCL";
constexpr const char* kNcclFile = "libemulated_nccl.so";
constexpr const char* kNcclPackage = "The tests build one";

inline std::string architecture_of(const gpuDeviceProp_t&) { return "warp" + std::to_string(kWarpSize); }

// Where the running fiber is; set by the emulator.
inline thread_local emulator::Index threadIdx;
inline thread_local emulator::Index blockIdx;
inline thread_local emulator::Index blockDim;
inline thread_local emulator::Index gridDim;

inline int lane_id() { return static_cast<int>(threadIdx.x % kWarpSize); }
inline int warp_id() { return static_cast<int>(threadIdx.x / kWarpSize); }

// What lanes meet in has one argument more than on devices: from where it is called.
using emulator::Here;
using emulator::Place;
inline void sync_block(Place place = Here::current()) { emulator::meet_block("sync_block()", place); }
inline void sync_warp(Place place = Here::current()) { emulator::meet_warp("sync_warp()", place); }

template <class T>
T shuffle(T value, int lane, Place place = Here::current()) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = emulator::exchange(bits, "shuffle()", place)[lane];
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
T shuffle_xor(T value, int mask, Place place = Here::current()) {
  return shuffle(value, lane_id() ^ mask, place);
}
inline uint64_t ballot(bool predicate, Place place = Here::current()) {
  const uint64_t* all = emulator::exchange(predicate ? 1 : 0, "ballot()", place);
  uint64_t bits = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) bits |= all[lane] << lane;
  return bits;
}

inline int first_lane(uint64_t lanes) { return __builtin_ctzll(lanes); }
inline int count_lanes(uint64_t lanes) { return __builtin_popcountll(lanes); }

// Compiled with -ffp-contract=off.
template <class T>
T unfused_mul(T a, T b) {
  return a * b;
}
template <class T>
T unfused_add(T a, T b) {
  return a + b;
}

inline float reciprocal(float x) { return 1.0f / x; }

// The compiler marks no access in these for the access checker, which hears of them by itself.
#define LLMSERVICE_UNMARKED __attribute__((noinline, no_sanitize("thread")))

template <class T>
LLMSERVICE_UNMARKED T add_to(T* counter, T value) {
  watch::changed_at_once(counter, sizeof(T));
  const T before = *counter;
  *counter += value;
  return before;
}

// Of tiles_f32.h: lanes read each other's room there, which no device has.
template <int kCount>
LLMSERVICE_UNMARKED const float* const* arguments_of_lanes(const float (&mine)[kCount]);

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::shared_memory());
}

inline void publish_block() { watch::published(); }
LLMSERVICE_UNMARKED inline int32_t count_up(int32_t* counter) {
  watch::counted(counter);
  return (*counter)++;
}
// Ranks are threads of this process, or processes that share memory.
inline void publish_to_ranks() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void signal(uint32_t* flag, uint32_t value) {
  std::atomic_ref(*flag).store(value, std::memory_order_release);
}
inline uint32_t look(const uint32_t* flag) {
  return std::atomic_ref(*const_cast<uint32_t*>(flag)).load(std::memory_order_acquire);
}
inline void pause() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

inline void wait_for_previous() { watch::waited(); }
inline void let_next_start() { watch::next_may_start(); }

}  // namespace llmservice::gpu
