// Ranks of a test: threads of this process, or forked processes that can be killed.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "parallel/rank_group.h"

namespace llmservice::testing {

// A segment's descriptor, closed with the object.
class TestSegment {
 public:
  explicit TestSegment(int32_t ranks, int32_t stages = 1) : descriptor_(make_segment(ranks, stages)) {}
  ~TestSegment() { close(descriptor_); }
  TestSegment(const TestSegment&) = delete;
  TestSegment& operator=(const TestSegment&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// A value that this process and those it forks afterwards share.
template <class T>
class Shared {
 public:
  Shared()
      : value_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                   T{}) {}
  ~Shared() { munmap(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

// Runs body(group) on `size` ranks, each on a thread; they end the group together.
inline void on_threads(int32_t size, const std::function<void(RankGroup&)>& body) {
  const TestSegment segment(size);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      RankGroup group({.rank = rank, .size = size, .segment = segment.descriptor()});
      body(group);
      group.meet();
      group.rank() == 0 ? group.close() : (group.receive(), group.close());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A rank in a process of its own, killed at the latest with the object.
class RankProcess {
 public:
  explicit RankProcess(const std::function<void()>& body) {
    std::fflush(nullptr);  // what is buffered is printed once, not by each process
    pid_ = fork();
    if (pid_ != 0) return;
    try {
      body();
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  ~RankProcess() {
    if (pid_ > 0) {
      signal(SIGKILL);
      wait();
    }
  }
  RankProcess(RankProcess&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  RankProcess& operator=(RankProcess&&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  // The exit status, or -1 when a signal ended it.
  int wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
};

}  // namespace llmservice::testing
