// What ranks exchange in their turns: sums, logits and messages, in pieces that fit an area.
#include <algorithm>
#include <cstring>

#include "parallel/rank_group.h"

namespace llmservice {
namespace {

constexpr auto kAreaFloats = static_cast<int64_t>(kAreaBytes / sizeof(float));
// Summed at once: stays in the first-level cache while the ranks' shares are added to it.
constexpr int64_t kSumFloats = 2048;
// A message's piece begins with the length of what is still to come, this piece included.
constexpr size_t kPieceBytes = kAreaBytes - sizeof(uint64_t);

}  // namespace

void RankGroup::all_reduce(float* x, int64_t count) {
  for (int64_t first = 0; first < count; first += kAreaFloats) {
    const int64_t piece = std::min(kAreaFloats, count - first);
    const float* shares[kMaxRanks];
    for (int32_t rank = 0; rank < size_; ++rank) shares[rank] = area<float>(rank);
    std::copy_n(x + first, piece, area<float>(rank_));
    meet();
    for (int64_t begin = 0; begin < piece; begin += kSumFloats) {
      const int64_t width = std::min(kSumFloats, piece - begin);
      float* sum = x + first + begin;
      std::copy_n(shares[0] + begin, width, sum);
      for (int32_t rank = 1; rank < size_; ++rank) {
        const float* share = shares[rank] + begin;
        for (int64_t i = 0; i < width; ++i) sum[i] += share[i];
      }
    }
  }
}

void RankGroup::gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) {
  const auto range_of = [&](int32_t rank) { return shard_vocab(vocab, {rank, size_}); };
  const int64_t own = range_of(rank_).count;
  // Ranges differ by one at most: as many columns per turn as the widest has room for.
  const int64_t widest = (vocab + size_ - 1) / size_;
  const int64_t columns = std::min(widest, kAreaFloats);
  const int64_t lines = kAreaFloats / columns;
  for (int64_t row = 0; row < rows; row += lines) {
    const int64_t height = std::min(lines, rows - row);
    for (int64_t begin = 0; begin < widest; begin += columns) {
      const auto width_of = [&](int64_t count) { return std::clamp<int64_t>(count - begin, 0, columns); };
      for (int64_t r = 0; r < height; ++r) {
        std::copy_n(mine + (row + r) * own + begin, width_of(own), area<float>(rank_) + r * columns);
      }
      const uint32_t bank = turn_ % 2;
      meet();
      if (rank_ != 0) continue;
      for (int32_t rank = 0; rank < size_; ++rank) {
        const auto* from = reinterpret_cast<const float*>(segment_.area(rank, bank));
        const Range range = range_of(rank);
        for (int64_t r = 0; r < height; ++r) {
          std::copy_n(from + r * columns, width_of(range.count),
                      out + (row + r) * vocab + range.begin + begin);
        }
      }
    }
  }
}

void RankGroup::send(std::span<const std::byte> message) {
  do {
    const uint64_t left = message.size();
    const size_t piece = std::min(message.size(), kPieceBytes);
    auto* to = area<std::byte>(rank_);
    std::memcpy(to, &left, sizeof(left));
    if (piece > 0) std::memcpy(to + sizeof(left), message.data(), piece);
    meet();
    message = message.subspan(piece);
  } while (!message.empty());
}

std::vector<std::byte> RankGroup::receive() {
  std::vector<std::byte> message;
  for (;;) {
    const auto* from = area<const std::byte>(0);
    meet();
    uint64_t left = 0;
    std::memcpy(&left, from, sizeof(left));
    const size_t piece = std::min<uint64_t>(left, kPieceBytes);
    message.insert(message.end(), from + sizeof(left), from + sizeof(left) + piece);
    if (piece == left) return message;
  }
}

}  // namespace llmservice
