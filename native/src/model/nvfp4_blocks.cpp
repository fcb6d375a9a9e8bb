// A block is 64 columns: four scales in unsigned e4m3, then 8 bytes of codes for each of four groups of 16
// columns, whose first half lies in the low nibbles and whose second half in the high ones. Source: ggml's
// block_nvfp4.
#include "model/nvfp4_blocks.h"

#include <algorithm>
#include <cstring>

#include "model/derived_tensor.h"
#include "ops/error.h"

namespace llmservice {
namespace {

constexpr uint64_t kGroups = 4;
constexpr uint64_t kGroupCodes = 8;  // bytes
constexpr uint64_t kBlock = kGroups + kGroups * kGroupCodes;

// Of each block, `kept` bytes are made.
class BlockPartTensor : public DerivedTensor {
 public:
  BlockPartTensor(const TensorFile& from, uint64_t begin, const Arrivals* arrivals, uint64_t kept)
      : DerivedTensor(from, begin, arrivals), kept_(kept) {}

 private:
  // Of one block, to `kept` bytes.
  virtual void take(const uint8_t* block, uint8_t* to) const = 0;

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    if (out.empty()) return;
    const uint64_t first = offset / kept_;
    const uint64_t count = (offset + out.size() - 1) / kept_ + 1 - first;
    std::vector<std::byte> blocks(count * kBlock);
    read_stored(first * kBlock, blocks);
    std::vector<uint8_t> taken(count * kept_);
    const auto* stored = reinterpret_cast<const uint8_t*>(blocks.data());
    for (uint64_t i = 0; i < count; ++i) take(stored + i * kBlock, taken.data() + i * kept_);
    std::memcpy(out.data(), taken.data() + offset % kept_, out.size());
  }

  uint64_t kept_;
};

class BlockCodes final : public BlockPartTensor {
 public:
  BlockCodes(const TensorFile& from, uint64_t begin, const Arrivals* arrivals)
      : BlockPartTensor(from, begin, arrivals, kGroups * kGroupCodes) {}

 private:
  void take(const uint8_t* block, uint8_t* to) const override {
    for (uint64_t group = 0; group < kGroups; ++group, to += kGroupCodes) {
      const uint8_t* codes = block + kGroups + group * kGroupCodes;
      for (uint64_t i = 0; i < kGroupCodes / 2; ++i) {
        const uint8_t even = codes[2 * i];
        const uint8_t odd = codes[2 * i + 1];
        to[i] = static_cast<uint8_t>((even & 15) | (odd & 15) << 4);
        to[kGroupCodes / 2 + i] = static_cast<uint8_t>(even >> 4 | (odd & 0xf0));
      }
    }
  }
};

class BlockScaleBytes final : public BlockPartTensor {
 public:
  BlockScaleBytes(const TensorFile& from, uint64_t begin, const Arrivals* arrivals, std::string tensor)
      : BlockPartTensor(from, begin, arrivals, kGroups), tensor_(std::move(tensor)) {}

 private:
  void take(const uint8_t* block, uint8_t* to) const override {
    // llama.cpp takes what would be no number for zero.
    std::replace_copy(block, block + kGroups, to, uint8_t{0x7f}, uint8_t{0});
    if (std::none_of(to, to + kGroups, [](uint8_t scale) { return scale > 0x7f; })) return;
    throw EngineError(
        FailureReason::kCheckpointCorrupt,
        name() + ": tensor " + tensor_ + " has a block whose scale has a sign; those of NVFP4 are unsigned.");
  }

  std::string tensor_;
};

class Ones final : public DerivedTensor {
 public:
  using DerivedTensor::DerivedTensor;

 private:
  // Whole floats.
  void derive(uint64_t, std::span<std::byte> out) const override {
    constexpr float kOne = 1;
    for (size_t at = 0; at < out.size(); at += sizeof kOne) std::memcpy(out.data() + at, &kOne, sizeof kOne);
  }
};

}  // namespace

std::unique_ptr<TensorFile> nvfp4_part(const TensorFile& file, const TensorPlace& place,
                                       const Arrivals* arrivals) {
  switch (*place.block_part) {
    case BlockPart::kCodes:
      return std::make_unique<BlockCodes>(file, place.offset, arrivals);
    case BlockPart::kScales:
      return std::make_unique<BlockScaleBytes>(file, place.offset, arrivals, place.stored_name);
    case BlockPart::kOnes:
      return std::make_unique<Ones>(file, place.offset, arrivals);
  }
  return nullptr;
}

}  // namespace llmservice
