#include "backends/gpu/shared_memory.h"

#include <atomic>

#include "ops/error.h"

namespace llmservice::gpu {

SharedMemory::SharedMemory(Device& device, size_t bytes)
    : device_(device), data_(static_cast<std::byte*>(device.allocate_for_ranks(bytes))) {
  device_.zero(data_, bytes);
  device_.finish();
}

PeerMemory::~PeerMemory() {
  if (data_ != nullptr) static_cast<void>(gpuIpcCloseMemHandle(data_));
}

LossWord::LossWord(RankChannel& channel) : channel_(channel) {
  void* memory = nullptr;
  const gpuError_t error = gpuMallocHostForDevice(&memory, sizeof(uint32_t));
  if (error != gpuSuccess) {
    throw EngineError(FailureReason::kDeviceFault,
                      "The device failed to pin a word of the host's memory: " + error_text(error));
  }
  word_ = static_cast<uint32_t*>(memory);
  *word_ = 0;
  channel_.mark_loss(word_);
}

LossWord::~LossWord() {
  channel_.mark_loss(nullptr);
  static_cast<void>(gpuFreeHost(word_));
}

bool LossWord::is_set() const { return std::atomic_ref(*word_).load() != 0; }

void LossWord::set() { std::atomic_ref(*word_).store(1); }

}  // namespace llmservice::gpu
