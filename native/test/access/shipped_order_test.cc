// Launches of shipped kernels one behind the other as in a step, where tests of one kernel have the host wait
// between: what a launch reads before its own wait, no launch that may still run has written.
#include "access/planted_support.h"
#include "backends/gpu/kernels/gdn.h"

namespace llmservice::access {
namespace {

using testing::DeviceArray;
using testing::random_floats;

// Steps of one sequence through a layer of Gated DeltaNet: each reads the S that the step before left.
struct Layer {
  GdnShape shape{1, 2, 24, 40, 4};
  int64_t width = int64_t{shape.v_heads} * shape.v_dim;
  int64_t channels = 2 * int64_t{shape.k_heads} * shape.k_dim + width;

  Faults faults_of_steps(const std::vector<Segment>& segments) const {
    const int32_t rows = segments.back().first + segments.back().count;
    const DeviceArray<float> x(random_floats(rows * channels, 1)), weight(random_floats(channels * 4, 2)),
        gates(random_floats(rows * 2 * shape.v_heads, 3)), heads(random_floats(shape.v_heads, 4)),
        tails(random_floats(2 * channels * 3, 5)), matrices(random_floats(2 * width * shape.k_dim, 6)),
        conv_room(gpu::gdn_conv_workspace(shape, rows) + 1, 0.0f),
        room(gpu::gdn_workspace(shape, rows) + 1, 0.0f), out(rows * width, 0.0f);
    const DeviceArray<Segment> list(segments);
    const GdnState state{tails.data(), matrices.data()};
    gpu::Launches all;
    for (size_t i = 0; i < segments.size(); ++i) {
      const Segment& segment = segments[i];
      const int32_t end = segment.first + segment.count;
      const gpu::StepSegments step{list.data() + i, 1, segment.count, segment.position + segment.count};
      for (const gpu::Launches& launches :
           {gpu::gdn_conv(shape, step, end, weight.data(), x.data(), channels, state, conv_room.data()),
            gpu::gdn(shape, step, end, x.data(), channels, gates.data(), gates.data() + shape.v_heads,
                     2 * shape.v_heads, heads.data(), heads.data(), state, room.data(), out.data(), {})}) {
        all.insert(all.end(), launches.begin(), launches.end());
      }
    }
    return faults_of(all);
  }
};

TEST(ShippedOrder, DecodesReadTheStateOfTheStepBefore) {
  EXPECT_EQ(
      Layer().faults_of_steps({{0, 1, 0, 1, nullptr, 0}, {1, 1, 1, 1, nullptr, 0}, {2, 2, 2, 1, nullptr, 0}}),
      Faults());
}

TEST(ShippedOrder, PromptsInChunksLeaveTheStateToDecodes) {
  EXPECT_EQ(Layer().faults_of_steps({{0, 66, 0, 1, nullptr, 64}, {66, 1, 66, 1, nullptr, 64}}), Faults());
}

// Two layers, each with a step in one launch, then the first again: whether it may read S before its own wait
// is said with it.
Faults faults_of_steps_in_one(bool settled) {
  const GdnShape shape{1, 2, 128, 128, 4};
  const int64_t width = 256, channels = 2 * 128 + width;
  const DeviceArray<float> x(random_floats(channels, 1)), weight(random_floats(channels * 4, 2)),
      gates(random_floats(4, 3)), heads(random_floats(2, 4)), tails(random_floats(4 * channels * 3, 5)),
      matrices(random_floats(4 * width * 128, 6)), out(width, 0.0f);
  const DeviceArray<int32_t> readers(1, 0);
  const DeviceArray<Segment> list(std::vector<Segment>{{0, 1, 9, 1, nullptr, 0}});
  const auto step = [&](int layer, bool is_settled) {
    const GdnState state{tails.data() + layer * 2 * channels * 3, matrices.data() + layer * 2 * width * 128};
    return *gpu::gdn_step(shape, {list.data(), 1, 1, 16},
                          {weight.data(), state.conv, readers.data(), is_settled}, x.data(), channels,
                          gates.data(), gates.data() + 2, 4, heads.data(), heads.data(), state, out.data(),
                          {}, nullptr);
  };
  return faults_of({step(0, true), step(1, true), step(1, settled)});
}

TEST(ShippedOrder, StepsInOneLaunchReadAStateThatMovesAfterTheirWait) {
  EXPECT_EQ(faults_of_steps_in_one(false), Faults());
  EXPECT_EQ(faults_of_steps_in_one(true), Faults{Fault::kEarlyRead});
}

}  // namespace
}  // namespace llmservice::access
