#include <cstring>

#include "ops/side_copies.h"

namespace llmservice {

void HostCopies::read(std::span<const Region> pieces, std::span<std::byte> host) {
  for (const Region& piece : pieces) {
    std::memcpy(host.data(), piece.first, piece.bytes);
    host = host.subspan(piece.bytes);
  }
}

void HostCopies::write(std::span<const std::byte> host, std::span<const Region> pieces) {
  for (const Region& piece : pieces) {
    std::memcpy(piece.first, host.data(), piece.bytes);
    host = host.subspan(piece.bytes);
  }
}

}  // namespace llmservice
