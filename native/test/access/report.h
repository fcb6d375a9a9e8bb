// What the access checker found, for the tests that planted it and for the listener that fails all others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmservice::access {

enum class Fault : uint8_t {
  kWriteWrite,       // two threads write one byte, nothing orders them
  kWriteRead,        // a read that nothing orders after the write
  kReadWrite,        // a write that nothing orders after the read
  kEarlyRead,        // before wait_for_previous(), of what a launch that may still run wrote
  kEarlyWrite,       // of device memory before wait_for_previous()
  kNeverWaited,      // a launch that ends without wait_for_previous(): the next takes all before it for ended
  kUnfencedProduct,  // a product reads what a thread stored, without the fence between
  kUnfencedBarrier,  // a copy is counted by a barrier that was not made known to what is asynchronous
  kUnwritten,        // a read of shared memory that no thread of the block wrote
  kSharedLimit,      // more shared memory than the target has
};

const char* name_of(Fault fault);

struct Report {
  Fault fault;
  std::string kernel;
  std::string text;  // which threads of which blocks, where in the sources
};

// `other` and `here` are addresses in the code, of which each pair is reported once for a kernel; 0 where
// there is none.
void report(Fault fault, const char* kernel, uintptr_t other, uintptr_t here, const std::string& text);

// All since the last call.
std::vector<Report> take_reports();

}  // namespace llmservice::access
