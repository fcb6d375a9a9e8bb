// Mixture of experts: routing as the scalar reference chooses, expert sums close to it, and a row's bits the
// same whatever the other rows, the room for pairs, the threads and, among those that round alike, the
// family.
#include <numeric>

#include "matmul_support.h"

namespace llmservice::testing {
namespace {

struct Choice {
  std::vector<int32_t> ids;
  std::vector<float> weights;
  Routing routing() { return {ids.data(), weights.data()}; }
};

Choice route(Backend& backend, const RoutingShape& shape, const std::vector<float>& logits) {
  const auto rows = static_cast<int64_t>(logits.size()) / shape.experts;
  Choice choice{std::vector<int32_t>(rows * shape.top_k, -1), std::vector<float>(rows * shape.top_k, NAN)};
  backend.route(shape, logits.data(), rows, choice.routing());
  return choice;
}

class RoutingTest : public ::testing::TestWithParam<RoutingShape> {};

TEST_P(RoutingTest, ChoosesAndWeighsAsTheReference) {
  const RoutingShape shape = GetParam();
  const std::vector<float> logits = random_floats(37 * shape.experts, 3, 6.0f);
  ReferenceBackend reference;
  const Choice expected = route(reference, shape, logits);
  const Choice whole = route(*make_cpu_backend({.threads = 1}), shape, logits);
  EXPECT_EQ(whole.ids, expected.ids);
  expect_close(whole.weights, expected.weights, 1e-6f, "weights");
  for (const auto& backend : all_backends()) {
    const Choice choice = route(*backend, shape, logits);
    EXPECT_EQ(choice.ids, whole.ids) << label(*backend);
    expect_same_bits(choice.weights, whole.weights, label(*backend));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RoutingTest,
                         ::testing::Values(RoutingShape{8, 3, true}, RoutingShape{8, 3, false},
                                           RoutingShape{128, 8, true}, RoutingShape{513, 10, false},
                                           RoutingShape{4, 4, true}, RoutingShape{1, 1, true}),
                         [](const auto& info) {
                           return std::to_string(info.param.top_k) + "_of_" +
                                  std::to_string(info.param.experts) +
                                  (info.param.normalize ? "_normalized" : "");
                         });

TEST(Routing, PrefersTheLowerIndexOfEqualLogits) {
  const std::vector<float> logits = {1, 5, 5, 0, 5, 1};
  for (const auto& backend : all_backends()) {
    EXPECT_EQ(route(*backend, {6, 2, true}, logits).ids, (std::vector<int32_t>{1, 2})) << label(*backend);
    EXPECT_EQ(route(*backend, {6, 4, true}, logits).ids, (std::vector<int32_t>{0, 1, 2, 4}));
  }
}

TEST(Routing, GivesDifferentExpertsEvenForLogitsThatAreNotNumbers) {
  const std::vector<float> logits = {NAN, 1, NAN, NAN, 2, NAN};
  for (const auto& backend : all_backends()) {
    const Choice choice = route(*backend, {6, 3, true}, logits);
    EXPECT_TRUE(std::isnan(std::accumulate(choice.weights.begin(), choice.weights.end(), 0.0f)));
    for (int i = 0; i < 3; ++i) EXPECT_GT(choice.ids[i], i == 0 ? -1 : choice.ids[i - 1]);
    EXPECT_LT(choice.ids[2], 6);
  }
}

struct SigmoidCase {
  RoutingShape shape;
  SigmoidRouting rule;
};

class SigmoidRoutingTest : public ::testing::TestWithParam<SigmoidCase> {};

Choice route_by_sigmoid(Backend& backend, const SigmoidCase& form, std::vector<float> logits,
                        const std::vector<float>& correction) {
  const auto& [shape, rule] = form;
  const auto rows = static_cast<int64_t>(logits.size()) / shape.experts;
  Choice choice{std::vector<int32_t>(rows * shape.top_k, -1), std::vector<float>(rows * shape.top_k, NAN)};
  backend.route_by_sigmoid(shape, rule, correction.data(), logits.data(), rows, choice.routing());
  return choice;
}

TEST_P(SigmoidRoutingTest, ChoosesAndWeighsAsTheReference) {
  const RoutingShape& shape = GetParam().shape;
  const std::vector<float> logits = random_floats(37 * shape.experts, 3, 4.0f);
  const std::vector<float> correction = random_floats(shape.experts, 4, 0.3f);
  ReferenceBackend reference;
  const Choice expected = route_by_sigmoid(reference, GetParam(), logits, correction);
  const Choice whole = route_by_sigmoid(*make_cpu_backend({.threads = 1}), GetParam(), logits, correction);
  EXPECT_EQ(whole.ids, expected.ids);
  expect_close(whole.weights, expected.weights, 4e-6f, "weights");
  for (const auto& backend : all_backends()) {
    const Choice choice = route_by_sigmoid(*backend, GetParam(), logits, correction);
    EXPECT_EQ(choice.ids, whole.ids) << label(*backend);
    expect_same_bits(choice.weights, whole.weights, label(*backend));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SigmoidRoutingTest,
    ::testing::Values(SigmoidCase{{8, 3, true}, {1, 1, 1}}, SigmoidCase{{128, 8, true}, {1, 1, 2.5f}},
                      SigmoidCase{{8, 3, false}, {4, 2, 1.5f}}, SigmoidCase{{256, 8, true}, {8, 4, 2.5f}},
                      SigmoidCase{{6, 4, true}, {2, 2, 1}}, SigmoidCase{{2, 2, true}, {1, 1, 1}}),
    [](const auto& info) {
      const SigmoidCase& form = info.param;
      return std::to_string(form.shape.top_k) + "_of_" + std::to_string(form.shape.experts) + "_in_" +
             std::to_string(form.rule.groups) + (form.shape.normalize ? "_normalized" : "");
    });

TEST(SigmoidRouting, CorrectsTheChoiceAloneAndTakesGroupsByTheirTwoBest) {
  // The best expert is alone in its group; the correction lifts the second group's.
  const std::vector<float> logits = {3, -9, 1, 1, -9, -9};
  const std::vector<float> correction = {0, 0, 0.25f, 0, 0, 0};
  for (const auto& backend : all_backends()) {
    const Choice choice = route_by_sigmoid(*backend, {{6, 2, false}, {3, 1, 2}}, logits, correction);
    EXPECT_EQ(choice.ids, (std::vector<int32_t>{2, 3})) << label(*backend);
    expect_close(choice.weights, std::vector<float>(2, 2 / (1 + std::exp(-1.0f))), 1e-6f, label(*backend));
  }
}

TEST(SigmoidRouting, GivesDifferentExpertsEvenForLogitsThatAreNotNumbers) {
  const std::vector<float> logits = {NAN, 1, NAN, NAN, 2, NAN};
  for (const auto& backend : all_backends()) {
    const Choice choice =
        route_by_sigmoid(*backend, {{6, 3, true}, {3, 2, 1}}, logits, std::vector<float>(6, 0));
    EXPECT_TRUE(std::isnan(std::accumulate(choice.weights.begin(), choice.weights.end(), 0.0f)));
    for (int i = 0; i < 3; ++i) EXPECT_GT(choice.ids[i], i == 0 ? -1 : choice.ids[i - 1]);
    EXPECT_LT(choice.ids[2], 6);
  }
}

constexpr int64_t kRows = 70;

struct MixtureCase {
  DType dtype;
  int64_t hidden;
  int64_t width;
  bool as_gpt_oss = false;  // biases, and clamped gates
  bool gelu = false;
};

class MixtureTest : public ::testing::TestWithParam<MixtureCase> {
 protected:
  static constexpr RoutingShape kShape{7, 3, true};
  const int64_t hidden = GetParam().hidden;
  const int64_t width = GetParam().width;
  const DType keep = GetParam().dtype == DType::kF32 ? DType::kF32 : DType::kBF16;
  const std::vector<float> x = random_floats(kRows * hidden, 21);
  const std::vector<float> gate_up_bias = random_floats(7 * 2 * width, 23);
  const std::vector<float> down_bias = random_floats(7 * hidden, 24);
  // Expert 6 is nobody's choice; the bias makes expert 2 everybody's.
  const std::vector<float> logits = [] {
    std::vector<float> values = random_floats(kRows * 7, 22, 2.0f);
    for (int64_t t = 0; t < kRows; ++t) {
      values[t * 7 + 2] += 9;
      values[t * 7 + 6] -= 90;
    }
    return values;
  }();

  Experts experts(Backend& backend) {
    Experts out;
    for (uint32_t e = 0; e < 7; ++e) {
      out.gate_up.push_back(
          pack_expert(backend, random_matrix(GetParam().dtype, 2 * width, hidden, 2 * e), keep));
      out.down.push_back(
          pack_expert(backend, random_matrix(GetParam().dtype, hidden, width, 2 * e + 1), keep));
    }
    if (GetParam().as_gpt_oss) {
      out.gate_up_bias = gate_up_bias.data();
      out.down_bias = down_bias.data();
      out.clamped = ClampedSwiglu{.limit = 0.9f, .alpha = 1.702f};
    }
    out.gelu = GetParam().gelu;
    return out;
  }

  // Rows [first, first + count), with room for `room` pairs.
  std::vector<float> run(Backend& backend, const Experts& experts, int64_t first, int64_t count,
                         int64_t room) {
    std::vector<float> rows(room * hidden, NAN), wide(room * 2 * width, NAN), mixed(room * width, NAN);
    std::vector<float> out(count * hidden, NAN);
    Choice choice =
        route(backend, kShape, {logits.begin() + first * 7, logits.begin() + (first + count) * 7});
    backend.run_experts(experts, kShape, choice.routing(), &x[first * hidden], count,
                        {room, rows.data(), wide.data(), mixed.data()}, out.data());
    return out;
  }
};

TEST_P(MixtureTest, IsCloseToTheReference) {
  ReferenceBackend reference;
  const auto expected = run(reference, experts(reference), 0, kRows, kRows);
  float largest = 0;
  for (const float value : expected) largest = std::max(largest, std::fabs(value));
  ASSERT_GT(largest, 0);
  for (const auto& backend : all_backends()) {
    // Products with random blocks lie far beyond where gates are clamped: what rounding moves them by is much
    // there.
    const Rounding rounding = rounding_of(*backend, GetParam().dtype, keep);
    const double allowed = rounding == Rounding::kNone       ? 2e-6
                           : is_block_type(GetParam().dtype) ? 0x1p-4
                                                             : 0x1p-8;
    const auto scaled = run(*backend, experts(*backend), 0, kRows, kRows);
    for (size_t i = 0; i < scaled.size(); ++i) {
      ASSERT_NEAR(scaled[i] / largest, expected[i] / largest, allowed)
          << label(*backend) << ", element " << i;
    }
  }
}

TEST_P(MixtureTest, GivesARowTheSameBitsWhateverRunsBesideIt) {
  std::vector<float> wholes[4];  // by what activations are rounded to
  for (const auto& backend : all_backends()) {
    const Experts matrices = experts(*backend);
    std::vector<float>& whole = wholes[static_cast<int>(rounding_of(*backend, GetParam().dtype, keep))];
    if (whole.empty()) whole = run(*backend, matrices, 0, kRows, kRows);
    for (const int64_t room : {kRows, kRows * 3, kRows + 1}) {
      expect_same_bits(run(*backend, matrices, 0, kRows, room), whole,
                       label(*backend) + ", room for " + std::to_string(room));
    }
    for (const auto& [first, count] : {std::pair{0, 1}, {33, 1}, {60, 10}}) {
      expect_same_bits(run(*backend, matrices, first, count, 64),
                       std::span(whole).subspan(first * hidden, count * hidden),
                       label(*backend) + ", rows from " + std::to_string(first));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, MixtureTest,
    ::testing::Values(MixtureCase{DType::kF8E4M3, 136, 24}, MixtureCase{DType::kBF16, 200, 70},
                      MixtureCase{DType::kF32, 72, 64}, MixtureCase{DType::kMXFP4, 96, 64, true},
                      MixtureCase{DType::kQ4_K, 256, 256}, MixtureCase{DType::kBF16, 72, 40, true},
                      MixtureCase{DType::kBF16, 72, 24, false, true}),
    [](const auto& info) {
      const std::string form = info.param.as_gpt_oss ? "_as_gpt_oss" : "";
      return name_of(info.param.dtype) + form + (info.param.gelu ? "_gelu" : "");
    });

TEST(Routing, MultipliesTheWeightOfEachExpertByItsScale) {
  const std::vector<float> scales = {1, 2, 3, 4, 5, 6};
  for (const auto& backend : all_backends()) {
    Choice choice{{1, 4, 0, 5}, {0.5f, 0.25f, 0.125f, 1}};
    backend->scale_routes({6, 2, true}, scales.data(), 2, choice.routing());
    EXPECT_EQ(choice.weights, (std::vector<float>{1, 1.25f, 0.125f, 6})) << label(*backend);
  }
}

TEST(AddGated, OpensEachRowByItsSigmoid) {
  ReferenceBackend reference;
  for (const int64_t width : {1, 15, 16, 17, 9000}) {
    const std::vector<float> y = random_floats(5 * width, 1), start = random_floats(5 * width, 2);
    const std::vector<float> gate = {-80, -1, 0, 2, 80};
    std::vector<float> expected = start;
    reference.add_gated(expected.data(), y.data(), gate.data(), 5, width);
    for (const auto& backend : all_backends()) {
      std::vector<float> out = start;
      backend->add_gated(out.data(), y.data(), gate.data(), 5, width);
      expect_close(out, expected, 1e-6f, label(*backend));
      out = start;
      backend->add_gated(out.data(), y.data(), nullptr, 5, width);
      for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], start[i] + y[i]) << label(*backend);
    }
  }
}

}  // namespace
}  // namespace llmservice::testing
