// What adapters add to products beside the scalar reference, at ranks and widths below, at and across a
// block's reach; and that the rows and adapters around a row change no bit of it.
#include "backends/gpu/backend.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

struct Case {
  int64_t rank;
  int64_t cols;
  int64_t rows;  // outputs of the first part of the matrix
};

constexpr int64_t kTokens = 29;
constexpr int64_t kFirst = 3;
constexpr int64_t kOthers = 18;  // outputs of the second part
constexpr int64_t kPlace = 1;

class LowRankTest : public ::testing::TestWithParam<Case> {
 protected:
  const auto& shape() const { return GetParam(); }
  const int64_t cols = GetParam().cols;
  const int64_t stride = kFirst + GetParam().rows + kOthers + 5;
  const std::vector<float> x = random_floats(kTokens * cols, 1);
  const std::vector<float> before = random_floats(kTokens * stride, 2);
  gpu::GpuBackend backend{{.graphs = 0, .on_list = [this](gpu::Device&, const gpu::LaunchList& list) {
                             launches += list.launches().size();
                           }}};
  size_t launches = 0;
  std::vector<std::vector<uint16_t>> values;
  std::vector<std::unique_ptr<Buffer>> memory;
  LowRankTable on_host[2] = {LowRankTable(kPlace + 1), LowRankTable(kPlace + 1)};
  LowRankTable on_device[2] = {LowRankTable(kPlace + 1), LowRankTable(kPlace + 1)};

  // The first adapter has pairs of both parts, the second one of the second part, of another rank.
  void SetUp() override {
    backend.reserve({.rows = kTokens,
                     .sequences = kTokens,
                     .longest = 64,
                     .block_size = 16,
                     .result = kTokens * stride,
                     .max_adapter_rank = static_cast<int32_t>(shape().rank)});
    const int64_t second = kFirst + shape().rows;
    add_pair(0, 0,
             {.rank = shape().rank, .cols = cols, .rows = shape().rows, .first = kFirst, .scale = 0.5f});
    add_pair(0, 1, {.rank = shape().rank, .cols = cols, .rows = kOthers, .first = second, .scale = 1.5f});
    const int64_t other = shape().rank / 2 + 1;
    add_pair(1, 0, {.rank = other, .cols = cols, .rows = kOthers, .first = second, .scale = 2});
    for (LowRankTable& table : on_device) backend.index_pairs(table);
  }

  void add_pair(int adapter, int at, LowRank pair) {
    const auto seed = static_cast<uint32_t>(10 * adapter + at + 3);
    const std::vector<float> a = random_floats(pair.rank * cols, seed, 0.3f);
    const std::vector<float> b = random_floats(pair.rows * pair.rank, seed + 50, 0.3f);
    std::vector<uint16_t>& held_a = values.emplace_back(pair.a_values());
    for (int64_t i = 0; i < pair.rank * cols; ++i)
      held_a[pair.a_at(i / cols, i % cols)] = float_to_bf16(a[i]);
    std::vector<uint16_t>& held_b = values.emplace_back(pair.b_values());
    for (int64_t i = 0; i < pair.rows * pair.rank; ++i)
      held_b[pair.b_at(i / pair.rank, i % pair.rank)] = float_to_bf16(b[i]);
    put(on_host[adapter], at, pair, [](const auto& held) { return std::as_bytes(std::span(held)).data(); });
    put(on_device[adapter], at, pair, [&](const auto& held) {
      const auto bytes = std::as_bytes(std::span(held));
      memory.push_back(backend.allocate(bytes.size()));
      backend.upload_now(bytes, memory.back()->data());
      return static_cast<const std::byte*>(memory.back()->data());
    });
  }
  template <class PlaceOf>
  void put(LowRankTable& table, int at, LowRank pair, const PlaceOf& place_of) {
    pair.a = place_of(values[values.size() - 2]);
    pair.b = place_of(values.back());
    table.all_at(kPlace)[at] = pair;
  }

  std::vector<float> added(const std::vector<LowRankRows>& entries, std::span<const float> in,
                           std::span<const float> out) {
    const auto device_in = backend.allocate(in.size_bytes());
    const auto device_out = backend.allocate(out.size_bytes());
    backend.upload_now(std::as_bytes(in), device_in->data());
    backend.upload_now(std::as_bytes(out), device_out->data());
    auto* const result = static_cast<float*>(device_out->data());
    backend.add_low_rank(entries, kPlace, static_cast<const float*>(device_in->data()), cols, result, stride);
    const std::span<float> there = backend.to_host(result, static_cast<int64_t>(out.size()));
    return {there.begin(), there.end()};
  }
  std::vector<LowRankRows> rows_of(const LowRankTable* tables) const {
    return {{&tables[0], 1, 17}, {&tables[1], 19, 3}, {&tables[0], 25, 1}};
  }
};

TEST_P(LowRankTest, IsCloseToTheReference) {
  std::vector<float> expected = before;
  ReferenceBackend().add_low_rank(rows_of(on_host), kPlace, x.data(), cols, expected.data(), stride);
  const std::vector<float> out = added(rows_of(on_device), x, before);
  expect_close(out, expected, 2e-5f, "out");
  const auto row = [&](const std::vector<float>& all, int64_t t) {
    return std::span(all).subspan(t * stride, stride);
  };
  for (const int64_t t : {0, 18, 22, 24, 26}) expect_same_bits(row(out, t), row(before, t), "not adapted");
  EXPECT_NE(row(out, 25)[kFirst], row(before, 25)[kFirst]);
}

TEST_P(LowRankTest, ARowIsTheSameAlone) {
  const std::vector<float> out = added(rows_of(on_device), x, before);
  for (const auto& [adapter, first, count] : rows_of(on_device)) {
    for (int64_t t = first; t < first + count; ++t) {
      const std::vector<float> alone = added({{adapter, 0, 1}}, std::span(x).subspan(t * cols, cols),
                                             std::span(before).subspan(t * stride, stride));
      expect_same_bits(alone, std::span(out).subspan(t * stride, stride), "row " + std::to_string(t));
    }
  }
}

TEST_P(LowRankTest, LaunchesNothingWhereNoAdapterHasAPair) {
  const size_t count = launches;
  backend.add_low_rank(rows_of(on_device), 0, nullptr, cols, nullptr, stride);
  backend.submit();
  EXPECT_EQ(launches, count);
  added(rows_of(on_device), x, before);
  EXPECT_EQ(launches, count + 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LowRankTest,
                         ::testing::Values(Case{1, 7, 5}, Case{16, 96, 160}, Case{20, 1100, 1100},
                                           Case{64, 2600, 48}, Case{160, 50, 17}, Case{256, 530, 1030}));

}  // namespace
}  // namespace llmservice::testing
