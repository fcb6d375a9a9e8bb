#include "model/stored_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ops/error.h"

namespace llmservice {

StoredFile::StoredFile(const std::filesystem::path& path)
    : name_(path.filename().string()), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    const int code = errno;
    if (fd_ >= 0) ::close(fd_);
    throw EngineError(FailureReason::kCheckpointIncomplete,
                      path.string() + " cannot be opened: " + std::strerror(code) + ".");
  }
  bytes_ = static_cast<uint64_t>(status.st_size);
}

StoredFile::~StoredFile() { ::close(fd_); }

void StoredFile::read(uint64_t offset, std::span<std::byte> out) const {
  const auto corrupt = [&](const std::string& what) {
    throw EngineError(FailureReason::kCheckpointCorrupt, name_ + ": " + what);
  };
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      corrupt("reading at byte " + std::to_string(offset) + " failed: " + std::strerror(errno) + ".");
    if (got == 0) corrupt("the file ended early, at byte " + std::to_string(offset) + ".");
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

void StoredFile::announce(uint64_t offset, uint64_t bytes) const {
  static_cast<void>(
      ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED));
}

}  // namespace llmservice
