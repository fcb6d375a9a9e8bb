// What other processes of the same user may do to this one.
#pragma once

#include <napi.h>

namespace llmservice {

// denyTracing(): from now on they can neither trace it nor read its environment, memory and open files.
Napi::Value deny_tracing(const Napi::CallbackInfo& call);

}  // namespace llmservice
