// One host thread's emulated device: launches one after the other, of each a block at a time, and every
// access of its threads. An access is judged by what lies in the shadow beside its memory, then put there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "access/clocks.h"
#include "access/report.h"
#include "access/shadow.h"

namespace llmservice::access {

enum class Kind : uint8_t { kRead, kWrite, kOneStep, kProductRead };

class Watcher {
 public:
  static Watcher& mine();

  void stream_waits() { earlier_ended_ = launch_; }
  void launch_begins(const char* name, uint32_t threads, uint32_t shared_bytes);
  void launch_ends();
  void block_begins(uintptr_t shared);
  void block_ends();

  void thread_runs(uint32_t thread, uintptr_t stack_end);
  void thread_rests() { is_active = false; }
  void access(uintptr_t address, size_t bytes, Kind kind, uintptr_t code);

  void waited();
  void next_may_start();
  void published() { published_[thread_] = clocks.known_to(thread_); }
  void counted(const void* counter, bool in_order);
  void copy_begins(uintptr_t to, uintptr_t from, size_t bytes, const void* barrier);

  uint32_t thread() const { return thread_; }
  BlockClocks clocks;
  bool is_active = false;

 private:
  // Where an access is, and what is known of it there.
  struct Place {
    Shadow* shadow;
    uintptr_t base;  // which the shadow counts from
    bool is_shared;
    bool is_static;
  };
  std::optional<Place> place_of(uintptr_t address);
  // `as`: what its memory is left with, where that is not `now`.
  void access(uintptr_t address, size_t bytes, Kind kind, Access now, Moment as);
  void access_cell(Cell& cell, const Place& place, const Access& now, Kind kind, Moment as,
                   uintptr_t address);
  void judge_early(const Cell& cell, const Access& now, Kind kind, uintptr_t address);
  void judge_unwritten(const Cell& cell, const Place& place, const Access& now, uintptr_t address);
  void judge_write(const Access& before, const Access& now, Kind kind, bool is_shared, uintptr_t address);
  bool is_unordered(const Access& before, const Access& now, bool is_shared) const;
  bool is_ordered_across(const Access& before) const;
  bool has_waited();
  void say(Fault fault, const Access& before, const Access& now, uintptr_t address) const;

  struct Release {
    uint32_t block;
    Clock known;
  };
  // A thread that counted after so many others.
  struct Acquired {
    Moment moment;
    const void* counter;
    size_t releases;
  };

  const char* kernel_ = "";
  uint32_t launch_ = 0;
  uint32_t block_ = 0;
  uint32_t thread_ = 0;
  uint32_t threads_ = 0;
  uint32_t shared_bytes_ = 0;
  uintptr_t stack_end_ = 0;
  uint32_t static_bytes_ = 0;  // written in this launch

  // Launches up to this one have ended when this begins, whatever it waits for.
  uint32_t ended_before_ = 0;
  uint32_t earlier_ended_ = 0;  // what ended_before_ is of the next
  bool any_waited_ = false;
  bool holds_next_ = false;      // a block of the launch lets the next start only after its own wait
  bool let_next_early_ = false;  // a thread of the block did so before
  std::vector<Moment> waits_;    // of the block
  std::vector<bool> has_waited_;

  std::vector<Clock> published_;
  std::map<const void*, std::vector<Release>> releases_;  // of the launch
  std::vector<Acquired> acquired_;                        // of the block

  DeviceShadows device_;
  Shadow shared_, static_;
  uintptr_t shared_begin_ = 0;
};

}  // namespace llmservice::access
