// Locks of files, which Node itself does not have.
#pragma once

#include <napi.h>

namespace llmservice {

// tryLock(descriptor, exclusive): whether the open file now has an advisory lock (flock), without waiting.
Napi::Value try_lock(const Napi::CallbackInfo& call);

}  // namespace llmservice
