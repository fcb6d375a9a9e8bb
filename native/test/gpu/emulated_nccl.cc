// A library with NCCL's functions for ranks on the emulator, for tests alone: opened by name, as the vendors'
// are. Ranks exchange through a file in memory without a name, each pair through boxes that are full or
// empty. As in the library, calls of a group begin with its end, work lies on streams and in graphs, a
// communicator does not go before the graphs that use it, and ncclCommAbort ends whatever waits.
//
// Of the environment: EMULATED_NCCL_VERSION, what it says it is; EMULATED_NCCL_FAULT_AFTER, groups of calls
// until one fails; EMULATED_NCCL_STALLS=1, this rank never connects.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/gpu/nccl_library.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace llmservice::gpu {
namespace {

constexpr int kMaxRanks = 8;
constexpr size_t kBoxFloats = 1000;  // so that most of what ranks exchange goes in pieces
constexpr auto kSystemError = static_cast<NcclResult>(2);
constexpr auto kInvalidUsage = static_cast<NcclResult>(5);

struct Box {
  std::atomic<uint32_t> full;
  float data[kBoxFloats];
};

struct Shared {
  std::atomic<int> joined;
  Box boxes[kMaxRanks][kMaxRanks];  // from, to
};

// What an NcclId holds.
struct Place {
  int pid;
  int descriptor;
};

long setting(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

}  // namespace

struct NcclComm {
  int rank;
  int size;
  Shared* shared;
  std::atomic<bool> aborted = false;
  std::atomic<NcclResult> state = NcclResult::kInProgress;
  std::atomic<bool> answers_late = true;  // the first calls: as where connections are made with them
  std::atomic<bool> failed = false;
  std::atomic<int> used = 0;  // by threads that work
  long groups = 0;
  std::thread joining = {};

