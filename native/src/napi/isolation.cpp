#include "napi/isolation.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace llmservice {

Napi::Value deny_tracing(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  // proc(5): /proc/PID then belongs to root and asks for CAP_SYS_PTRACE. A program that it executes begins
  // anew.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) return env.Undefined();
  throw Napi::Error::New(env, std::string("prctl(PR_SET_DUMPABLE): ") + std::strerror(errno));
}

Napi::Value keep_descriptors(const Napi::CallbackInfo& call) {
  // Node does it as it starts, but stops at the first gap beyond 16; close_range(2) needs a kernel of 5.11.
  std::error_code unread;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", unread)) {
    const int descriptor = std::stoi(entry.path().filename().string());
    if (descriptor > STDERR_FILENO) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return call.Env().Undefined();
}

}  // namespace llmservice
