// Runs the blocks of a launch on the calling thread, one after the other, each thread of a block as a fiber.
// A fiber runs until it meets others at a barrier or exchange. What would be undefined on a device ends the
// program with a message here: lanes that part on the way to a meeting, and threads that wait for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace llmservice::gpu::emulator {

struct Index {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

// Calls `thread` for every thread of every block. Dynamic shared memory is full of NaNs when a block begins.
void run(const char* name, Index grid, uint32_t threads, uint32_t shared_bytes,
         const std::function<void()>& thread);

// For the running fiber. All threads of the block, or lanes of the warp, that have not ended take part.
void meet_block();
void meet_warp();
// As meet_warp(), for what makes no memory visible to the other lanes.
void gather_warp();
// Every lane gives a value and gets all lanes' values, valid until its next exchange but one; those of ended
// lanes are undefined.
const uint64_t* exchange(uint64_t value);
// Lets the other fibers run, for loops that wait for something.
void pass();
std::byte* shared_memory();

}  // namespace llmservice::gpu::emulator
