#include "access/watcher.h"

#include <link.h>

#include <algorithm>

extern "C" const char __ehdr_start;  // where this program lies, by the linker

namespace llmservice::access {
namespace {

constexpr uint32_t kMaxShared = LLMSERVICE_WARP_SIZE == 64 ? 64 << 10 : 227 << 10;
constexpr uint32_t kMaxStatic = 48 << 10;

uint32_t offset_of(uintptr_t code) {
  return static_cast<uint32_t>(code - reinterpret_cast<uintptr_t>(&__ehdr_start));
}

uintptr_t code_at(const Access& access) {
  return access.code == 0 ? 0 : reinterpret_cast<uintptr_t>(&__ehdr_start) + access.code;
}

// What this program's thread_local variables take, which static shared memory is of: right below the thread's
// pointer.
size_t thread_local_bytes() {
  size_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, size_t, void* found) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          const auto& header = program->dlpi_phdr[i];
          if (header.p_type != PT_TLS) continue;
          *static_cast<size_t*>(found) =
              (header.p_memsz + header.p_align - 1) / header.p_align * header.p_align;
        }
        return 1;  // the program comes first
      },
      &bytes);
  return bytes;
}

Shadow shadow_of_statics() {
  const size_t bytes = thread_local_bytes();
  return {reinterpret_cast<uintptr_t>(__builtin_thread_pointer()) - bytes, bytes};
}

bool is_written_by(const Cell& cell, uint32_t launch) {
  for (int i = 0; i < 4; ++i) {
    if (cell.write_of(i).launch == launch) return true;
  }
  return false;
}

std::string text_of(const char* who, uint32_t block, uint32_t thread, uint32_t threads) {
  return std::string(who) + "block " + std::to_string(block) + " " +
         (thread < threads ? "thread " + std::to_string(thread) : "an asynchronous copy");
}

}  // namespace

Watcher& Watcher::mine() {
  thread_local Watcher watcher;
  return watcher;
}

void Watcher::launch_begins(const char* name, uint32_t threads, uint32_t shared_bytes) {
  if (launch_ == 0) {
    static_ = shadow_of_statics();
    shared_ = {0, kMaxShared};
  }
  // Of a launch that asks for too much, all that it may touch until that is reported.
  if (shared_bytes > kMaxShared) shared_ = {0, shared_bytes};
  ++launch_;
  kernel_ = name;
  shared_bytes_ = shared_bytes;
  static_bytes_ = 0;
  block_ = 0;
  ended_before_ = earlier_ended_;
  any_waited_ = holds_next_ = false;
  releases_.clear();
  threads_ = threads;
}

void Watcher::launch_ends() {
  if (!any_waited_) report(Fault::kNeverWaited, kernel_, 0, 0, "no thread of it waits");
  earlier_ended_ = holds_next_ ? launch_ - 1 : ended_before_;
  if (static_bytes_ > kMaxStatic || static_bytes_ + shared_bytes_ > kMaxShared) {
    report(Fault::kSharedLimit, kernel_, 0, 0,
           std::to_string(static_bytes_) + " static and " + std::to_string(shared_bytes_) +
               " dynamic bytes of at most " + std::to_string(kMaxStatic) + " and, of both, " +
               std::to_string(kMaxShared));
  }
}

void Watcher::block_begins(uintptr_t shared) {
  ++block_;
  shared_begin_ = shared;
  clocks.begin(threads_);
  waits_.clear();
  has_waited_.assign(threads_, false);
  published_.assign(threads_, {});
  acquired_.clear();
  let_next_early_ = false;
}

void Watcher::block_ends() {
  if (!waits_.empty() && !let_next_early_) holds_next_ = true;
}

void Watcher::thread_runs(uint32_t thread, uintptr_t stack_end) {
  thread_ = thread;
  stack_end_ = stack_end;
  is_active = true;
}

void Watcher::waited() {
  if (has_waited_[thread_]) return;
  waits_.push_back(clocks.now(thread_));
  has_waited_[thread_] = any_waited_ = true;
}

// What another thread of the block waited for before this has ended too.
bool Watcher::has_waited() {
  if (has_waited_[thread_]) return true;
  return has_waited_[thread_] = std::any_of(waits_.begin(), waits_.end(),
                                            [this](Moment wait) { return clocks.is_before(wait, thread_); });
}

void Watcher::next_may_start() {
  if (!has_waited()) let_next_early_ = true;
}

void Watcher::counted(const void* counter, bool in_order) {
  std::vector<Release>& releases = releases_[counter];
  acquired_.push_back({clocks.now(thread_), counter, releases.size()});
  releases.push_back({block_, in_order ? clocks.known_to(thread_) : published_[thread_]});
  clocks.advance(thread_);
}

void Watcher::copy_begins(uintptr_t to, uintptr_t from, size_t bytes, const void* barrier) {
  const Moment made = clocks.barrier_made_at(barrier);
  const Access now{.launch = launch_, .block = block_, .moment = clocks.now(thread_)};
  if (!clocks.is_fenced(made)) say(Fault::kUnfencedBarrier, {.moment = made}, now, to);
  access(from, bytes, Kind::kRead, now, now.moment);
  access(to, bytes, Kind::kWrite, now, clocks.copy(barrier));
}

