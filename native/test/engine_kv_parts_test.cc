// What is sent of a block or a snapshot, in parts.
#include <gtest/gtest.h>

#include "transfer/kv_parts.h"

namespace llmservice {
namespace {

TEST(KvParts, CutWhatIsLongAndLeaveNothingOut) {
  constexpr int32_t kUnits = 3;
  const size_t sizes[]{3, (size_t{5} << 19) + 1, 10};
  std::vector<std::vector<std::byte>> from;
  std::vector<std::vector<std::byte>> to;
  std::vector<CacheLine> from_lines;
  std::vector<CacheLine> to_lines;
  for (const size_t size : sizes) {
    from.emplace_back(size * kUnits);
    to.emplace_back(size * kUnits);
    for (size_t i = 0; i < from.back().size(); ++i) from.back()[i] = static_cast<std::byte>(i * 31 >> 3);
    from_lines.push_back({from.back().data(), size});
    to_lines.push_back({to.back().data(), size});
  }
  const KvParts source(from_lines, {from_lines[0]});
  const KvParts target(to_lines, {to_lines[0]});
  const KvSet all{.blocks = {0, 1, 2}, .state = 2};
  ASSERT_EQ(source.count(all), 3 * 3 + 1);
  HostCopies copies;
  for (int64_t part = 0; part < source.count(all); ++part) {
    std::vector<std::byte> bytes(kPartBytes);
    size_t size = 0;
    for (const Region& region : source.regions(all, part)) size += region.bytes;
    ASSERT_LE(size, kPartBytes);
    bytes.resize(size);
    copies.read(source.regions(all, part), bytes);
    copies.write(bytes, target.regions(all, part));
  }
  EXPECT_TRUE(from == to);
}

}  // namespace
}  // namespace llmservice
