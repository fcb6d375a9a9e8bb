#include "transfer/kv_parts.h"

#include <algorithm>

namespace llmservice {

KvParts::KvParts(std::vector<CacheLine> block_lines, std::vector<CacheLine> state_lines)
    : block_(std::move(block_lines)), state_(std::move(state_lines)) {}

KvParts::Unit::Unit(std::vector<CacheLine> of) : lines(std::move(of)) {
  for (const CacheLine& line : lines) bytes += line.bytes;
}

std::vector<Region> KvParts::Unit::regions(int32_t index, int64_t part) const {
  const size_t first = part * kPartBytes;
  const size_t end = std::min(first + kPartBytes, bytes);
  std::vector<Region> found;
  size_t at = 0;
  for (const CacheLine& line : lines) {
    const size_t from = std::max(first, at);
    const size_t to = std::min(end, at + line.bytes);
    if (from < to) found.push_back({line.first + index * line.bytes + (from - at), to - from});
    at += line.bytes;
  }
  return found;
}

int64_t KvParts::count(const KvSet& set) const {
  return std::ssize(set.blocks) * block_.parts() + (set.state ? state_.parts() : 0);
}

int64_t KvParts::bytes(const KvSet& set) const {
  return static_cast<int64_t>(set.blocks.size() * block_.bytes + (set.state ? state_.bytes : 0));
}

std::vector<Region> KvParts::regions(const KvSet& set, int64_t part) const {
  const int64_t of_blocks = std::ssize(set.blocks) * block_.parts();
  if (part >= of_blocks) return state_.regions(*set.state, part - of_blocks);
  return block_.regions(set.blocks[part / block_.parts()], part % block_.parts());
}

}  // namespace llmservice
