#include "model/arrivals.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "ops/error.h"

namespace llmservice {
namespace {

// A piece takes 16 ms at 1 GB/s, so that looking more often gains nothing.
constexpr std::chrono::milliseconds kBetweenLooks{5};

[[noreturn]] void cannot(const std::string& what) {
  throw EngineError(FailureReason::kEngineFault,
                    "What has arrived of the weights cannot be read: " + what + ".");
}

uint64_t length_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) cannot(std::strerror(errno));
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace

Arrivals::Arrivals(ArrivalMap map, std::function<void()> on_wait)
    : map_(std::move(map)),
      on_wait_(std::move(on_wait)),
      pieces_(length_of(map_.descriptor)),
      seen_(std::make_unique<std::atomic<bool>[]>(pieces_)) {
  if (map_.piece_bytes == 0) cannot("its pieces have no bytes");
}

void Arrivals::wait_for(const std::string& file, uint64_t offset, uint64_t count) const {
  const auto first = map_.first_pieces.find(file);
  if (first == map_.first_pieces.end() || count == 0) return;
  const uint64_t last = first->second + (offset + count - 1) / map_.piece_bytes;
  if (last >= pieces_) cannot("it does not cover byte " + std::to_string(offset + count - 1) + " of " + file);
  for (uint64_t piece = first->second + offset / map_.piece_bytes; piece <= last; ++piece) {
    while (!is_there(piece)) {
      on_wait_();
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
}

bool Arrivals::is_there(uint64_t piece) const {
  if (seen_[piece].load(std::memory_order_relaxed)) return true;
  uint8_t there = 0;
  ssize_t got = 0;
  do {
    got = ::pread(map_.descriptor, &there, 1, static_cast<off_t>(piece));
  } while (got < 0 && errno == EINTR);
  if (got != 1) cannot(got < 0 ? std::strerror(errno) : "it was cut short");
  if (there != 0) seen_[piece].store(true, std::memory_order_relaxed);
  return there != 0;
}

}  // namespace llmservice