std::optional<Watcher::Place> Watcher::place_of(uintptr_t address) {
  if (address - shared_begin_ < shared_bytes_) return Place{&shared_, shared_begin_, true, false};
  if (static_.has(address)) return Place{&static_, 0, true, true};
  if (Shadow* const shadow = device_.of(address)) return Place{shadow, 0, false, false};
  return std::nullopt;
}

void Watcher::access(uintptr_t address, size_t bytes, Kind kind, uintptr_t code) {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (address > frame && address < stack_end_) return;
  const Access now{.launch = launch_,
                   .block = block_,
                   .moment = clocks.now(thread_),
                   .code = offset_of(code),
                   .is_one_step = kind == Kind::kOneStep};
  access(address, bytes, kind, now, now.moment);
}

void Watcher::access(uintptr_t address, size_t bytes, Kind kind, Access now, Moment as) {
  const std::optional<Place> place = place_of(address);
  if (!place) return;
  for (uintptr_t at = address; at < address + bytes;) {
    const uintptr_t begin = at & ~uintptr_t{3};
    now.bytes = 0;
    for (; at < address + bytes && at < begin + 4; ++at) now.bytes |= 1 << (at & 3);
    access_cell(place->shadow->cell(begin - place->base), *place, now, kind, as, begin);
  }
}

void Watcher::access_cell(Cell& cell, const Place& place, const Access& now, Kind kind, Moment as,
                          uintptr_t address) {
  const bool writes = kind == Kind::kWrite || kind == Kind::kOneStep;
  if (!place.is_shared && !has_waited()) judge_early(cell, now, kind, address);
  // A product may have rows whose results nobody reads.
  if (place.is_shared && kind != Kind::kWrite && kind != Kind::kProductRead)
    judge_unwritten(cell, place, now, address);
  if (!cell.parts) {
    judge_write(cell.write, now, kind, place.is_shared, address);
  } else {
    for (const Access& part : *cell.parts) judge_write(part, now, kind, place.is_shared, address);
  }
  if (writes) {
    for (const Access& read : cell.reads) {
      if (is_unordered(read, now, place.is_shared)) say(Fault::kReadWrite, read, now, address);
    }
    if (place.is_static && !is_written_by(cell, launch_)) static_bytes_ += 4;
  }
  Access left = now;
  left.moment = as;
  writes ? cell.set_write(left) : cell.add_read(left);
}

// Before its wait a launch may run beside those that had not ended when it began.
void Watcher::judge_early(const Cell& cell, const Access& now, Kind kind, uintptr_t address) {
  if (kind != Kind::kRead) return say(Fault::kEarlyWrite, {}, now, address);
  for (int i = 0; i < 4; ++i) {
    const Access& write = cell.write_of(i);
    if ((now.bytes >> i & 1) == 0 || write.launch == launch_ || write.launch <= ended_before_) continue;
    return say(Fault::kEarlyRead, write, now, address);
  }
}

// Of static variables, those alone that a kernel has written at some time: others are the emulator's.
void Watcher::judge_unwritten(const Cell& cell, const Place& place, const Access& now, uintptr_t address) {
  for (int i = 0; i < 4; ++i) {
    const Access& write = cell.write_of(i);
    if ((now.bytes >> i & 1) == 0 || (write.launch == launch_ && write.block == block_)) continue;
    if (place.is_static && write.launch == 0) continue;
    return say(Fault::kUnwritten, write, now, address);
  }
}

void Watcher::judge_write(const Access& before, const Access& now, Kind kind, bool is_shared,
                          uintptr_t address) {
  if (is_unordered(before, now, is_shared)) {
    const bool writes = kind == Kind::kWrite || kind == Kind::kOneStep;
    return say(writes ? Fault::kWriteWrite : Fault::kWriteRead, before, now, address);
  }
  const bool is_own = before.launch == launch_ && before.block == block_;
  if (kind == Kind::kProductRead && is_own && !clocks.is_agent(before.moment.thread) &&
      !clocks.is_fenced(before.moment)) {
    say(Fault::kUnfencedProduct, before, now, address);
  }
}

bool Watcher::is_unordered(const Access& before, const Access& now, bool is_shared) const {
  if (before.launch != launch_ || (before.bytes & now.bytes) == 0) return false;
  if (before.is_one_step && now.is_one_step) return false;
  if (before.block == block_) return !clocks.is_before(before.moment, thread_);
  return !is_shared && !is_ordered_across(before);
}

// By a counter that the other block counted up, with what it had published, before this one did.
bool Watcher::is_ordered_across(const Access& before) const {
  for (const Acquired& acquired : acquired_) {
    if (!clocks.is_before(acquired.moment, thread_)) continue;
    const std::vector<Release>& releases = releases_.at(acquired.counter);
    for (size_t i = 0; i < acquired.releases; ++i) {
      const auto& [block, known] = releases[i];
      const auto [thread, clock] = before.moment;
      if (block == before.block && thread < known.size() && clock <= known[thread]) return true;
    }
  }
  return false;
}

void Watcher::say(Fault fault, const Access& before, const Access& now, uintptr_t address) const {
  std::string text = text_of("", now.block, now.moment.thread, threads_);
  if (before.launch != 0) {
    text += text_of(", after ", before.block, before.moment.thread, threads_);
    if (before.launch != launch_)
      text += " of " + std::to_string(launch_ - before.launch) + " launches before";
  }
  char at[32];
  std::snprintf(at, sizeof at, ", at %#lx", address);
  report(fault, kernel_, code_at(before), code_at(now), text + at);
}

}  // namespace llmservice::access
