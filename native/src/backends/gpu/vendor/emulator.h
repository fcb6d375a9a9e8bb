// Runs the blocks of a launch on the calling thread, one after the other, each thread of a block as a fiber.
// A fiber runs until it meets others at a barrier or exchange. What would be undefined on a device ends the
// program with a message here: lanes that part on the way to a meeting or meet in different calls, and
// threads that wait for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>

namespace llmservice::gpu::emulator {

struct Index {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

// Calls `thread` for every thread of every block. Dynamic shared memory is full of NaNs when a block begins.
void run(const char* name, Index grid, uint32_t threads, uint32_t shared_bytes,
         const std::function<void()>& thread);

using Here = std::source_location;
// From where a call is made. Were it of the type itself, std::shuffle() would be a candidate in kernels.
struct Place {
  Here at;
  Place(Here here) : at(here) {}
};

// For the running fiber, in a call of that name from that place, which must be the same for all lanes of a
// warp. All threads of the block, or lanes of the warp, that have not ended take part.
void meet_block(const char* name, Place place);
void meet_warp(const char* name, Place place);
// As meet_warp(), for what makes no memory visible to the other lanes.
void gather_warp(const char* name, Place place);
// Every lane gives a value and gets all lanes' values, valid until its next exchange but one; those of ended
// lanes are undefined.
const uint64_t* exchange(uint64_t value, const char* name = "a product of float32",
                         Place place = Here::current());
// Lets the other fibers run, for loops that wait for something.
void pass();
std::byte* shared_memory();

}  // namespace llmservice::gpu::emulator
