// Finds the library for several nodes beside this code and opens a wire of it.
#pragma once

#include <memory>

#include "nodes/wire.h"

namespace llmservice {

// Throws EngineFault where this build has no such library, or UCX is not installed.
std::unique_ptr<Wire> open_wire();

}  // namespace llmservice
