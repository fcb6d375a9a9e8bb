// What a step brings from the host: lists and small arrays, written into pinned memory at the offset where
// they will lie in the device's, and sent in one copy. Offsets follow from the order and the sizes of what is
// put, so that launches which point there repeat from step to step. Block tables, whose sizes change all the
// time, lie behind everything else, and only segments point there.
#pragma once

#include <optional>
#include <vector>

#include "backends/gpu/device.h"
#include "ops/ops.h"

namespace llmservice::gpu {

class StepArena {
 public:
  StepArena(Device& device, size_t bytes);

  // Where the bytes will be on the device, on a border of 16; null when there is no more room. What was put
  // before and is equal is found again.
  const std::byte* put(std::span<const std::byte> bytes);
  // Segments with their block tables (`block_size` > 0), or without.
  const Segment* put(std::span<const Segment> segments, int32_t block_size);

  bool empty() const { return used_ == 0; }
  size_t capacity() const { return pinned_.bytes(); }
  // One copy, without waiting; the arena is empty afterwards. What is put next waits for that copy alone, not
  // for the launches behind it.
  void send();
  // All copies have been made.
  void arrived() { sending_ = false; }

 private:
  struct Item {
    size_t offset;
    size_t bytes;
    bool segments;
    int32_t block_size;
    size_t tables;  // where its segments' block tables begin in tables_
  };

  const std::byte* find(std::span<const std::byte> bytes, bool segments, int32_t block_size) const;
  const std::byte* place(std::span<const std::byte> bytes, const Item& item);
  void point_to_tables(const Item& item, const std::byte* tables);

  Device& device_;
  PinnedMemory pinned_;
  DeviceMemory memory_;
  size_t used_ = 0;
  std::vector<Item> items_;
  std::vector<int32_t> tables_;
  Milestone sent_;
  bool sending_ = false;
};

}  // namespace llmservice::gpu
