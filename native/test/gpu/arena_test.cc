// What a step brings: where it lies, what is put once, and that it arrives.
#include "backends/gpu/step_arena.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kBlockSize = 16;

template <class T>
std::vector<T> fetched(const T* place, size_t count) {
  std::vector<T> values(count);
  device().download(place, std::as_writable_bytes(std::span<T>(values)));
  return values;
}

std::span<const std::byte> bytes_of(const std::vector<int32_t>& values) {
  return std::as_bytes(std::span(values));
}

Segment segment(const std::vector<int32_t>& blocks, int32_t position, int32_t count, int32_t slot) {
  return {.first = 0,
          .count = count,
          .position = position,
          .slot = slot,
          .blocks = blocks.data(),
          .chunked_until = 0};
}

TEST(Arena, WhatIsPutArrivesAndEqualThingsLieOnce) {
  gpu::StepArena arena(device(), 4096);
  const std::vector<int32_t> ids = {5, 6, 7};
  const std::vector<int32_t> rows = {5, 6, 8};
  const auto* first = reinterpret_cast<const int32_t*>(arena.put(bytes_of(ids)));
  const auto* second = reinterpret_cast<const int32_t*>(arena.put(bytes_of(rows)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 16, 0u);
  EXPECT_NE(first, second);
  const std::vector<int32_t> again = ids;
  EXPECT_EQ(reinterpret_cast<const int32_t*>(arena.put(bytes_of(again))), first);
  arena.send();
  EXPECT_EQ(fetched(first, 3), ids);
  EXPECT_EQ(fetched(second, 3), rows);
}

TEST(Arena, SegmentsPointToTheirTablesOnTheDevice) {
  gpu::StepArena arena(device(), 4096);
  const std::vector<int32_t> long_table = {9, 4, 2, 1};
  const std::vector<int32_t> short_table = {3, 7};
  const std::vector<Segment> segments = {segment(long_table, 40, 5, 1), segment(short_table, 0, 17, 0)};
  const Segment* with = arena.put(segments, kBlockSize);
  const Segment* without = arena.put(segments, 0);
  EXPECT_NE(with, without);
  EXPECT_EQ(arena.put(segments, kBlockSize), with);
  arena.send();
  const std::vector<Segment> there = fetched(with, 2);
  EXPECT_EQ(there[1].count, 17);
  EXPECT_EQ(fetched(there[0].blocks, 3), (std::vector<int32_t>{9, 4, 2}));
  EXPECT_EQ(fetched(there[1].blocks, 2), short_table);
  EXPECT_EQ(fetched(without, 2)[0].blocks, nullptr);
}

// Launches point to what is put: places must not move with what it holds, nor with the lengths of tables.
TEST(Arena, PlacesFollowFromSizesAlone) {
  gpu::StepArena arena(device(), 4096);
  const std::vector<int32_t> table(20, 1);
  std::vector<const void*> places[2];
  for (int step = 0; step < 2; ++step) {
    const std::vector<int32_t> ids = {step, 1, 2};
    const std::vector<Segment> segments = {segment(table, step * 200, 1, step)};
    places[step].push_back(arena.put(segments, kBlockSize));
    places[step].push_back(arena.put(bytes_of(ids)));
    arena.send();
  }
  EXPECT_EQ(places[0], places[1]);
}

TEST(Arena, SaysWhenItIsFull) {
  gpu::StepArena arena(device(), 256);
  const std::vector<int32_t> half(30, 1);
  const std::vector<int32_t> rest(30, 2);
  const std::vector<int32_t> table(40, 3);
  EXPECT_NE(arena.put(bytes_of(half)), nullptr);
  const std::vector<Segment> segments = {segment(table, 600, 1, 0)};
  EXPECT_EQ(arena.put(segments, kBlockSize), nullptr);
  EXPECT_EQ(arena.put(bytes_of(rest)), nullptr);
  arena.send();
  EXPECT_NE(arena.put(segments, kBlockSize), nullptr);
}

}  // namespace
}  // namespace llmservice::testing
