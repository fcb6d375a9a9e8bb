#include "backends/gpu/side_copies.h"

#include <cstring>

namespace llmservice::gpu {

void DeviceCopies::read(std::span<const Region> pieces, std::span<std::byte> host) {
  size_t at = 0;
  for (const Region& piece : pieces) {
    device_.fetch(piece.first, {pinned_.data() + at, piece.bytes});
    at += piece.bytes;
  }
  device_.finish();
  std::memcpy(host.data(), pinned_.data(), at);
}

void DeviceCopies::write(std::span<const std::byte> host, std::span<const Region> pieces) {
  std::memcpy(pinned_.data(), host.data(), host.size());
  size_t at = 0;
  for (const Region& piece : pieces) {
    device_.send({pinned_.data() + at, piece.bytes}, piece.first);
    at += piece.bytes;
  }
  device_.finish();
}

}  // namespace llmservice::gpu
