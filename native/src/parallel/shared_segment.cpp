#include "parallel/shared_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "ops/error.h"

namespace llmservice {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free, "atomics are shared between processes");

// Whole pages, and more than is used, so that its size need not change with every field.
constexpr size_t kStateBytes = size_t{128} << 10;
static_assert(sizeof(GroupState) <= kStateBytes);

[[noreturn]] void cannot(const std::string& what, int error) {
  throw EngineError(FailureReason::kEngineFault,
                    "The ranks' shared memory cannot be " + what + ": " + std::strerror(error) + ".");
}

// Reserves every page now: a full /dev/shm must be an error here, not a SIGBUS at the first write.
void reserve(int descriptor, int32_t ranks, int32_t stages, const char* dir) {
  const size_t bytes = segment_bytes(ranks, stages);
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error == 0) return;
  if (error != ENOSPC && error != ENOMEM) cannot("reserved", error);
  struct statvfs room {};
  statvfs(dir, &room);
  throw EngineError(FailureReason::kSharedMemoryTooSmall,
                    std::to_string(ranks) + " ranks exchange data over " + std::to_string(bytes) +
                        " bytes of " + dir + ", which has " + std::to_string(room.f_bavail * room.f_frsize) +
                        " free of " + std::to_string(room.f_blocks * room.f_frsize) + ".");
}

void prepare(RankState& rank) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&rank.alive, &kind);
  pthread_mutexattr_destroy(&kind);
}

}  // namespace

size_t segment_bytes(int32_t ranks, int32_t stages) {
  const size_t banks = stages > 1 && ranks > stages ? 4 : 2;
  return kStateBytes + banks * kAreaBytes * static_cast<size_t>(ranks);
}

int make_segment(int32_t ranks, int32_t stages, const char* dir) {
  if (ranks < 2 || ranks > kMaxRanks) {
    throw EngineError(FailureReason::kParallelismInvalid, "A group has 2 to " + std::to_string(kMaxRanks) +
                                                              " ranks; " + std::to_string(ranks) +
                                                              " were asked for.");
  }
  const int descriptor = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) cannot("made in " + std::string(dir), errno);
  try {
    reserve(descriptor, ranks, stages, dir);
    const SharedSegment segment(descriptor, ranks);
    auto* state = new (&segment.state()) GroupState{};
    for (int32_t rank = 0; rank < ranks; ++rank) prepare(state->ranks[rank]);
  } catch (...) {
    close(descriptor);
    throw;
  }
  return descriptor;
}

void ShownText::show(const std::string& shown) {
  const uint32_t next = writes.load() + 1;
  char(&to)[sizeof(text[0])] = text[next % 2];
  std::memset(to, 0, sizeof(to));
  std::memcpy(to, shown.data(), std::min(shown.size(), sizeof(to) - 1));
  writes.store(next);
}

void note_waiting(GroupState& state, const std::string& text) { state.waiting_for.show(text); }
std::string waiting_for(const GroupState& state) { return state.waiting_for.shown(); }
void note_refusal(GroupState& state, const std::string& text) { state.last_refusal.show(text); }

SharedSegment::SharedSegment(int descriptor, int32_t ranks, int32_t stages)
    : ranks_(ranks), bytes_(segment_bytes(ranks, stages)) {
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory_ == MAP_FAILED) cannot("mapped", errno);
}

SharedSegment::~SharedSegment() { munmap(memory_, bytes_); }

std::byte* SharedSegment::area(int32_t rank, uint32_t bank) const {
  return static_cast<std::byte*>(memory_) + kStateBytes +
         (static_cast<size_t>(bank) * static_cast<size_t>(ranks_) + static_cast<size_t>(rank)) * kAreaBytes;
}

}  // namespace llmservice