  // Until it holds or all is over.
  template <class Condition>
  bool wait(const Condition& condition) const {
    while (!condition()) {
      if (aborted) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return !aborted;
  }
};

namespace {

void all_reduce(const NcclComm& comm, float* x, size_t count) {
  for (size_t begin = 0; begin < count; begin += kBoxFloats) {
    const size_t piece = std::min(kBoxFloats, count - begin);
    for (int to = 0; to < comm.size; ++to) {
      Box& box = comm.shared->boxes[comm.rank][to];
      if (!comm.wait([&] { return box.full == 0; })) return;
      std::copy_n(x + begin, piece, box.data);
      box.full = 1;
    }
    // No rank order: nobody may count on it.
    for (int from = comm.size - 1; from >= 0; --from) {
      Box& box = comm.shared->boxes[from][comm.rank];
      if (!comm.wait([&] { return box.full == 1; })) return;
      for (size_t i = 0; i < piece; ++i) {
        x[begin + i] = from == comm.size - 1 ? box.data[i] : x[begin + i] + box.data[i];
      }
      box.full = 0;
    }
  }
}

struct Transfer {
  bool sends;
  float* data;
  size_t left;
  int peer;
};

// All at once: one in each direction between two ranks moves, in order.
void transfer(const NcclComm& comm, const std::vector<Transfer>& all) {
  std::map<std::pair<bool, int>, std::deque<Transfer>> waiting;
  for (const Transfer& each : all) waiting[{each.sends, each.peer}].push_back(each);
  size_t left = all.size();
  const auto move = [&] {
    for (auto& [way, queue] : waiting) {
      if (queue.empty()) continue;
      Transfer& next = queue.front();
      Box& box =
          next.sends ? comm.shared->boxes[comm.rank][next.peer] : comm.shared->boxes[next.peer][comm.rank];
      if (box.full != (next.sends ? 0 : 1)) continue;
      const size_t piece = std::min(kBoxFloats, next.left);
      next.sends ? std::copy_n(next.data, piece, box.data) : std::copy_n(box.data, piece, next.data);
      box.full = next.sends ? 1 : 0;
      next.data += piece;
      next.left -= piece;
      if (next.left > 0) continue;
      queue.pop_front();
      --left;
    }
    return left == 0;
  };
  static_cast<void>(comm.wait(move));
}

struct Group {
  int depth = 0;
  NcclComm* comm = nullptr;
  std::vector<std::pair<float*, size_t>> sums;
  std::vector<Transfer> transfers;
};
thread_local Group group;

NcclResult end_group() {
  Group ended;
  std::swap(ended, group);
  NcclComm* const comm = ended.comm;
  if (comm == nullptr) return NcclResult::kSuccess;
  if (comm->state == NcclResult::kInProgress || comm->aborted) return kInvalidUsage;
  if (++comm->groups == setting("EMULATED_NCCL_FAULT_AFTER", -1)) comm->failed = true;
  if (comm->failed) return kSystemError;
  ++comm->used;
  for (const auto& [x, count] : ended.sums) all_reduce(*comm, x, count);
  if (!ended.transfers.empty()) transfer(*comm, ended.transfers);
  --comm->used;
  if (!comm->answers_late.exchange(false)) return NcclResult::kSuccess;
  comm->state = NcclResult::kInProgress;
  return NcclResult::kInProgress;
}

NcclResult in_group(NcclComm* comm) {
  group.comm = comm;
  return NcclResult::kSuccess;
}

// All that were made, until the process ends: who asks one that has ended for its state finds an answer.
std::mutex making;
std::vector<std::unique_ptr<NcclComm>> made_so_far;

// Returns when nothing uses it any more.
void end(NcclComm* comm) {
  while (comm->used > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (comm->joining.joinable()) comm->joining.join();
  munmap(comm->shared, sizeof(Shared));
}

}  // namespace
}  // namespace llmservice::gpu

using namespace llmservice::gpu;

EXPORT NcclResult ncclGetVersion(int* version) {
  *version = static_cast<int>(setting("EMULATED_NCCL_VERSION", 22707));
  return NcclResult::kSuccess;
}

EXPORT NcclResult ncclGetUniqueId(NcclId* id) {
  const Place place{getpid(), memfd_create("nccl", MFD_CLOEXEC)};
  if (place.descriptor < 0 || ftruncate(place.descriptor, sizeof(Shared)) != 0) return kSystemError;
  std::memcpy(id->bytes, &place, sizeof(place));
  return NcclResult::kSuccess;
}

EXPORT NcclResult ncclCommInitRankConfig(NcclComm** comm, int ranks, NcclId id, int rank,
                                         NcclConfig* config) {
  if (config->magic != 0xcafebeef || config->blocking != 0 || ranks > kMaxRanks) return kInvalidUsage;
  Place place;
  std::memcpy(&place, id.bytes, sizeof(place));
  const std::string path = "/proc/" + std::to_string(place.pid) + "/fd/" + std::to_string(place.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return kSystemError;
  auto* const made = new NcclComm{.rank = rank, .size = ranks, .shared = static_cast<Shared*>(memory)};
  *comm = made;
  {
    const std::scoped_lock lock(making);
    made_so_far.emplace_back(made);
  }
  if (setting("EMULATED_NCCL_STALLS", 0) != 0) return NcclResult::kInProgress;
  made->joining = std::thread([made] {
    ++made->shared->joined;
    made->wait([&] { return made->shared->joined == made->size; });
    made->state = NcclResult::kSuccess;
  });
  return NcclResult::kInProgress;
}

EXPORT NcclResult ncclAllReduce(const void* from, void* to, size_t count, NcclType type, NcclOp op,
                                NcclComm* comm, void*) {
  if (from != to || type != NcclType::kFloat32 || op != NcclOp::kSum) return kInvalidUsage;
  group.sums.emplace_back(static_cast<float*>(to), count);
  return in_group(comm);
}

EXPORT NcclResult ncclSend(const void* from, size_t count, NcclType, int peer, NcclComm* comm, void*) {
  group.transfers.push_back({true, static_cast<float*>(const_cast<void*>(from)), count, peer});
  return in_group(comm);
}

EXPORT NcclResult ncclRecv(void* to, size_t count, NcclType, int peer, NcclComm* comm, void*) {
  group.transfers.push_back({false, static_cast<float*>(to), count, peer});
  return in_group(comm);
}

EXPORT NcclResult ncclGroupStart() {
  ++group.depth;
  return NcclResult::kSuccess;
}

EXPORT NcclResult ncclGroupEnd() { return --group.depth == 0 ? end_group() : NcclResult::kSuccess; }

// What a call began and answered late is done when somebody asks; connecting ends by itself.
EXPORT NcclResult ncclCommGetAsyncError(NcclComm* comm, NcclResult* result) {
  *result = comm->failed ? kSystemError : comm->state.load();
  if (!comm->answers_late) comm->state = NcclResult::kSuccess;
  return NcclResult::kSuccess;
}

EXPORT NcclResult ncclCommFinalize(NcclComm* comm) {
  comm->state = NcclResult::kInProgress;
  return NcclResult::kInProgress;
}

EXPORT NcclResult ncclCommDestroy(NcclComm* comm) {
  end(comm);
  return NcclResult::kSuccess;
}

EXPORT NcclResult ncclCommAbort(NcclComm* comm) {
  comm->aborted = true;
  end(comm);
  return NcclResult::kSuccess;
}

EXPORT const char* ncclGetErrorString(NcclResult result) {
  return result == kSystemError ? "unhandled system error" : "invalid usage";
}

EXPORT const char* ncclGetLastError(NcclComm*) { return "as the test wished"; }
