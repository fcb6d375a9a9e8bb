// Attention, the delta rule, and what works on rows of activations.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <span>

#include "engine/samplers.h"
#include "ops/dtype.h"
#include "roofline.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kDim = 128;
constexpr int32_t kHeads = 16;
constexpr int32_t kKvHeads = 8;
constexpr int32_t kBlock = 32;
constexpr int64_t kWidth = 1024;
constexpr int64_t kInner = 3072;
constexpr int32_t kVocab = 151936;
// Together caches and states of a kernel's calls are far larger than any cache of the processor.
constexpr int64_t kStreamedBytes = int64_t{128} << 20;

// Positions of each of some sequences in caches of as many layers as kStreamedBytes take.
class Layers {
 public:
  Layers(Backend& backend, DType type, int64_t sequences, int64_t positions)
      : values_(sequences * positions * kKvHeads * kDim),
        scales_(type == DType::kF8E4M3 ? sequences * positions * kKvHeads : 0),
        each_(bytes_of(type, values_) + scales_ * 4),
        layers_((kStreamedBytes - 1) / (2 * each_) + 1),
        k_(backend.allocate(layers_ * bytes_of(type, values_))),
        v_(backend.allocate(layers_ * bytes_of(type, values_))),
        k_scales_(layers_ * scales_, 0.01f),
        v_scales_(k_scales_),
        type_(type) {
    // Ordinary numbers of either type.
    for (Buffer* const buffer : {k_.get(), v_.get()}) std::memset(buffer->data(), 0x3c, buffer->bytes());
  }

  double bytes() const { return 2.0 * static_cast<double>(each_); }
  KvCache layer(int64_t index) {
    const int64_t i = index % layers_;
    const bool scaled = scales_ > 0;
    const int64_t offset = i * bytes_of(type_, values_);
    return {static_cast<std::byte*>(k_->data()) + offset, static_cast<std::byte*>(v_->data()) + offset,
            scaled ? k_scales_.data() + i * scales_ : nullptr,
            scaled ? v_scales_.data() + i * scales_ : nullptr};
  }

 private:
  int64_t values_;  // of K or of V of a layer
  int64_t scales_;
  int64_t each_;
  int64_t layers_;
  std::unique_ptr<Buffer> k_;
  std::unique_ptr<Buffer> v_;
  std::vector<float> k_scales_;
  std::vector<float> v_scales_;
  DType type_;
};

AttentionShape shape_of_kv(DType type) { return {kHeads, kKvHeads, kDim, kBlock, type, 0.088f}; }

// The last `count` rows of each sequence.
void measure_attention_of(Roofline& roofline, DType type, int32_t sequences, int32_t positions,
                          int32_t count) {
  Layers layers(roofline.backend(), type, sequences, positions);
  std::vector<int32_t> blocks(int64_t{sequences} * positions / kBlock);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::vector<Segment> segments;
  for (int32_t s = 0; s < sequences; ++s) {
    segments.push_back({s * count, count, positions - count, 0, blocks.data() + s * (positions / kBlock), 0});
  }
  const int64_t rows = int64_t{sequences} * count;
  const int64_t width = int64_t{kHeads} * kDim;
  const std::vector<float> q(rows * width, 0.3f);
  std::vector<float> out(rows * width);
  // Pairs of a row and a position that it sees.
  const double seen = static_cast<double>(rows) * (positions - (count - 1) / 2.0);
  const std::string name = std::string("attention, ") + (count == 1 ? "decode" : "prompt") + ", " +
                           (type == DType::kBF16 ? "BF16" : "FP8") + ", " + std::to_string(positions) +
                           " positions";
  const auto attend = [&](int64_t i) {
    roofline.backend().attention(shape_of_kv(type), segments, q.data(), width, layers.layer(i), out.data());
  };
  roofline.measure({name, rows, layers.bytes(), 4.0 * seen * kHeads * kDim,
                    type == DType::kBF16 ? Peak::kBf16Pairs : Peak::kFloat32},
                   attend, count == 1 ? [&](int64_t) { attend(0); } : std::function<void(int64_t)>());
}

