#include "backends/gpu/window_readers.h"

#include <algorithm>
#include <array>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace llmservice::gpu {
namespace {

// Less is read sooner than a thread begins.
constexpr int64_t kLeastBytes = int64_t{1} << 20;

}  // namespace

void read_in_pieces(int64_t rows, int64_t row_bytes, bool any_order,
                    const std::function<void(int reader, int64_t first, int64_t rows)>& read) {
  const int64_t worth = std::min(rows, rows * row_bytes / kLeastBytes);
  const int readers = any_order ? static_cast<int>(std::clamp<int64_t>(worth, 1, kWindowReaders)) : 1;
  std::array<std::exception_ptr, kWindowReaders> errors;
  const auto read_run = [&](int reader) {
    const int64_t first = rows * reader / readers;
    try {
      read(reader, first, rows * (reader + 1) / readers - first);
    } catch (...) {
      errors[reader] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(readers);
    for (int reader = 1; reader < readers; ++reader) {
      try {
        threads.emplace_back(read_run, reader);
      } catch (const std::system_error&) {
        read_run(reader);
      }
    }
    read_run(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

}  // namespace llmservice::gpu
