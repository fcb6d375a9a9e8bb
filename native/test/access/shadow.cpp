#include "access/shadow.h"

#include <atomic>
#include <iterator>
#include <mutex>

namespace llmservice::access {
namespace {

struct Allocation {
  size_t bytes;
  uint64_t number;
};

std::mutex changing;
std::map<uintptr_t, Allocation> allocations;
std::atomic<uint64_t> changes = 1;

}  // namespace

// The last of a thread, or the oldest, makes room.
void Cell::add_read(const Access& access) {
  for (Access& read : reads) {
    if (read.launch != access.launch || read.block != access.block ||
        read.moment.thread != access.moment.thread || read.is_one_step != access.is_one_step) {
      continue;
    }
    const uint8_t bytes = read.bytes | access.bytes;
    read = access;
    read.bytes = bytes;
    return;
  }
  reads[next_read] = access;
  next_read = static_cast<uint8_t>((next_read + 1) % reads.size());
}

void add_memory(uintptr_t begin, size_t bytes) {
  const std::scoped_lock lock(changing);
  allocations[begin] = {bytes, changes.fetch_add(1)};
}

void remove_memory(uintptr_t begin) {
  const std::scoped_lock lock(changing);
  allocations.erase(begin);
  changes.fetch_add(1);
}

void DeviceShadows::forget_removed() {
  for (auto known = known_.begin(); known != known_.end();) {
    const auto found = allocations.find(known->first);
    const bool there = found != allocations.end() && found->second.number == known->second.number;
    known = there ? std::next(known) : known_.erase(known);
  }
  last_ = nullptr;
}

Shadow* DeviceShadows::of(uintptr_t address) {
  if (seen_ == changes.load(std::memory_order_relaxed)) {
    if (last_ != nullptr && last_->has(address)) return last_;
  } else {
    const std::scoped_lock lock(changing);
    forget_removed();
    seen_ = changes.load();
  }
  auto known = known_.upper_bound(address);
  if (known != known_.begin() && std::prev(known)->second.shadow.has(address)) {
    return last_ = &std::prev(known)->second.shadow;
  }
  const std::scoped_lock lock(changing);
  auto found = allocations.upper_bound(address);
  if (found == allocations.begin()) return nullptr;
  --found;
  if (address >= found->first + found->second.bytes) return nullptr;
  Shadow shadow(found->first, found->second.bytes);
  return last_ = &known_.insert_or_assign(found->first, Known{found->second.number, std::move(shadow)})
                      .first->second.shadow;
}

}  // namespace llmservice::access
