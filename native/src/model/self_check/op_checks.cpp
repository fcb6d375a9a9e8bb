#include "model/self_check/op_checks.h"

#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include "model/moe.h"
#include "model/rope.h"
#include "model/self_check/probe.h"
#include "model/self_check/probe_array.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

// Differences, in units of the root mean square of what is expected. Kernels of a vendor round what they
// multiply to BF16, and keys and values to what the cache holds.
constexpr double kRowBar = 0.01;
constexpr double kSequenceBar = 0.1;
constexpr double kFp8CacheBar = 0.3;

std::string differing(const char* what, const std::vector<float>& found, const std::vector<float>& expected,
                      double bar) {
  double squares = 0;
  for (const float value : expected) squares += static_cast<double>(value) * value;
  const double allowed = bar * std::sqrt(squares / static_cast<double>(expected.size())) + 1e-6;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::fabs(static_cast<double>(found[i]) - expected[i]) <= allowed) continue;
    return std::string(what) + ", value " + std::to_string(i) + ": found " + std::to_string(found[i]) +
           ", expected " + std::to_string(expected[i]) + " ± " + std::to_string(allowed);
  }
  return "";
}

class OpChecks {
 public:
  OpChecks(Backend& backend, const ModelConfig& config, const CacheSizes& sizes)
      : backend_(backend), config_(config), sizes_(sizes) {}

  std::string run() {
    std::string found = norms();
    if (found.empty()) found = gates();
    const std::set<int32_t> windows(config_.windows.begin(), config_.windows.end());
    for (const int32_t window : windows) {
      if (found.empty() && has(LayerKind::kAttention)) found = attention(window);
    }
    if (found.empty() && has(LayerKind::kGdn)) found = delta_rule();
    if (found.empty() && config_.moe) found = routing();
    return found;
  }

 private:
  bool has(LayerKind kind) const { return std::ranges::find(config_.layers, kind) != config_.layers.end(); }