void measure_rope(Roofline& roofline, int32_t rows) {
  Layers layers(roofline.backend(), DType::kBF16, 1, 512);
  std::vector<int32_t> blocks(512 / kBlock);
  std::iota(blocks.begin(), blocks.end(), 0);
  const Segment segment{0, rows, 512 - rows, 0, blocks.data(), 0};
  constexpr int64_t kStride = int64_t{kHeads + 2 * kKvHeads} * kDim;
  std::vector<float> qkv(rows * kStride, 0.3f);
  const std::vector<float> norm(kDim, 1);
  const std::vector<float> angles(rows * kDim / 2, 0.6f);
  const NormRope rules{norm.data(), norm.data(), 1e-6f, kDim, angles.data(), angles.data()};
  const double rotated = static_cast<double>(rows) * (kHeads + kKvHeads) * kDim;
  // q and k are read and written, v read; K and V are written in BF16.
  const double bytes = rotated * 8 + static_cast<double>(rows) * kKvHeads * kDim * (4 + 4);
  roofline.measure({"norm, rope and KV write", rows, bytes, rotated * 7, Peak::kFloat32}, [&](int64_t i) {
    roofline.backend().norm_rope_write(shape_of_kv(DType::kBF16), {&segment, 1}, rules, qkv.data(),
                                       qkv.data() + kHeads * kDim, qkv.data() + (kHeads + kKvHeads) * kDim,
                                       kStride, layers.layer(i));
  });
}

void measure_sampling(Roofline& roofline, const char* name, const SamplingParams& params, int64_t rows) {
  std::vector<float> logits(rows * kVocab);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  for (float& x : logits) x = normal(random);
  Samplers samplers(roofline.backend(), kVocab);
  roofline.measure({name, rows, 4.0 * static_cast<double>(rows * kVocab), 0, Peak::kFloat32}, [&](int64_t) {
    samplers.run(rows, [&](int64_t row, Sampler& sampler) {
      sampler.sample(std::span(logits).subspan(row * kVocab, kVocab), params, {}, static_cast<int32_t>(row));
    });
  });
}

constexpr GdnShape kGdn{16, 16, kDim, kDim, 4};
constexpr int64_t kChannels = int64_t{3} * 16 * kDim;
constexpr int64_t kStateFloats = int64_t{16} * kDim * kDim;
constexpr int64_t kTailFloats = kChannels * 3;

