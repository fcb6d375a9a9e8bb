// How many threads this process should compute with.
#pragma once

namespace llmservice::cpu {

// Physical cores in the affinity mask, bounded by the cgroup's CPU quota (rounded up); at least 1.
int usable_cores();

}  // namespace llmservice::cpu
