#include "grammar/compile_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <thread>

#include "ops/error.h"

namespace llmservice {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

// How the process ends when nothing kills it.
enum Exit : int { kExitCompiled = 0, kExitInvalid = 10, kExitMemory = 11, kExitFile = 12 };

// Steps of the engine come first.
constexpr int kNice = 2;
constexpr auto kFirstLook = std::chrono::microseconds(500);
constexpr auto kLooks = std::chrono::milliseconds(20);

// Pages of a process: in memory, and of data. 0 where there are none to report.
struct Pages {
  int64_t resident = 0;
  int64_t data = 0;
};

Pages pages_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/statm");
  Pages pages;
  int64_t skipped = 0;
  file >> skipped >> pages.resident >> skipped >> skipped >> skipped >> pages.data;
  return pages;
}

void limit(__rlimit_resource_t resource, int64_t soft, int64_t hard) {
  const rlimit both{.rlim_cur = static_cast<rlim_t>(soft), .rlim_max = static_cast<rlim_t>(hard)};
  setrlimit(resource, &both);
}

void limit(__rlimit_resource_t resource, int64_t value) { limit(resource, value, value); }

void close_all_but(int file) {
  // Standard error stays, for what the C++ library says when it gives up.
  syscall(SYS_close_range, 3U, static_cast<unsigned>(file - 1), 0U);
  syscall(SYS_close_range, static_cast<unsigned>(file + 1), ~0U, 0U);
}

// Where memory is short the kernel ends this process first.
void offer_to_oom_killer() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

void bind_child(pid_t parent, int file, const CompileLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitFile);
  prctl(PR_SET_NAME, "compile-grammar");
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  close_all_but(file);
  offer_to_oom_killer();
  setpriority(PRIO_PROCESS, 0, kNice);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, limits.result_bytes + (1 << 20));
  // At the hard limit comes SIGKILL, which would look like a lost process; before it SIGXCPU.
  limit(RLIMIT_CPU, static_cast<int64_t>(limits.cpu_seconds) + 2,
        static_cast<int64_t>(limits.cpu_seconds) + 4);
  limit(RLIMIT_DATA, pages_of("self").data * sysconf(_SC_PAGESIZE) + limits.memory_bytes);
}

[[noreturn]] void leave(int file, int code, const std::string& bytes) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count =
        pwrite(file, bytes.data() + written, bytes.size() - written, static_cast<off_t>(written));
    if (count <= 0 && errno != EINTR) _exit(kExitFile);
    written += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  _exit(code);
}

[[noreturn]] void compile_in_child(GrammarCompiler& compiler, GrammarKind kind, const std::string& text,
                                   int file, const CompileLimits& limits) {
  try {
    const std::string bytes = compiler.compile_to_bytes(kind, text);
    if (static_cast<int64_t>(bytes.size()) > limits.result_bytes) _exit(kExitMemory);
    leave(file, kExitCompiled, bytes);
  } catch (const EngineError& error) {
    leave(file, kExitInvalid, error.what());
  } catch (const std::bad_alloc&) {
    _exit(kExitMemory);
  }
}

double cpu_seconds_of(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int64_t size_of(int file) {
  struct stat facts {};
  return fstat(file, &facts) == 0 ? facts.st_size : 0;
}

std::string content_of(int file) {
  std::string text(static_cast<size_t>(size_of(file)), '\0');
  const ssize_t count = pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

CompileOutcome outcome_of(int status, int file) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const std::string name = std::string("the process that compiled it ended with ") + strsignal(signal);
    if (signal == SIGXCPU) return {CompileEnd::kOverTime, "", 0};
    if (signal == SIGXFSZ) return {CompileEnd::kOverMemory, "", 0};
    return {signal == SIGKILL || signal == SIGTERM ? CompileEnd::kLost : CompileEnd::kCrashed, name, 0};
  }
  switch (WEXITSTATUS(status)) {
    case kExitCompiled:
      return {CompileEnd::kCompiled, "", size_of(file)};
    case kExitInvalid:
      return {CompileEnd::kInvalid, content_of(file), 0};
    case kExitMemory:
      return {CompileEnd::kOverMemory, "", 0};
    default:
      return {CompileEnd::kLost, "the compiled grammar could not be handed over", 0};
  }
}

}  // namespace

