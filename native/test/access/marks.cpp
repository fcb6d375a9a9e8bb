// What -fsanitize=thread puts into the code, for the access checker instead of the sanitizer's library.
// Atomics are ordinary ones, since kernels have none of C++ but those that ranks meet by.
#include <cstddef>
#include <cstdint>

#include "access/watcher.h"

namespace {

using llmservice::access::Kind;
using llmservice::access::Watcher;

inline void access(void* address, size_t bytes, Kind kind, void* code) {
  Watcher& watcher = Watcher::mine();
  if (!watcher.is_active) return;
  watcher.access(reinterpret_cast<uintptr_t>(address), bytes, kind, reinterpret_cast<uintptr_t>(code));
}

}  // namespace

extern "C" {

#define MARK(name, kind, bytes)                                      \
  void __tsan_##name##bytes(void* address) {                         \
    access(address, bytes, Kind::kind, __builtin_return_address(0)); \
  }
#define MARKS(bytes)                          \
  MARK(read, kRead, bytes)                    \
  MARK(write, kWrite, bytes)                  \
  MARK(unaligned_read, kRead, bytes)          \
  MARK(unaligned_write, kWrite, bytes)        \
  MARK(volatile_read, kRead, bytes)           \
  MARK(volatile_write, kWrite, bytes)         \
  MARK(unaligned_volatile_read, kRead, bytes) \
  MARK(unaligned_volatile_write, kWrite, bytes)
MARKS(1)
MARKS(2)
MARKS(4)
MARKS(8)
MARKS(16)

void __tsan_read_range(void* address, size_t bytes) {
  access(address, bytes, Kind::kRead, __builtin_return_address(0));
}
void __tsan_write_range(void* address, size_t bytes) {
  access(address, bytes, Kind::kWrite, __builtin_return_address(0));
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

#define FETCH(bits, name)                                                                              \
  uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile uint##bits##_t* at, uint##bits##_t value, \
                                                    int) {                                             \
    return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                                         \
  }
#define COMPARE(bits, name)                                                                                \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t* at, uint##bits##_t* expected, \
                                                    uint##bits##_t value, int, int) {                      \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }
#define ATOMICS(bits)                                                                                     \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* at, int) {                     \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                       \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t* at, uint##bits##_t value, int) {              \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                        \
  }                                                                                                       \
  uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t* at, uint##bits##_t value, int) { \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                              \
  }                                                                                                       \
  FETCH(bits, add)                                                                                        \
  FETCH(bits, sub)                                                                                        \
  FETCH(bits, and)                                                                                        \
  FETCH(bits, or)                                                                                         \
  FETCH(bits, xor)                                                                                        \
  COMPARE(bits, strong)                                                                                   \
  COMPARE(bits, weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

}  // extern "C"