// `rows` of each sequence, in chunks of 64 where there are as many.
void measure_delta(Roofline& roofline, int32_t sequences, int32_t rows) {
  const int64_t total = int64_t{sequences} * rows;
  const std::vector<float> input(total * kChannels, 0.1f);
  std::vector<float> convolved(total * kChannels);  // zeros remain what they are, however often
  const std::vector<float> gates(total * 16, 0.1f);
  const std::vector<float> heads(16, 0.1f);
  const std::vector<float> z(total * 16 * kDim, 0.5f);
  const std::vector<float> weight(kDim, 1);
  const std::vector<float> taps(kChannels * 4, 0.25f);
  std::vector<float> out(total * 16 * kDim);
  const int64_t layers = kStreamedBytes / (4 * kStateFloats * sequences) + 1;
  const auto states = roofline.backend().allocate(4 * layers * sequences * kStateFloats);
  std::fill_n(static_cast<float*>(states->data()), layers * sequences * kStateFloats, 0.01f);
  std::vector<float> tails(sequences * kTailFloats);
  const bool chunked = rows % 64 == 0;
  std::vector<Segment> segments;
  for (int32_t s = 0; s < sequences; ++s) {
    segments.push_back({s * rows, rows, chunked ? 0 : 128, s, nullptr, chunked ? rows : 0});
  }
  const auto state_of = [&](int64_t i) {
    return GdnState{tails.data(),
                    static_cast<float*>(states->data()) + i % layers * sequences * kStateFloats};
  };
  const double state_bytes = 8.0 * static_cast<double>(sequences * kStateFloats);
  // A position: S decays, is read by k, changed and read by q. A chunk of a head: two gram matrices, three
  // products with S, the substitution and the product with V'.
  const double of_chunks =
      2.0 * 16 * (2 * 64 * 64 * kDim + 3 * 64 * kDim * kDim + 64 * 64 / 2 * kDim + 64 * 64 * kDim);
  const double flops =
      chunked ? static_cast<double>(total) / 64 * of_chunks : 7.0 * static_cast<double>(total * kStateFloats);
  const double activations = 4.0 * static_cast<double>(total * (kChannels + 2 * 16 * kDim));
  const auto update = [&](int64_t i) {
    roofline.backend().gdn(kGdn, segments, input.data(), kChannels, gates.data(), gates.data(), 16,
                           heads.data(), heads.data(), state_of(i), out.data(),
                           {z.data(), 16 * kDim, weight.data(), 1e-6f});
  };
  const std::function<void(int64_t)> same = [&](int64_t) { update(0); };
  roofline.measure({chunked ? "delta rule, chunks, and norm" : "delta rule, step, and norm", total,
                    state_bytes + (chunked ? activations : 0), flops, Peak::kFloat32},
                   update, chunked ? nullptr : same);
  // Rows and tails are read and written, weights read.
  const double conv_bytes =
      8.0 * static_cast<double>(total * kChannels + sequences * kTailFloats) + 4.0 * kChannels * 4;
  roofline.measure({"convolution and SiLU", total, conv_bytes, 9.0 * static_cast<double>(total * kChannels),
                    Peak::kFloat32},
                   [&](int64_t) {
                     roofline.backend().gdn_conv(kGdn, segments, taps.data(), convolved.data(), kChannels,
                                                 state_of(0));
                   });
}

}  // namespace

void measure_attention(Roofline& roofline) {
  for (const DType type : {DType::kBF16, DType::kF8E4M3}) {
    for (const int32_t positions : {512, 4096}) {
      for (const int32_t sequences : {1, 8}) measure_attention_of(roofline, type, sequences, positions, 1);
    }
    for (const int32_t positions : {512, 2048}) measure_attention_of(roofline, type, 1, positions, positions);
  }
}

void measure_gdn(Roofline& roofline) {
  measure_delta(roofline, 1, 1);
  measure_delta(roofline, 8, 1);
  measure_delta(roofline, 1, 512);
}

void measure_row_ops(Roofline& roofline) {
  Backend& backend = roofline.backend();
  for (const int64_t rows : {int64_t{1}, int64_t{8}, int64_t{512}}) {
    std::vector<float> x(rows * kWidth, 0.1f);
    const std::vector<float> y(rows * kWidth, 1e-6f);
    const std::vector<float> weight(kWidth, 1);
    std::vector<float> out(rows * kWidth);
    const auto values = static_cast<double>(rows * kWidth);
    roofline.measure({"add and norm", rows, 16 * values, 5 * values, Peak::kFloat32}, [&](int64_t) {
      backend.add_rms_norm(x.data(), y.data(), weight.data(), 1e-6f, rows, kWidth, out.data(), {});
    });
    measure_rope(roofline, static_cast<int32_t>(rows));
    std::vector<float> gate_up(rows * 2 * kInner, 0.5f);
    std::vector<float> mixed(rows * kInner);
    const auto inner = static_cast<double>(rows * kInner);
    // An exponential is nine multiply-adds.
    roofline.measure({"SiLU and product", rows, 12 * inner, 22 * inner, Peak::kFloat32},
                     [&](int64_t) { backend.silu_mul(gate_up.data(), rows, kInner, mixed.data()); });
  }
  for (const int64_t rows : {int64_t{1}, int64_t{8}}) {
    measure_sampling(roofline, "sampling, greedy", {}, rows);
    measure_sampling(roofline, "sampling, 0.6, `top_p` 0.95", {.temperature = 0.6F, .top_p = 0.95F}, rows);
  }
}

}  // namespace llmservice::bench