CompileOutcome CompileProcess::run(GrammarCompiler& compiler, GrammarKind kind, const std::string& text,
                                   int file, const CompileLimits& limits) {
  if (ftruncate(file, 0) != 0)
    return {CompileEnd::kLost, std::string("its file: ") + std::strerror(errno), 0};
  const pid_t parent = getpid();
  {
    const std::scoped_lock lock(mutex_);
    if (killed_as_ != CompileEnd::kCompiled) return {killed_as_, "", 0};
    pid_ = fork();
    if (pid_ < 0) {
      pid_ = 0;
      return {CompileEnd::kLost, std::string("fork: ") + std::strerror(errno), 0};
    }
  }
  if (pid_ == 0) {
    bind_child(parent, file, limits);
    compile_in_child(compiler, kind, text, file, limits);
  }
  int status = 0;
  began_at_ = moved_at_ = steady_clock::now();
  while (!wait(status)) {
    watch(limits);
    std::this_thread::sleep_for(
        std::clamp<steady_clock::duration>((steady_clock::now() - began_at_) / 16, kFirstLook, kLooks));
  }
  if (killed_as_ == CompileEnd::kLost) return {CompileEnd::kLost, "its process stalled", 0};
  if (killed_as_ != CompileEnd::kCompiled) return {killed_as_, "", 0};
  return outcome_of(status, file);
}

void CompileProcess::kill() { end_as(CompileEnd::kKilled); }

void CompileProcess::end_as(CompileEnd why) {
  const std::scoped_lock lock(mutex_);
  if (killed_as_ == CompileEnd::kCompiled) killed_as_ = why;
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

bool CompileProcess::wait(int& status) {
  const std::scoped_lock lock(mutex_);
  if (waitpid(pid_, &status, WNOHANG) == 0) return false;
  pid_ = 0;
  return true;
}

void CompileProcess::watch(const CompileLimits& limits) {
  const double cpu = cpu_seconds_of(pid_);
  const auto now = steady_clock::now();
  if (cpu > cpu_seconds_) moved_at_ = now;
  cpu_seconds_ = cpu;
  const Pages pages = pages_of(std::to_string(pid_));
  if (resident_at_fork_ == 0) resident_at_fork_ = pages.resident;
  const CompileEnd by_time = end_by_time(cpu, duration<double>(now - began_at_).count(), limits);
  if (by_time != CompileEnd::kCompiled) {
    end_as(by_time);
  } else if ((pages.resident - resident_at_fork_) * sysconf(_SC_PAGESIZE) > limits.memory_bytes) {
    end_as(CompileEnd::kOverMemory);
  } else if (duration<double>(now - moved_at_).count() > limits.stall_seconds) {
    end_as(CompileEnd::kLost);
  }
}

CompileEnd end_by_time(double cpu_seconds, double wall_seconds, const CompileLimits& limits) {
  if (cpu_seconds > limits.cpu_seconds) return CompileEnd::kOverTime;
  if (wall_seconds <= limits.wall_seconds) return CompileEnd::kCompiled;
  // What had much of its processor time is slow by itself: under a tight quota it would end here however
  // often it came again.
  return cpu_seconds > limits.cpu_seconds / 2 ? CompileEnd::kOverTime : CompileEnd::kStarved;
}

int make_memory_file() {
  const int file = memfd_create("compiled-grammar", MFD_CLOEXEC);
  if (file < 0)
    throw EngineError(FailureReason::kEngineFault, std::string("memfd_create: ") + std::strerror(errno));
  return file;
}

}  // namespace llmservice
