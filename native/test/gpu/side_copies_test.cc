// Copies of device memory on another thread than the one whose steps run there.
#include "backends/gpu/side_copies.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace llmservice::gpu {
namespace {

TEST(SideCopies, MovePiecesInTheirOrderAndNothingElse) {
  constexpr size_t kBytes = 1000;
  Device device(0);
  const DeviceMemory memory(device, kBytes);
  std::vector<std::byte> before(kBytes);
  for (size_t i = 0; i < kBytes; ++i) before[i] = static_cast<std::byte>(i * 7 >> 2);
  device.upload(before, memory.data());

  const std::vector<Region> pieces{{memory.data() + 500, 3}, {memory.data() + 7, 100}, {memory.data(), 1}};
  std::vector<std::byte> read(104);
  std::vector<std::byte> written(104, std::byte{0xee});
  std::thread([&] {
    DeviceCopies copies(0, 104);
    copies.read(pieces, read);
    copies.write(written, pieces);
  }).join();

  std::vector<std::byte> expected;
  std::vector<std::byte> after = before;
  for (const Region& piece : pieces) {
    const size_t first = piece.first - memory.data();
    for (size_t i = first; i < first + piece.bytes; ++i) {
      expected.push_back(before[i]);
      after[i] = std::byte{0xee};
    }
  }
  EXPECT_TRUE(read == expected);
  std::vector<std::byte> found(kBytes);
  device.download(memory.data(), found);
  EXPECT_TRUE(found == after);
}

}  // namespace
}  // namespace llmservice::gpu
