// What other processes may have of this one.
#pragma once

#include <napi.h>

namespace llmservice {

// denyTracing(): from now on those of the same user can neither trace it nor read its environment, memory and
// open files.
Napi::Value deny_tracing(const Napi::CallbackInfo& call);

// keepDescriptors(): those that it starts inherit no descriptor that it has now, but the ones they are given.
Napi::Value keep_descriptors(const Napi::CallbackInfo& call);

}  // namespace llmservice
