#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "model/gguf_config.h"
#include "model/gguf_tensors.h"
#include "ops/error.h"
#include "targets.h"

namespace llmservice {
namespace {

// The input as a file that only this process sees.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const uint8_t> content) : fd_(::memfd_create("gguf", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::write(fd_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { ::close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

void check_config(const std::string& path) {
  try {
    const ModelConfig config = read_gguf_config(path);
    const bool consistent = config.heads > 0 && config.kv_heads > 0 && config.heads % config.kv_heads == 0 &&
                            config.rope.rotary <= config.head_dim && !config.layers.empty();
    if (!consistent) std::abort();
  } catch (const EngineError&) {
    // Refused, which is an answer.
  }
}

void check_tensors(const std::string& path, size_t most_bytes) {
  try {
    for (const auto& [name, entry, file] : read_gguf_tensors(path).tensors) {
      if (entry.bytes > most_bytes) std::abort();
      std::vector<std::byte> data(entry.bytes);
      file->read(entry.offset, data);
    }
  } catch (const EngineError&) {
    // Refused, which is an answer.
  }
}

}  // namespace

void fuzz_gguf(std::span<const uint8_t> input) {
  const MemoryFile file(input);
  check_config(file.path());
  check_tensors(file.path(), input.size());
}

}  // namespace llmservice
