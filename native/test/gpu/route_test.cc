// Routing by softmax and by sigmoids, against the reference.
#include "route_support.h"

namespace llmservice::testing {
namespace {

class RouteTest : public ::testing::TestWithParam<RoutingShape> {};

TEST_P(RouteTest, ChoosesAsTheReferenceAndARowAloneAsAmongOthers) {
  const RoutingShape shape = GetParam();
  constexpr int64_t kRows = 9;
  std::vector<float> logits = random_floats(kRows * shape.experts, 3, 6.0f);
  for (int32_t i = 0; i < shape.experts; ++i) logits[i] = std::round(logits[i]);  // ties
  Choice expected{std::vector<int32_t>(kRows * shape.top_k), std::vector<float>(kRows * shape.top_k)};
  ReferenceBackend().route(shape, logits.data(), kRows, {expected.ids.data(), expected.weights.data()});
  const Choice all = route_on_device(shape, logits);
  EXPECT_EQ(all.ids, expected.ids);
  expect_close(all.weights, expected.weights, 1e-6f, "weights");
  const Choice alone = route_on_device(shape, std::vector<float>(logits.end() - shape.experts, logits.end()));
  expect_same_bits(alone.weights, std::span(all.weights).last(shape.top_k), "last row");
}

INSTANTIATE_TEST_SUITE_P(Shapes, RouteTest,
                         ::testing::Values(RoutingShape{8, 3, true}, RoutingShape{128, 8, false},
                                           RoutingShape{256, 8, true}, RoutingShape{512, 10, true},
                                           RoutingShape{512, 16, false}, RoutingShape{1, 1, true}),
                         [](const auto& info) {
                           return std::to_string(info.param.top_k) + "_of_" +
                                  std::to_string(info.param.experts);
                         });

TEST(Route, GivesDifferentExpertsEvenForLogitsThatAreNotNumbers) {
  const Choice choice = route_on_device({6, 3, true}, {1, -NAN, 2, NAN, 2, 3});
  EXPECT_EQ(choice.ids, (std::vector<int32_t>{1, 3, 5}));
  EXPECT_TRUE(std::isnan(choice.weights[2]));
  for (int32_t expert = 0; expert < 6; ++expert) {
    std::vector<float> logits = {1, 2, 3, 4, 5, 6};
    logits[expert] = NAN;
    const Choice shown = route_on_device({6, 3, true}, logits);
    EXPECT_EQ(std::ranges::count(shown.ids, expert), 1);
    EXPECT_TRUE(std::ranges::all_of(shown.weights, [](float weight) { return std::isnan(weight); }));
  }
}

struct SigmoidCase {
  RoutingShape shape;
  SigmoidRouting rule;
};

Choice route_by_sigmoid(const SigmoidCase& form, const std::vector<float>& logits,
                        const std::vector<float>& correction) {
  const auto& [shape, rule] = form;
  const auto rows = static_cast<int64_t>(logits.size()) / shape.experts;
  const DeviceArray<float> in(logits), added(correction), weights(rows * shape.top_k, NAN);
  const DeviceArray<int32_t> ids(rows * shape.top_k, -1);
  run(gpu::route_by_sigmoid(shape, rule, added.data(), in.data(), rows, {ids.data(), weights.data()}));
  return {ids.host(), weights.host()};
}

class SigmoidRouteTest : public ::testing::TestWithParam<SigmoidCase> {};

TEST_P(SigmoidRouteTest, ChoosesAsTheReferenceAndARowAloneAsAmongOthers) {
  const auto& [shape, rule] = GetParam();
  constexpr int64_t kRows = 9;
  const std::vector<float> correction = random_floats(shape.experts, 4, 0.3f);
  std::vector<float> logits = random_floats(kRows * shape.experts, 3, 4.0f);
  Choice expected{std::vector<int32_t>(kRows * shape.top_k), std::vector<float>(kRows * shape.top_k)};
  std::vector<float> scratch = logits;
  ReferenceBackend().route_by_sigmoid(shape, rule, correction.data(), scratch.data(), kRows,
                                      {expected.ids.data(), expected.weights.data()});
  const Choice all = route_by_sigmoid(GetParam(), logits, correction);
  EXPECT_EQ(all.ids, expected.ids);
  expect_close(all.weights, expected.weights, 2e-6f, "weights");
  const Choice alone = route_by_sigmoid(GetParam(), {logits.end() - shape.experts, logits.end()}, correction);
  expect_same_bits(alone.weights, std::span(all.weights).last(shape.top_k), "last row");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SigmoidRouteTest,
    ::testing::Values(SigmoidCase{{8, 3, true}, {1, 1, 1}}, SigmoidCase{{128, 8, true}, {1, 1, 2.5f}},
                      SigmoidCase{{8, 3, false}, {4, 2, 1.5f}}, SigmoidCase{{256, 8, true}, {8, 4, 2.5f}},
                      SigmoidCase{{6, 4, true}, {2, 2, 1}}, SigmoidCase{{200, 5, true}, {100, 40, 1}},
                      SigmoidCase{{2, 2, true}, {1, 1, 1}}),
    [](const auto& info) {
      const SigmoidCase& form = info.param;
      return std::to_string(form.shape.top_k) + "_of_" + std::to_string(form.shape.experts) + "_in_" +
             std::to_string(form.rule.groups);
    });

TEST(SigmoidRoute, CorrectsTheChoiceAloneAndTakesGroupsByTheirTwoBest) {
  // The best expert is alone in its group; the correction lifts the second group's.
  const Choice choice =
      route_by_sigmoid({{6, 2, false}, {3, 1, 2}}, {3, -9, 1, 1, -9, -9}, {0, 0, 0.25f, 0, 0, 0});
  EXPECT_EQ(choice.ids, (std::vector<int32_t>{2, 3}));
  expect_close(choice.weights, std::vector<float>(2, 2 / (1 + std::exp(-1.0f))), 1e-6f, "weights");
}

TEST(SigmoidRoute, OfEqualOnesTakesTheLowerIndex) {
  const std::vector<float> none(8, 0);
  EXPECT_EQ(route_by_sigmoid({{8, 3, true}, {1, 1, 1}}, none, none).ids, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(route_by_sigmoid({{8, 3, true}, {4, 2, 1}}, none, none).ids, (std::vector<int32_t>{0, 1, 2}));
}

TEST(SigmoidRoute, GivesDifferentExpertsEvenForLogitsThatAreNotNumbers) {
  const Choice choice =
      route_by_sigmoid({{6, 3, true}, {3, 2, 1}}, {NAN, 1, NAN, NAN, 2, NAN}, std::vector<float>(6, 0));
  EXPECT_TRUE(std::ranges::any_of(choice.weights, [](float weight) { return std::isnan(weight); }));
  for (int i = 0; i < 3; ++i) EXPECT_GT(choice.ids[i], i == 0 ? -1 : choice.ids[i - 1]);
  EXPECT_LT(choice.ids[2], 6);
}

}  // namespace
}  // namespace llmservice::testing
