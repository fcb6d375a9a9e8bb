#include "backends/gpu/step_arena.h"

#include <cstring>

namespace llmservice::gpu {
namespace {

constexpr size_t kBorder = 16;

size_t aligned(size_t offset) { return (offset + kBorder - 1) / kBorder * kBorder; }

size_t blocks_of(const Segment& segment, int32_t block_size) {
  return (static_cast<size_t>(segment.position) + segment.count + block_size - 1) / block_size;
}

}  // namespace

StepArena::StepArena(Device& device, size_t bytes)
    : device_(device), pinned_(device, bytes), memory_(device, bytes), sent_(device) {}

const std::byte* StepArena::put(std::span<const std::byte> bytes) {
  if (const std::byte* const there = find(bytes, false, 0)) return there;
  return place(bytes,
               {.offset = used_, .bytes = bytes.size(), .segments = false, .block_size = 0, .tables = 0});
}

const Segment* StepArena::put(std::span<const Segment> segments, int32_t block_size) {
  const auto bytes = std::as_bytes(segments);
  const std::byte* place_there = find(bytes, true, block_size);
  if (place_there == nullptr) {
    size_t blocks = 0;
    for (const Segment& segment : segments) blocks += block_size > 0 ? blocks_of(segment, block_size) : 0;
    if (used_ + bytes.size() + (tables_.size() + blocks) * sizeof(int32_t) + kBorder > capacity()) {
      return nullptr;
    }
    place_there = place(bytes, {.offset = used_,
                                .bytes = bytes.size(),
                                .segments = true,
                                .block_size = block_size,
                                .tables = tables_.size()});
    for (const Segment& segment : segments) {
      const size_t count = block_size > 0 ? blocks_of(segment, block_size) : 0;
      tables_.insert(tables_.end(), segment.blocks, segment.blocks + count);
    }
  }
  return reinterpret_cast<const Segment*>(place_there);
}

// Segments keep the host's table pointers until they are sent: while a step is asked for, equal pointers are
// equal tables.
const std::byte* StepArena::find(std::span<const std::byte> bytes, bool segments, int32_t block_size) const {
  for (const Item& item : items_) {
    if (item.bytes != bytes.size() || item.segments != segments || item.block_size != block_size) continue;
    if (std::memcmp(pinned_.data() + item.offset, bytes.data(), bytes.size()) == 0) {
      return memory_.data() + item.offset;
    }
  }
  return nullptr;
}

const std::byte* StepArena::place(std::span<const std::byte> bytes, const Item& item) {
  if (item.offset + bytes.size() + tables_.size() * sizeof(int32_t) + kBorder > capacity()) return nullptr;
  if (sending_) sent_.wait();  // the copy still reads what would be written over
  sending_ = false;
  if (!bytes.empty()) std::memcpy(pinned_.data() + item.offset, bytes.data(), bytes.size());
  items_.push_back(item);
  used_ = aligned(item.offset + bytes.size());
  return memory_.data() + item.offset;
}

void StepArena::point_to_tables(const Item& item, const std::byte* tables) {
  const auto* table = reinterpret_cast<const int32_t*>(tables) + item.tables;
  auto* const segments = reinterpret_cast<Segment*>(pinned_.data() + item.offset);
  for (size_t i = 0; i < item.bytes / sizeof(Segment); ++i) {
    segments[i].blocks = item.block_size > 0 ? table : nullptr;
    table += item.block_size > 0 ? blocks_of(segments[i], item.block_size) : 0;
  }
}

void StepArena::send() {
  if (empty()) return;
  for (const Item& item : items_) {
    if (item.segments) point_to_tables(item, memory_.data() + used_);
  }
  const size_t table_bytes = tables_.size() * sizeof(int32_t);
  if (table_bytes > 0) std::memcpy(pinned_.data() + used_, tables_.data(), table_bytes);
  device_.send({pinned_.data(), used_ + table_bytes}, memory_.data());
  sent_.set();
  sending_ = true;
  used_ = 0;
  items_.clear();
  tables_.clear();
}

}  // namespace llmservice::gpu
