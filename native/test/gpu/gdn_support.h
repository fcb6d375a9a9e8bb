// Rows of a step through a layer of Gated DeltaNet, by the kernels and by the scalar reference.
#pragma once

#include "backends/gpu/kernels/gdn.h"
#include "gpu_support.h"

namespace llmservice::testing {

constexpr float kEps = 1e-6f;

inline int64_t channels_of(const GdnShape& s) {
  return 2 * int64_t{s.k_heads} * s.k_dim + int64_t{s.v_heads} * s.v_dim;
}

// Rows of a step that may belong to several sequences, and what the layer does to them.
struct Layer {
  GdnShape shape;
  int32_t rows;
  int32_t slots = 2;
  bool is_odd = false;  // row strides that keep values off 16-byte borders
  int64_t channels = channels_of(shape);
  int64_t width = int64_t{shape.v_heads} * shape.v_dim;
  int64_t stride = channels + width + (is_odd ? 1 : 0);  // z lies behind qkv
  std::vector<float> x = random_floats(rows * stride, 1);
  std::vector<float> conv_weight = random_floats(channels * shape.conv_kernel, 2);
  std::vector<float> gates = random_floats(rows * 2 * shape.v_heads, 3, 2.0f);  // [b | a]
  std::vector<float> dt_bias = random_floats(shape.v_heads, 5, 0.1f);
  std::vector<float> norm = random_floats(shape.v_dim, 6);
  std::vector<float> a_log = std::vector<float>(shape.v_heads);
  // States that hold something when the step begins.
  std::vector<float> conv = random_floats(slots * channels * (shape.conv_kernel - 1), 7);
  std::vector<float> s = random_floats(slots * width * shape.k_dim, 8, 0.2f);

  // Even heads decay by about 0.9 to 0.999 a step (softplus(0) = 0.69), odd ones forget at once.
  void set_decays() {
    for (int32_t h = 0; h < shape.v_heads; ++h) {
      const float decay = h % 4 == 0 ? 0.999f : 0.9f;
      a_log[h] = h % 2 == 0 ? std::log(-std::log(decay) / 0.69f) : 2.0f;
    }
  }
  Layer(GdnShape the_shape, int32_t the_rows, int32_t the_slots = 2, bool odd = false)
      : shape(the_shape), rows(the_rows), slots(the_slots), is_odd(odd) {
    set_decays();
  }

  struct Result {
    std::vector<float> x, out, conv, s;
  };
  using Steps = std::vector<std::vector<Segment>>;

  Result expected(const Steps& steps, bool is_normed = false) const {
    ReferenceBackend reference;
    Result r{x, std::vector<float>(rows * width, NAN), conv, s};
    const GdnState state{r.conv.data(), r.s.data()};
    GdnNorm fused;
    if (is_normed) fused = {x.data() + channels, stride, norm.data(), kEps};
    for (const auto& segments : steps) {
      reference.gdn_conv(shape, segments, conv_weight.data(), r.x.data(), stride, state);
      reference.gdn(shape, segments, r.x.data(), stride, gates.data(), gates.data() + shape.v_heads,
                    2 * shape.v_heads, a_log.data(), dt_bias.data(), state, r.out.data(), fused);
    }
    return r;
  }

  Result run(const Steps& steps, bool is_normed = false) const {
    const DeviceArray<float> input(x), out(rows * width, NAN), tails(conv), matrices(s), weight(conv_weight),
        gate(gates), decay(a_log), bias(dt_bias), scale(norm);
    const GdnState state{tails.data(), matrices.data()};
    for (const auto& segments : steps) {
      const DeviceArray<Segment> list(segments);
      gpu::StepSegments step{list.data(), static_cast<int32_t>(segments.size()), 0, 0};
      int32_t end = 0;
      for (const Segment& segment : segments) {
        step.max_rows = std::max(step.max_rows, segment.count);
        step.longest = std::max(step.longest, segment.position + segment.count);
        end = std::max(end, segment.first + segment.count);
      }
      const DeviceArray<float> conv_room(gpu::gdn_conv_workspace(shape, end) + 1, NAN);
      const DeviceArray<float> room(gpu::gdn_workspace(shape, end) + 1, NAN);
      for (const auto& launch :
           gpu::gdn_conv(shape, step, end, weight.data(), input.data(), stride, state, conv_room.data())) {
        testing::run(launch);
      }
      GdnNorm fused;
      if (is_normed) fused = {input.data() + channels, stride, scale.data(), kEps};
      for (const auto& launch :
           gpu::gdn(shape, step, end, input.data(), stride, gate.data(), gate.data() + shape.v_heads,
                    2 * shape.v_heads, decay.data(), bias.data(), state, room.data(), out.data(), fused)) {
        testing::run(launch);
      }
    }
    return {input.host(), out.host(), tails.host(), matrices.host()};
  }
};

// One sequence cut before each of `cuts`.
inline Layer::Steps cut(int32_t rows, int32_t chunked_until, std::vector<int32_t> cuts) {
  cuts.push_back(rows);
  Layer::Steps steps;
  int32_t at = 0;
  for (const int32_t end : cuts) {
    steps.push_back({{at, end - at, at, 1, nullptr, chunked_until}});
    at = end;
  }
  return steps;
}

}  // namespace llmservice::testing
