// The memory that the ranks of one machine share: a state block, then two banks of exchange area per rank,
// and two more for those of a stage where there are several stages of several ranks.
// It is a file of /dev/shm that never has a name: whoever inherits its descriptor can map it, and the kernel
// frees it with the last process that does, so that nothing can be left behind.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ops/failure_reason.h"

namespace llmservice {

constexpr int32_t kMaxRanks = 64;
// One bank: large enough that copying outweighs the meeting before it.
constexpr size_t kAreaBytes = size_t{1} << 20;

// What a rank is at, for the message of its failure.
enum class Doing : uint32_t { kJoining, kConnecting, kLoading, kWaiting, kPrefilling, kDecoding };

enum class Loss : uint32_t { kDied = 1, kSilent, kMissing, kGaveUp };

struct alignas(64) RankState {
  std::atomic<uint32_t> turn;        // turns that the rank has arrived at; others wait here in a futex
  std::atomic<uint32_t> sleepers;    // ranks asleep on `turn`
  std::atomic<uint32_t> stage_turn;  // the same of those turns that the ranks of one stage have
  std::atomic<uint32_t> stage_sleepers;
  std::atomic<uint32_t> joined;  // from joining to leaving in peace
  std::atomic<uint32_t> beat;    // grows while the rank's process runs, whatever it computes
  std::atomic<Doing> doing;
  std::atomic<int32_t> pid;
  // Of a rank that gave up: its error, cut to what fits. Written before the loss is declared.
  char message[1023];  // empty: none
  char node[128];      // of another node's rank, for people; empty: it is one of this node
  FailureReason reason;
  // Robust, held by the rank from joining to leaving: the kernel releases it when the process dies.
  pthread_mutex_t alive;
};

// Of one writer, for whoever looks: of two texts it writes the one that is not shown.
struct ShownText {
  std::atomic<uint32_t> writes;
  char text[2][512];

  void show(const std::string& shown);
  std::string shown() const { return text[writes.load() % 2]; }
};

struct GroupState {
  // 0, or the first loss of a rank: rank | Loss << 8 | Doing << 16.
  std::atomic<uint32_t> failure;
  ShownText waiting_for;   // what the first rank waits for
  ShownText last_refusal;  // of the first rank, while it waits for nodes
  RankState ranks[kMaxRanks];
};

// Which nodes are waited for, and why; empty: none.
void note_waiting(GroupState& state, const std::string& text);
std::string waiting_for(const GroupState& state);
// Who was refused, and why; what was refused before counts on.
void note_refusal(GroupState& state, const std::string& text);

// Size of the segment: what /dev/shm must have free. Mirrored by checkpoint/src/memory/shared-memory.ts.
size_t segment_bytes(int32_t ranks, int32_t stages = 1);

// A descriptor of a new segment in `dir`, close-on-exec; the caller closes it.
// Throws SharedMemoryTooSmall, naming the size needed, when it does not fit.
int make_segment(int32_t ranks, int32_t stages = 1, const char* dir = "/dev/shm");

// One rank's mapping of the segment.
class SharedSegment {
 public:
  SharedSegment(int descriptor, int32_t ranks, int32_t stages = 1);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  GroupState& state() const { return *static_cast<GroupState*>(memory_); }
  // Banks 0 and 1 are for turns of all ranks, 2 and 3 for those of a stage.
  std::byte* area(int32_t rank, uint32_t bank) const;

 private:
  int32_t ranks_;
  void* memory_;
  size_t bytes_;
};

}  // namespace llmservice