  // Numbers of their own for each call, ±1.75 times `size`, plus `center`.
  std::vector<float> numbers(int64_t count, float size = 1, float center = 0) {
    ++arrays_;
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i) values[i] = center + size * probe_value(100 + arrays_, i);
    return values;
  }
  ProbeArray array(int64_t count, float size = 1, float center = 0) {
    return {backend_, numbers(count, size, center)};
  }
  static std::vector<float> host(ProbeArray& array) { return {array.host(), array.host() + array.size()}; }

  std::string norms() {
    const int64_t rows = kProbeRows;
    const int64_t dim = config_.hidden;
    ProbeArray x = array(rows * dim);
    ProbeArray y = array(rows * dim);
    ProbeArray weight = array(dim, 0.25F, 1);
    ProbeArray out(backend_, rows * dim);
    const float eps = config_.norm_eps;
    if (config_.layer_norm) {
      backend_.add_layer_norm(x.data(), y.data(), weight.data(), eps, rows, dim, out.data(), {});
      reference_.add_layer_norm(x.host(), y.host(), weight.host(), eps, rows, dim, out.host(), {});
    } else {
      backend_.add_rms_norm(x.data(), y.data(), weight.data(), eps, rows, dim, out.data(), {});
      reference_.add_rms_norm(x.host(), y.host(), weight.host(), eps, rows, dim, out.host(), {});
    }
    std::string found = differing("norm of a sum, its sum", x.read(), host(x), kRowBar);
    return found.empty() ? differing("norm of a sum", out.read(), host(out), kRowBar) : found;
  }

  std::string gates() {
    const int64_t rows = kProbeRows;
    const int64_t width = config_.moe ? config_.moe->intermediate : config_.intermediate;
    ProbeArray gate_up = array(rows * 2 * width, 2);
    ProbeArray out(backend_, rows * width);
    if (config_.activation == Activation::kErfGelu) {
      backend_.erf_gelu_mul(gate_up.data(), rows, width, out.data());
      reference_.erf_gelu_mul(gate_up.host(), rows, width, out.host());
    } else if (config_.activation == Activation::kGelu) {
      backend_.gelu_mul(gate_up.data(), rows, width, out.data());
      reference_.gelu_mul(gate_up.host(), rows, width, out.host());
    } else {
      backend_.silu_mul(gate_up.data(), rows, width, out.data());
      reference_.silu_mul(gate_up.host(), rows, width, out.host());
    }
    return differing("gated activation", out.read(), host(out), kRowBar);
  }

  // Pieces of a prompt, of a hybrid a chunk and what is behind it, then one more row.
  std::string attention(int32_t window) {
    constexpr int32_t kEnd = 9;
    const int32_t chunk = has(LayerKind::kGdn) ? 64 : 0;
    const int32_t prompt = chunk + kEnd;
    const auto layer = std::ranges::find(config_.windows, window) - config_.windows.begin();
    const ModelConfig own = config_.of_layer(layer);
    AttentionShape shape = attention_shape(own, sizes_);
    shape.window = window;
    const int64_t rows = prompt + 1;
    const int64_t q_width = int64_t{shape.heads} * shape.head_dim;
    const int64_t kv_width = int64_t{shape.kv_heads} * shape.head_dim;
    const int64_t k_at = q_width;
    const int64_t v_at = own.keys_are_values ? k_at : k_at + kv_width;
    const int64_t stride = v_at + kv_width;
    ProbeArray ones(backend_, std::vector<float>(shape.head_dim, 1));
    ProbeArray qkv = array(rows * stride);
    ProbeArray q_norm = array(shape.head_dim, 0.25F, 1);
    ProbeArray k_norm = array(shape.head_dim, 0.25F, 1);
    ProbeArray sinks = array(shape.heads);
    ProbeArray out(backend_, rows * q_width);

    const RopeConfig& rope = window > 0 && config_.window_rope ? *config_.window_rope : config_.rope;
    ProbeArray frequencies(backend_, rope_frequencies(rope));
    const int64_t half = rope.rotary / 2;
    ProbeArray cos(backend_, rows * half);
    ProbeArray sin(backend_, rows * half);
    std::vector<int32_t> positions(rows);
    for (int32_t i = 0; i < rows; ++i) positions[i] = i;
    const float factor = rope_factor(rope.scaling);
    backend_.rope_angles(positions, frequencies.data(), half, factor, cos.data(), sin.data());
    reference_.rope_angles(positions, frequencies.host(), half, factor, cos.host(), sin.host());

    // Of the largest of the types, and one more row for the scales.
    const int64_t blocks = (rows + shape.block_size - 1) / shape.block_size;
    const int64_t cached = blocks * shape.kv_heads * shape.block_size;
    std::vector<int32_t> table(blocks);
    for (int32_t i = 0; i < blocks; ++i) table[i] = i;
    const auto zeros = [&](int64_t count) { return ProbeArray(backend_, std::vector<float>(count)); };
    ProbeArray k = zeros(cached * shape.head_dim);
    ProbeArray v = zeros(cached * shape.head_dim);
    ProbeArray k_scales = zeros(cached);
    ProbeArray v_scales = zeros(cached);

    const auto norm = [&](ProbeArray& q, ProbeArray& k, float* c, float* s, bool on_host) {
      NormRope norm{.eps = config_.norm_eps, .rotary = rope.rotary, .cos = c, .sin = s};
      if (config_.value_norm) norm.v_norm = on_host ? ones.host() : ones.data();
      if (!config_.qk_norm) return norm;
      norm.q_norm = on_host ? q.host() : q.data();
      norm.k_norm = on_host ? k.host() : k.data();
      return norm;
    };
    const bool scaled = shape.kv_dtype == DType::kF8E4M3;
    const KvCache cache{k.data(), v.data(), scaled ? k_scales.data() : nullptr,
                        scaled ? v_scales.data() : nullptr};
    const KvCache expected{k.host(), v.host(), scaled ? k_scales.host() : nullptr,
                           scaled ? v_scales.host() : nullptr};
    for (const auto& [first, count] : {std::pair{0, chunk}, std::pair{chunk, kEnd}, std::pair{prompt, 1}}) {
      if (count == 0) continue;
      const Segment segment{.first = 0,
                            .count = count,
                            .position = first,
                            .slot = 0,
                            .blocks = table.data(),
                            .chunked_until = chunk};
      const std::span<const Segment> segments(&segment, 1);
      const int64_t at = first * stride;
      const ScoreRules rules{.cap = config_.score_cap,
                             .sinks = config_.attention_sinks ? sinks.data() : nullptr,
                             .causal = !config_.bidirectional};
      const ScoreRules expected_rules{.cap = config_.score_cap,
                                      .sinks = config_.attention_sinks ? sinks.host() : nullptr,
                                      .causal = !config_.bidirectional};
      backend_.norm_rope_write(
          shape, segments, norm(q_norm, k_norm, cos.data() + first * half, sin.data() + first * half, false),
          qkv.data() + at, qkv.data() + at + k_at, qkv.data() + at + v_at, stride, cache);
      backend_.attention(shape, segments, qkv.data() + at, stride, cache, out.data() + first * q_width,
                         rules);
      reference_.norm_rope_write(
          shape, segments, norm(q_norm, k_norm, cos.host() + first * half, sin.host() + first * half, true),
          qkv.host() + at, qkv.host() + at + k_at, qkv.host() + at + v_at, stride, expected);
      reference_.attention(shape, segments, qkv.host() + at, stride, expected, out.host() + first * q_width,
                           expected_rules);
    }
    std::string found = differing("rotary angles", cos.read(), host(cos), kRowBar);
    if (!found.empty()) return found;
    const std::string what = window > 0 ? "attention in a window of " + std::to_string(window) : "attention";
    return differing(what.c_str(), out.read(), host(out), scaled ? kFp8CacheBar : kSequenceBar);
  }

  // A chunk, then a row by itself. A few heads stand for all: each is computed alike.
  std::string delta_rule() {
    GdnShape shape = gdn_shape(*config_.gdn);
    const int32_t per_key = shape.v_heads / shape.k_heads;
    shape.k_heads = std::min(shape.k_heads, 2);
    shape.v_heads = shape.k_heads * per_key;
    const int64_t rows = 65;
    const int64_t channels = gdn_channels(shape);
    const int64_t v_width = int64_t{shape.v_heads} * shape.v_dim;
    const int64_t stride = channels + v_width;  // z behind q, k and v
    ProbeArray qkvz = array(rows * stride);
    ProbeArray gates = array(rows * 2 * shape.v_heads);
    ProbeArray conv = array(channels * shape.conv_kernel, 0.25F);
    ProbeArray a_log = array(shape.v_heads, 1, -2);
    ProbeArray dt_bias = array(shape.v_heads);
    ProbeArray weight = array(shape.v_dim, 0.25F, 1);
    ProbeArray tail = array(channels * (shape.conv_kernel - 1));
    ProbeArray s = array(int64_t{shape.v_heads} * shape.k_dim * shape.v_dim, 0.1F);
    ProbeArray out(backend_, rows * v_width);
    const Segment segment{
        .first = 0, .count = rows, .position = 0, .slot = 0, .blocks = nullptr, .chunked_until = 64};
    const std::span<const Segment> segments(&segment, 1);
    backend_.gdn_conv(shape, segments, conv.data(), qkvz.data(), stride, {tail.data(), s.data()});
    backend_.gdn(
        shape, segments, qkvz.data(), stride, gates.data(), gates.data() + shape.v_heads, 2 * shape.v_heads,
        a_log.data(), dt_bias.data(), {tail.data(), s.data()}, out.data(),
        {.z = qkvz.data() + channels, .stride = stride, .weight = weight.data(), .eps = config_.norm_eps});
    reference_.gdn_conv(shape, segments, conv.host(), qkvz.host(), stride, {tail.host(), s.host()});
    reference_.gdn(
        shape, segments, qkvz.host(), stride, gates.host(), gates.host() + shape.v_heads, 2 * shape.v_heads,
        a_log.host(), dt_bias.host(), {tail.host(), s.host()}, out.host(),
        {.z = qkvz.host() + channels, .stride = stride, .weight = weight.host(), .eps = config_.norm_eps});
    std::string found = differing("convolution of linear attention", qkvz.read(), host(qkvz), kRowBar);
    if (found.empty()) found = differing("linear attention", out.read(), host(out), kSequenceBar);
    return found.empty() ? differing("linear attention, its state", s.read(), host(s), kSequenceBar) : found;
  }

  std::string routing() {
    const RoutingShape shape = routing_shape(*config_.moe);
    const int64_t rows = kProbeRows;
    std::vector<float> distinct(rows * shape.experts);
    for (size_t i = 0; i < distinct.size(); ++i) {
      distinct[i] = std::sin(static_cast<float>(7 * i + 1)) * 3;
    }
    ProbeArray logits(backend_, distinct);
    ProbeArray ids(backend_, rows * shape.top_k);
    ProbeArray weights(backend_, rows * shape.top_k);
    // Until the results are read: a backend may run later what it is asked for.
    ProbeArray correction = array(shape.experts, 0.1F);
    const Routing found_by{reinterpret_cast<int32_t*>(ids.data()), weights.data()};
    const Routing expected_by{reinterpret_cast<int32_t*>(ids.host()), weights.host()};
    if (config_.moe->sigmoid) {
      const SigmoidRouting& rule = *config_.moe->sigmoid;
      backend_.route_by_sigmoid(shape, rule, correction.data(), logits.data(), rows, found_by);
      reference_.route_by_sigmoid(shape, rule, correction.host(), logits.host(), rows, expected_by);
    } else {
      backend_.route(shape, logits.data(), rows, found_by);
      reference_.route(shape, logits.host(), rows, expected_by);
    }
    const std::vector<float> found_ids = ids.read();
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto found = std::bit_cast<int32_t>(found_ids[i]);
      const auto expected = std::bit_cast<int32_t>(ids.host()[i]);
      if (found == expected) continue;
      return "routing, choice " + std::to_string(i) + ": found expert " + std::to_string(found) +
             ", expected " + std::to_string(expected);
    }
    return differing("routing, weights", weights.read(), host(weights), kRowBar);
  }

  Backend& backend_;
  const ModelConfig& config_;
  const CacheSizes& sizes_;
  ReferenceBackend reference_;
  int64_t arrays_ = 0;
};

}  // namespace

std::string differing_op(Backend& backend, const ModelConfig& config, const CacheSizes& sizes) {
  return OpChecks(backend, config, sizes).run();
}

}  // namespace llmservice
