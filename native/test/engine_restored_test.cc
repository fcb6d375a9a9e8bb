// Tensors as GGUF files have them: rows of llama's queries and keys, the decay, frequencies and block scales.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "failures.h"
#include "model/checkpoint.h"
#include "model/rope.h"
#include "ops/block_types.h"
#include "ops/dtype.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {
namespace {

StoredTensor counted(std::vector<int64_t> shape, float first = 0, float step = 1) {
  int64_t count = 1;
  for (const int64_t side : shape) count *= side;
  std::string bytes(count * sizeof(float), '\0');
  for (int64_t i = 0; i < count; ++i) {
    const float value = first + step * static_cast<float>(i);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return {"F32", std::move(shape), std::move(bytes)};
}

// One tensor `x`, of heads of four rows.
class Restored : public ::testing::Test {
 protected:
  Tensor open(const StoredTensor& tensor, Restoration restoration) {
    ModelConfig config = tiny_llama_config();
    config.head_dim = 4;
    write_checkpoint(dir_, config, {{"x", tensor}});
    source_ = *dir_.checkpoint();
    source_.tensors[0].restoration = restoration;
    checkpoint_.emplace(source_);
    return checkpoint_->tensor("x");
  }
  static std::vector<float> floats(const Tensor& tensor, uint64_t first, size_t count) {
    std::vector<float> values(count);
    tensor.read(first * sizeof(float), std::as_writable_bytes(std::span(values)));
    return values;
  }

  TempDir dir_;
  CheckpointSource source_;
  std::optional<Checkpoint> checkpoint_;
};

TEST_F(Restored, RowsThatRotateTogetherComeInHalves) {
  const Tensor q = open(counted({8, 8}), Restoration::kHalvedRows);
  const std::vector<float> all = floats(q, 0, 64);
  // Of each head of four: the even rows, then the odd ones.
  const int rows[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (int row = 0; row < 8; ++row) {
    for (int col = 0; col < 8; ++col) EXPECT_EQ(all[row * 8 + col], static_cast<float>(rows[row] * 8 + col));
  }
  // A read may begin and end within rows.
  EXPECT_EQ(floats(q, 7, 6), (std::vector<float>{7, 16, 17, 18, 19, 20}));
  EXPECT_EQ(failure_of([&] { open(counted({6, 8}), Restoration::kHalvedRows); }), "CheckpointCorrupt");
}

TEST_F(Restored, TheDecayIsItsLogarithm) {
  const Tensor a = open(counted({4}, -1, -1), Restoration::kLogOfDecay);
  const std::vector<float> logs = floats(a, 0, 4);
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(logs[i], std::log(static_cast<float>(i + 1)));
  const Tensor positive = open(counted({4}), Restoration::kLogOfDecay);
  EXPECT_EQ(failure_of([&] { floats(positive, 0, 4); }), "CheckpointCorrupt");
  std::mt19937 random(1);
  EXPECT_EQ(failure_of([&] { open(bf16_tensor({4}, -2, 1, random), Restoration::kLogOfDecay); }),
            "UnsupportedQuantization");
}

TEST_F(Restored, ScalesComeFromTheirExponents) {
  const auto opened = [&](std::string exponents) {
    std::vector<int64_t> shape{static_cast<int64_t>(exponents.size())};
    return open({"F32", shape, std::move(exponents)}, Restoration::kPowersOfTwo);
  };
  const Tensor scales = opened(std::string("\x7f\x80\x00\x01\xfe", 5));
  EXPECT_EQ(floats(scales, 0, 5), (std::vector<float>{1, 2, 0x1p-127f, 0x1p-126f, 0x1p127f}));
  EXPECT_EQ(floats(scales, 3, 2), (std::vector<float>{0x1p-126f, 0x1p127f}));
  const Tensor broken = opened("\x7f\xff");
  std::string message;
  EXPECT_EQ(failure_of([&] { floats(broken, 0, 2); }, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "tensor x holds scales that are not numbers"));
}

// Every code of e4m3fnuz: bias 8, so that a byte is half of what e4m3fn makes of it, but for 0x7f and 0xff.
TEST_F(Restored, CodesOfAmdComeAsThoseOfEveryone) {
  std::string bytes;
  for (int code = 0; code < 256; ++code) bytes += static_cast<char>(code == 0x80 ? 0 : code);
  const Tensor x = open({"F8_E4M3", {16, 16}, bytes}, Restoration::kFnuz);
  std::vector<std::byte> codes(256);
  x.read(0, codes);
  for (int code = 0; code < 256; ++code) {
    if (code == 0x80) continue;
    const bool largest = (code & 0x7f) == 0x7f;
    const float half =
        largest ? 240.0f * (code == 0x7f ? 1 : -1) : e4m3_to_float(static_cast<uint8_t>(code)) / 2;
    const float read = e4m3_to_float(static_cast<uint8_t>(codes[code]));
    const bool between = std::fabs(half) < 0x1p-6f && std::fmod(half, 0x1p-9f) != 0;
    EXPECT_EQ(std::fabs(read - half), between ? 0x1p-10f : 0.0f) << code;
  }
  std::vector<std::byte> some(3);
  x.read(0x7e, some);
  EXPECT_TRUE(std::equal(some.begin(), some.begin() + 2, codes.begin() + 0x7e));
  const Tensor broken = open({"F8_E4M3", {1, 2}, std::string("\x01\x80", 2)}, Restoration::kFnuz);
  std::vector<std::byte> two(2);
  EXPECT_EQ(failure_of([&] { broken.read(0, two); }), "CheckpointCorrupt");
}

TEST_F(Restored, ExpertsThatLieByColumnsComeByRows) {
  StoredTensor stored = counted({2, 3, 4});  // two experts of three columns and four rows
  stored.shape = {2, 4, 3};
  const Tensor down = open(stored, Restoration::kExperts);
  EXPECT_EQ(floats(down, 0, 12), (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(floats(down, 11, 4), (std::vector<float>{11, 12, 16, 20}));
  // Rows of gate and up in turn: both gates, then both of up.
  const Tensor gate_up = open(stored, Restoration::kPairedExperts);
  EXPECT_EQ(floats(gate_up, 12, 12), (std::vector<float>{12, 16, 20, 14, 18, 22, 13, 17, 21, 15, 19, 23}));
  const Tensor bias = open(counted({2, 4}), Restoration::kPairedExperts);
  EXPECT_EQ(floats(bias, 0, 8), (std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7}));
}

// One expert of two rows, whose codes are 0 to 15 twice and then once backwards; scales lie behind them.
TEST_F(Restored, CodesOfMxfp4AndTheirScalesComeAsBlocks) {
  std::string bytes;
  for (int i = 0; i < 16; ++i) bytes += static_cast<char>((2 * i % 16) | (2 * i + 1) % 16 << 4);
  for (int i = 0; i < 16; ++i) bytes += static_cast<char>((31 - 2 * i) % 16 | (30 - 2 * i) % 16 << 4);
  bytes += {127, static_cast<char>(128)};
  ModelConfig config = tiny_llama_config();
  write_checkpoint(dir_, config, {{"x", {"MXFP4", {1, 2, 32}, bytes}}});
  source_ = *dir_.checkpoint();
  TensorPlace& place = source_.tensors[0];
  place.restoration = Restoration::kExperts;
  place.scales = ScalesPlace{place.file, place.offset + 32};
  const Tensor x = checkpoint_.emplace(source_).tensor("x");
  std::vector<std::byte> blocks(2 * 17);
  x.read(0, blocks);
  for (int64_t i = 0; i < 32; ++i) {
    EXPECT_EQ(block_value(DType::kMXFP4, blocks.data(), i), e2m1_to_float(static_cast<uint8_t>(i % 16)));
    const auto code = static_cast<uint8_t>((31 - i) % 16);
    EXPECT_EQ(block_value(DType::kMXFP4, blocks.data(), 32 + i), 2 * e2m1_to_float(code)) << i;
  }
  std::vector<std::byte> second(17);
  x.read(17, second);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), blocks.begin() + 17));
  // The same as one matrix.
  place.restoration = Restoration::kBlocks;
  place.shape = {2, 32};
  const Tensor alone = checkpoint_.emplace(source_).tensor("x");
  std::vector<std::byte> again(2 * 17);
  alone.read(0, again);
  EXPECT_EQ(again, blocks);
}

// Two rows of one block: of each group of 16 columns the codes 0 to 15, with scales of 1, 2, 4 and 8.
TEST_F(Restored, BlocksOfNvfp4ComeAsCodesAndScales) {
  std::string block = {0x38, 0x40, 0x48, 0x50};
  for (int i = 0; i < 32; ++i) block += static_cast<char>((i % 8) | (i % 8 + 8) << 4);
  const auto part = [&](BlockPart which, std::vector<int64_t> shape, Restoration restoration) {
    ModelConfig config = tiny_llama_config();
    config.head_dim = 2;
    write_checkpoint(dir_, config, {{"x", {"U8", {2, 36}, block + block}}});
    source_ = *dir_.checkpoint();
    TensorPlace& place = source_.tensors[0];
    place.block_part = which;
    place.restoration = restoration;
    place.bytes = 1;
    for (const int64_t side : shape) place.bytes *= side;
    place.shape = std::move(shape);
    return checkpoint_.emplace(source_).tensor("x");
  };
  const auto bytes = [](const Tensor& tensor, uint64_t at, size_t count) {
    std::vector<uint8_t> read(count);
    tensor.read(at, std::as_writable_bytes(std::span(read)));
    return read;
  };
  const std::vector<uint8_t> group = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
  const Tensor codes = part(BlockPart::kCodes, {2, 32}, Restoration::kNone);
  for (uint64_t at = 0; at < 64; at += 8) EXPECT_EQ(bytes(codes, at, 8), group) << at;
  EXPECT_EQ(bytes(codes, 30, 4), (std::vector<uint8_t>{0xdc, 0xfe, 0x10, 0x32}));
  const std::vector<uint8_t> scales = {0x38, 0x40, 0x48, 0x50, 0x38, 0x40, 0x48, 0x50};
  EXPECT_EQ(bytes(part(BlockPart::kScales, {2, 4}, Restoration::kNone), 0, 8), scales);
  // Rows of queries go back into their order too.
  block[0] = 0x30;
  const Tensor halved = part(BlockPart::kScales, {2, 4}, Restoration::kHalvedRows);
  EXPECT_EQ(bytes(halved, 3, 2), (std::vector<uint8_t>{0x50, 0x30}));
  EXPECT_EQ(floats(part(BlockPart::kOnes, {4}, Restoration::kNone), 0, 1), std::vector<float>{1});
  block[1] = 0x7f;
  EXPECT_EQ(bytes(part(BlockPart::kScales, {2, 4}, Restoration::kNone), 0, 2),
            (std::vector<uint8_t>{0x30, 0}));
  block[1] = static_cast<char>(0xc0);
  const Tensor negative = part(BlockPart::kScales, {2, 4}, Restoration::kNone);
  EXPECT_EQ(failure_of([&] { bytes(negative, 0, 4); }), "CheckpointCorrupt");
}

// Three rounds over four key heads, whose values have two features: of 24 columns a rank has six or twelve in
// a run.
TEST_F(Restored, ColumnsInRoundsComeRankAfterRank) {
  ModelConfig config = tiny_hybrid_config();
  config.gdn = {.k_heads = 4, .v_heads = 12, .k_dim = 4, .v_dim = 2, .conv_kernel = 4, .tiled = true};
  const std::string name = "model.layers.0.linear_attn.out_proj.weight";
  write_checkpoint(dir_, config, {{name, counted({2, 24})}});
  source_ = *dir_.checkpoint();
  const auto row = [&](int32_t ranks, uint64_t index) {
    return floats(checkpoint_.emplace(source_, nullptr, ranks).tensor(name), index * 24, 24);
  };
  EXPECT_EQ(row(2, 0), (std::vector<float>{0, 1, 2, 3, 8,  9,  10, 11, 16, 17, 18, 19,
                                           4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23}));
  EXPECT_EQ(row(4, 1), (std::vector<float>{24, 25, 32, 33, 40, 41, 26, 27, 34, 35, 42, 43,
                                           28, 29, 36, 37, 44, 45, 30, 31, 38, 39, 46, 47}));
  EXPECT_EQ(row(1, 0).at(4), 4);
  source_.quantization = LoadQuantization::kFp8;
  std::string message;
  EXPECT_EQ(failure_of([&] { row(2, 0); }, &message), "ParallelismInvalid");
  EXPECT_TRUE(contains(message, name + " lie in 3 rounds")) << message;
}

TEST_F(Restored, DividedFrequenciesAreReadFromTheirTensor) {
  ModelConfig config = tiny_llama_config();
  config.rope.rotary = 4;
  write_checkpoint(dir_, config, {{"rope_freqs.weight", counted({2}, 1, 7)}});
  const auto source = dir_.checkpoint();
  read_rope_divisors(Checkpoint(*source), config.rope);
  EXPECT_EQ(std::get<DivisorScaling>(config.rope.scaling).divisors, (std::vector<float>{1, 8}));
}

TEST_F(Restored, ScalesThatAreNoNumbersAreRefused) {
  const std::string infinite("\x00\x7c", 2);
  // Where each block has its last number that scales it.
  const std::tuple<DType, size_t, std::string> scales[] = {
      {DType::kQ8_0, 0, infinite},   {DType::kQ4_1, 2, infinite},   {DType::kQ5_0, 0, infinite},
      {DType::kQ5_1, 2, infinite},   {DType::kQ2_K, 82, infinite},  {DType::kQ3_K, 108, infinite},
      {DType::kQ5_K, 2, infinite},   {DType::kQ6_K, 208, infinite}, {DType::kIQ4_NL, 0, infinite},
      {DType::kIQ4_XS, 0, infinite}, {DType::kMXFP4, 0, "\xff"}};
  for (const auto& [type, at, scale] : scales) {
    const BlockLayout layout = block_layout(type);
    StoredTensor blocks{name_of(type), {1, 2 * layout.columns}, std::string(2 * layout.bytes, '\1')};
    const auto read = [&] {
      const Tensor tensor = open(blocks, Restoration::kNone);
      std::vector<std::byte> data(tensor.bytes);
      tensor.read(0, data);
    };
    EXPECT_NO_THROW(read()) << name_of(type);
    blocks.bytes.replace(layout.bytes + at, scale.size(), scale);
    EXPECT_EQ(failure_of(read), "CheckpointCorrupt") << name_of(type);
  }
}

}  // namespace
}  // namespace llmservice::testing
