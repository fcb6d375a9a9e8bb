#include "model/state_rounds.h"

namespace llmservice {
namespace {

// `segment` without its first `count` rows.
Segment rest_of(Segment segment, int32_t count) {
  segment.first += count;
  segment.position += count;
  segment.count -= count;
  return segment;
}

StateRound& round_at(std::vector<StateRound>& rounds, size_t index) {
  if (rounds.size() <= index) rounds.resize(index + 1);
  return rounds[index];
}

}  // namespace

std::vector<StateRound> state_rounds(std::span<const Segment> segments, std::span<const StateMark> saves) {
  std::vector<StateRound> rounds;
  for (const Segment& segment : segments) {
    Segment left = segment;
    size_t round = 0;
    for (const auto& [slot, position, to] : saves) {
      if (slot != segment.slot) continue;
      StateRound& here = round_at(rounds, round++);
      here.segments.push_back(left);
      here.segments.back().count = position - left.position;
      here.segments.back().drafts = 0;
      here.copies.push_back({.from = slot, .to = to});
      left = rest_of(left, position - left.position);
    }
    if (left.count > 0) round_at(rounds, round).segments.push_back(left);
  }
  return rounds;
}

}  // namespace llmservice
