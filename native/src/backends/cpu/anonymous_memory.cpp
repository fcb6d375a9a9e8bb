// mmap and munmap behind AnonymousMemory.
#include "backends/cpu/anonymous_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace llmservice::cpu {
namespace {

// Below this, huge pages would round a small buffer up for no gain.
constexpr size_t kHugePageBytes = size_t{2} << 20;

}  // namespace

AnonymousMemory::AnonymousMemory(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) {
    const int code = errno;
    data_ = nullptr;
    throw EngineError(FailureReason::kOutOfMemory,
                      "The machine refused " + std::to_string(bytes >> 20) + " MiB of memory (" +
                          std::strerror(code) +
                          "): lower maxModelLen or maxNumSeqs, or give the pod more memory.");
  }
  if (bytes >= kHugePageBytes) madvise(data_, bytes, MADV_HUGEPAGE);  // a hint: refusal costs speed only
}

AnonymousMemory::~AnonymousMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

AnonymousMemory::AnonymousMemory(AnonymousMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

AnonymousMemory& AnonymousMemory::operator=(AnonymousMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace llmservice::cpu
