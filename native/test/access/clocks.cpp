#include "access/clocks.h"

#include <algorithm>

namespace llmservice::access {
namespace {

constexpr uint32_t kLanes = LLMSERVICE_WARP_SIZE;

void join(Clock& to, const Clock& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

void raise(Clock& clock, uint32_t index, uint32_t value) {
  if (clock.size() <= index) clock.resize(index + 1);
  clock[index] = std::max(clock[index], value);
}

}  // namespace

void BlockClocks::begin(uint32_t threads) {
  threads_ = threads;
  clocks_.assign(threads, 1);
  for (auto* const seen : {&block_seen_, &warp_seen_, &fenced_}) seen->assign(threads, 0);
  if (any_known_ || known_.size() != threads) known_.assign(threads, {});
  any_known_ = false;
  barriers_.clear();
}

bool BlockClocks::is_before(Moment moment, uint32_t thread) const {
  const auto [other, clock] = moment;
  if (other == thread) return true;
  if (other < threads_) {
    if (clock <= block_seen_[other]) return true;
    if (other / kLanes == thread / kLanes && clock <= warp_seen_[other]) return true;
  }
  const Clock& known = known_[thread];
  return other < known.size() && clock <= known[other];
}

Clock BlockClocks::known_to(uint32_t thread) const {
  Clock all = block_seen_;
  const uint32_t first = thread / kLanes * kLanes;
  for (uint32_t i = first; i < std::min(first + kLanes, threads_); ++i)
    all[i] = std::max(all[i], warp_seen_[i]);
  join(all, known_[thread]);
  all[thread] = clocks_[thread];
  return all;
}

// What one of them knows by mbarriers, all know.
void BlockClocks::share_known(uint32_t first, uint32_t end) {
  if (!any_known_) return;
  Clock all;
  for (uint32_t i = first; i < end; ++i) join(all, known_[i]);
  if (all.empty()) return;
  for (uint32_t i = first; i < end; ++i) known_[i] = all;
}

void BlockClocks::block_met() {
  for (uint32_t i = 0; i < threads_; ++i) block_seen_[i] = clocks_[i]++;
  share_known(0, threads_);
}

void BlockClocks::warp_met(uint32_t warp) {
  const uint32_t first = warp * kLanes, end = std::min(first + kLanes, threads_);
  for (uint32_t i = first; i < end; ++i) warp_seen_[i] = clocks_[i]++;
  share_known(first, end);
}

void BlockClocks::fence(uint32_t thread) { fenced_[thread] = clocks_[thread]++; }

BlockClocks::Barrier& BlockClocks::at(const void* barrier) {
  const auto [found, is_new] = barriers_.try_emplace(barrier);
  if (is_new) found->second.agent = threads_ + static_cast<uint32_t>(barriers_.size()) - 1;
  return found->second;
}

void BlockClocks::barrier_made(const void* barrier, uint32_t thread) { at(barrier).made = now(thread); }

void BlockClocks::arrive(const void* barrier, uint32_t thread) {
  join(at(barrier).arrived, known_to(thread));
  advance(thread);
}

Moment BlockClocks::copy(const void* barrier) {
  Barrier& b = at(barrier);
  return {b.agent, ++b.copies};
}

void BlockClocks::copies_landed(const void* barrier) {
  Barrier& b = at(barrier);
  raise(b.arrived, b.agent, b.copies);
}

void BlockClocks::phase_over(const void* barrier) {
  Barrier& b = at(barrier);
  b.seen = std::move(b.arrived);
  b.arrived.clear();
}

void BlockClocks::phase_seen(const void* barrier, uint32_t thread) {
  any_known_ = true;
  join(known_[thread], at(barrier).seen);
}

}  // namespace llmservice::access
