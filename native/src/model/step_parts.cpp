#include "model/step_parts.h"

#include <algorithm>

namespace llmservice {
namespace {

constexpr int32_t kChunk = 64;

// Where the rows may be cut, at or before `row`.
int32_t cut_before(const ModelStep& step, int32_t row) {
  for (const Segment& segment : step.segments) {
    if (row >= segment.first + segment.count) continue;
    if (segment.drafts > 0) return segment.first;
    const int32_t position = segment.position + row - segment.first;
    return std::max(segment.first, segment.first + position / kChunk * kChunk - segment.position);
  }
  return row;
}

// Beginnings of the parts, and the end of the last.
std::vector<int32_t> part_borders(const ModelStep& step, int32_t most) {
  const auto rows = static_cast<int32_t>(step.ids.size());
  const int32_t count = std::clamp(rows / kLeastPartRows, 1, most);
  std::vector<int32_t> borders{0};
  for (int32_t part = 1; part < count; ++part) {
    const int32_t cut = cut_before(step, static_cast<int32_t>(int64_t{rows} * part / count));
    if (cut > borders.back()) borders.push_back(cut);
  }
  borders.push_back(rows);
  return borders;
}

StepPart part_of(const ModelStep& step, int32_t begin, int32_t end) {
  StepPart part{.first_row = begin,
                .rows = end - begin,
                .first_output = 0,
                .segments = {},
                .outputs = {},
                .saves = {},
                .replays = {}};
  for (const Segment& segment : step.segments) {
    const int32_t first = std::max(segment.first, begin);
    const int32_t last = std::min(segment.first + segment.count, end);
    if (first >= last) continue;
    Segment own = segment;
    own.first = first - begin;
    own.count = last - first;
    own.position = segment.position + first - segment.first;
    part.segments.push_back(own);
    const bool begins = first == segment.first;
    for (const StateMark& mark : step.saves) {
      const bool here = mark.position > own.position || (begins && mark.position == own.position);
      if (mark.slot == own.slot && here && mark.position <= own.position + own.count)
        part.saves.push_back(mark);
    }
    for (const StateReplay& replay : step.replays) {
      if (replay.slot == own.slot && begins) part.replays.push_back(replay);
    }
  }
  const auto first = std::ranges::lower_bound(step.outputs, begin);
  part.first_output = static_cast<int32_t>(first - step.outputs.begin());
  for (auto row = first; row != step.outputs.end() && *row < end; ++row) part.outputs.push_back(*row - begin);
  return part;
}

}  // namespace

std::vector<StepPart> step_parts(const ModelStep& step, int32_t most) {
  // Those that are pooled stand behind the others, whatever their rows.
  const bool in_order = std::ranges::is_sorted(step.outputs);
  const std::vector<int32_t> borders = part_borders(step, in_order ? most : 1);
  std::vector<StepPart> parts;
  for (size_t i = 0; i + 1 < borders.size(); ++i) parts.push_back(part_of(step, borders[i], borders[i + 1]));
  if (!in_order) parts.front().outputs.assign(step.outputs.begin(), step.outputs.end());
  return parts;
}

}  // namespace llmservice
