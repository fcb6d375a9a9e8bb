// What the processes of a tensor-parallel group need before they load.
#pragma once

#include <napi.h>

namespace llmservice {

// makeSegment(ranks): the descriptor of new shared memory for a group.
Napi::Value make_shared_segment(const Napi::CallbackInfo& call);
// groupState(segment, ranks): how far the group is that has it.
Napi::Value group_state(const Napi::CallbackInfo& call);
// dieWithParent(): from now on the kernel kills this process when its parent ends.
Napi::Value die_with_parent(const Napi::CallbackInfo& call);

}  // namespace llmservice
