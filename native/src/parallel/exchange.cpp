// What ranks exchange in their turns: sums, logits and messages, in pieces that fit an area.
#include <algorithm>
#include <cstring>

#include "model/shard.h"
#include "parallel/rank_group.h"

namespace llmservice {
namespace {

constexpr auto kAreaFloats = static_cast<int64_t>(kAreaBytes / sizeof(float));
// Summed at once: stays in the first-level cache while the ranks' shares are added to it.
constexpr int64_t kSumFloats = 2048;
// A message's piece begins with the length of what is still to come, this piece included.
constexpr size_t kPieceBytes = kAreaBytes - sizeof(uint64_t);

// From here on each of several ranks adds up one part for all: below, meeting twice costs more than adding.
constexpr int64_t kSplitFloats = 16384;

// out = the sum of values [begin, begin + count) of all shares, in order; out may lie in one of them.
void add_up(std::span<const float* const> shares, int64_t begin, int64_t count, float* out) {
  float sum[kSumFloats];
  for (int64_t first = 0; first < count; first += kSumFloats) {
    const int64_t width = std::min(kSumFloats, count - first);
    std::copy_n(shares[0] + begin + first, width, sum);
    for (const float* share : shares.subspan(1)) {
      for (int64_t i = 0; i < width; ++i) sum[i] += share[begin + first + i];
    }
    std::copy_n(sum, width, out + first);
  }
}

}  // namespace

void RankGroup::all_reduce(float* x, int64_t count) {
  Turns& turns = of_sums();
  const int32_t size = turns.size();
  for (int64_t first = 0; first < count; first += kAreaFloats) {
    const int64_t piece = std::min(kAreaFloats, count - first);
    const float* shares[kMaxRanks];
    for (int32_t i = 0; i < size; ++i) shares[i] = area<float>(turns, turns.first + i);
    const std::span<const float* const> all(shares, size);
    float* const own = area<float>(turns, rank_);
    std::copy_n(x + first, piece, own);
    const auto whole = [&](int32_t) { return Piece{.bytes = static_cast<size_t>(piece) * sizeof(float)}; };
    meet_for_sums(whole);
    // Parts that are summed on one node would have a second way to the others.
    const bool several_nodes = !turns.of_stage && here_.end - here_.first < size_;
    if (size == 2 || piece < kSplitFloats || several_nodes) {
      add_up(all, 0, piece, x + first);
    } else {
      const auto part_begin = [&](int32_t i) { return piece * i / size; };
      const int64_t begin = part_begin(rank_ - turns.first);
      add_up(all, begin, part_begin(rank_ - turns.first + 1) - begin, own + begin);
      meet_for_sums([](int32_t) { return Piece{}; });
      for (int32_t i = 0; i < size; ++i) {
        std::copy(shares[i] + part_begin(i), shares[i] + part_begin(i + 1), x + first + part_begin(i));
      }
    }
    turns.turn_over();
  }
}

void RankGroup::gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) {
  Turns& turns = of_sums();
  const int32_t size = turns.size();
  const auto range_of = [&](int32_t rank) { return shard_vocab(vocab, {rank - turns.first, size}); };
  const int64_t own = range_of(rank_).count;
  // Ranges differ by one at most: as many columns per turn as the widest has room for.
  const int64_t widest = (vocab + size - 1) / size;
  const int64_t columns = std::min(widest, kAreaFloats);
  const int64_t lines = kAreaFloats / columns;
  for (int64_t row = 0; row < rows; row += lines) {
    const int64_t height = std::min(lines, rows - row);
    for (int64_t begin = 0; begin < widest; begin += columns) {
      const auto width_of = [&](int64_t count) { return std::clamp<int64_t>(count - begin, 0, columns); };
      for (int64_t r = 0; r < height; ++r) {
        std::copy_n(mine + (row + r) * own + begin, width_of(own), area<float>(turns, rank_) + r * columns);
      }
      meet_for_sums(
          [&](int32_t) { return Piece{.bytes = static_cast<size_t>(height * columns) * sizeof(float)}; },
          Audience::kNodeOfRank0);
      for (int32_t rank = turns.first; rank < turns.end && rank_ == turns.first; ++rank) {
        const float* from = area<float>(turns, rank);
        const Range range = range_of(rank);
        for (int64_t r = 0; r < height; ++r) {
          std::copy_n(from + r * columns, width_of(range.count),
                      out + (row + r) * vocab + range.begin + begin);
        }
      }
      turns.turn_over();
    }
  }
}

void RankGroup::pass(std::span<const float> mine, std::span<const int64_t> floats, int32_t from,
                     float* theirs) {
  const int32_t ranks = size_ / static_cast<int32_t>(floats.size());
  const int64_t most = std::ranges::max(floats);
  for (int64_t first = 0; first < most; first += kAreaFloats) {
    const auto piece_of = [&](int64_t stage) {
      return std::clamp<int64_t>(floats[stage] - first, 0, kAreaFloats);
    };
    if (rank_ % ranks == 0) std::copy_n(mine.data() + first, piece_of(rank_ / ranks), area<float>(rank_));
    meet_with([&](int32_t rank) {
      const int64_t piece = rank % ranks == 0 ? piece_of(rank / ranks) : 0;
      return Piece{.bytes = static_cast<size_t>(piece) * sizeof(float)};
    });
    if (theirs != nullptr) std::copy_n(area<float>(from * ranks), piece_of(from), theirs + first);
    all_.turn_over();
  }
}

void RankGroup::send(std::span<const std::byte> message) {
  do {
    const uint64_t left = message.size();
    const size_t piece = std::min(message.size(), kPieceBytes);
    auto* to = area<std::byte>(rank_);
    std::memcpy(to, &left, sizeof(left));
    if (piece > 0) std::memcpy(to + sizeof(left), message.data(), piece);
    meet_with([&](int32_t rank) { return Piece{.bytes = rank == 0 ? sizeof(left) + piece : 0}; });
    all_.turn_over();
    message = message.subspan(piece);
  } while (!message.empty());
}

std::vector<std::byte> RankGroup::receive() {
  std::vector<std::byte> message;
  for (;;) {
    const auto* from = area<const std::byte>(0);
    meet_with([](int32_t rank) { return Piece{.bytes = rank == 0 ? kAreaBytes : 0}; });
    uint64_t left = 0;
    std::memcpy(&left, from, sizeof(left));
    const size_t piece = std::min<uint64_t>(left, kPieceBytes);
    message.insert(message.end(), from + sizeof(left), from + sizeof(left) + piece);
    all_.turn_over();
    if (piece == left) return message;
  }
}

std::vector<std::byte> RankGroup::exchange(std::span<const std::byte> mine) {
  if (mine.size() > kAreaBytes)
    throw EngineError(FailureReason::kEngineFault, "Ranks exchange more than fits an area.");
  std::ranges::copy(mine, area<std::byte>(rank_));
  meet_with([&](int32_t) { return Piece{.bytes = mine.size()}; }, Audience::kAll,
            Clock::now() + limits_.join);
  std::vector<std::byte> all;
  for (int32_t rank = 0; rank < size_; ++rank) {
    const auto* from = area<const std::byte>(rank);
    all.insert(all.end(), from, from + mine.size());
  }
  all_.turn_over();
  return all;
}

}  // namespace llmservice
