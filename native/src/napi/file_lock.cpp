#include "napi/file_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace llmservice {

Napi::Value try_lock(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  if (call.Length() != 2 || !call[0].IsNumber() || !call[1].IsBoolean()) {
    throw Napi::TypeError::New(env, "tryLock(descriptor, exclusive) takes a number and a boolean.");
  }
  const int descriptor = call[0].As<Napi::Number>().Int32Value();
  const int kind = call[1].As<Napi::Boolean>().Value() ? LOCK_EX : LOCK_SH;
  int result = 0;
  do {
    result = ::flock(descriptor, kind | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EWOULDBLOCK) return Napi::Boolean::New(env, result == 0);
  throw Napi::Error::New(env, std::string("flock: ") + std::strerror(errno));
}

}  // namespace llmservice
