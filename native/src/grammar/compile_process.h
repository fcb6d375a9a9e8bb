// One grammar compiled in a process of its own, a fork of this one: what a client asks for may explode in
// time or memory, and the kernel then ends that process alone. Fork from a small process in which nothing
// else compiles.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "grammar/grammar_compiler.h"

namespace llmservice {

struct CompileOutcome {
  CompileEnd end;
  std::string message;
  int64_t bytes = 0;  // that the file begins with, of a compiled one
};

class CompileProcess {
 public:
  // Waits for the end. Writes what GrammarCompiler::read takes to the file.
  CompileOutcome run(GrammarCompiler& compiler, GrammarKind kind, const std::string& text, int file,
                     const CompileLimits& limits);
  // From any thread; also before `run`. Idempotent.
  void kill();
  // That it has taken so far, as last checked. From any thread.
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  void watch(const CompileLimits& limits);
  void end_as(CompileEnd why);
  bool wait(int& status);

  std::mutex mutex_;                              // no id is used once its process is gone
  pid_t pid_ = 0;                                 // 0: none
  CompileEnd killed_as_ = CompileEnd::kCompiled;  // other than that: why it was killed
  // As last checked, by `watch` alone.
  std::atomic<double> cpu_seconds_ = 0;
  std::chrono::steady_clock::time_point began_at_;
  std::chrono::steady_clock::time_point moved_at_;
  int64_t resident_at_fork_ = 0;
};

// How one ends that has taken so much; kCompiled: it may continue.
CompileEnd end_by_time(double cpu_seconds, double wall_seconds, const CompileLimits& limits);

// Of this machine's memory and without a name; the process that inherits the descriptor may write to it.
// Throws EngineError.
int make_memory_file();

}  // namespace llmservice
