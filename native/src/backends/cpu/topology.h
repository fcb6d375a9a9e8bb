// Which cores this process should compute on, with how many threads.
#pragma once

namespace llmservice::cpu {

// Physical cores in the affinity mask, bounded by the cgroup's CPU quota (rounded up); at least 1.
int usable_cores();

// Binds this thread, and those that it starts, to rank `rank`'s part of the cores, so that ranks do not
// wander over each other; where there are fewer cores than ranks, to nothing. Returns the rank's number of
// threads.
int take_share_of_cores(int rank, int ranks);

}  // namespace llmservice::cpu
