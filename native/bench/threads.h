// What one sequence or one row cannot share by itself: attention of a decode and sampling, on one thread and
// on all: `llmservice_bench threads`.
#pragma once

namespace llmservice::bench {

// Of `rounds` in which one thread and all take turns.
void report_threads(int rounds);

}  // namespace llmservice::bench
