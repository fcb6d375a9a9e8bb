#include "napi/tracing.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace llmservice {

Napi::Value deny_tracing(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  // proc(5): /proc/PID then belongs to root and asks for CAP_SYS_PTRACE. A program that it executes begins
  // anew.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) return env.Undefined();
  throw Napi::Error::New(env, std::string("prctl(PR_SET_DUMPABLE): ") + std::strerror(errno));
}

}  // namespace llmservice
