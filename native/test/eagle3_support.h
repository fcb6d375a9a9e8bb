// An EAGLE-3 draft model by itself, with random weights, for tests of its pieces.
#pragma once

#include <cmath>

#include "backends/cpu/backend.h"
#include "drafts_support.h"

namespace llmservice::testing {

inline constexpr int64_t kDraftHidden = 64;
inline constexpr int32_t kVocab = 211;
inline constexpr int32_t kDraftVocab = 40;
inline constexpr int64_t kRows = 5;

inline StoredTensor int64_tensor(const std::vector<int64_t>& values) {
  std::string bytes(values.size() * sizeof(int64_t), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {"I64", {static_cast<int64_t>(values.size())}, std::move(bytes)};
}

// Draft token i is the model's 2 i + 3.
inline Tensors drafter_tensors(float spread_of_layer) {
  std::mt19937 random(11);
  Tensors t;
  t["eagle3.fusion.weight"] = bf16_tensor({kDraftHidden, 3 * kDraftHidden}, 0, 0.2F, random);
  t["eagle3.input_norm.weight"] = bf16_tensor({3 * kDraftHidden}, 1, 0.3F, random);
  t["eagle3.norm.weight"] = bf16_tensor({kDraftHidden}, 1, 0.2F, random);
  t["eagle3.lm_head.weight"] = bf16_tensor({kDraftVocab, kDraftHidden}, 0, 0.3F, random);
  const std::string layer = "eagle3.layers.0.";
  for (const char* norm : {"input_layernorm", "hidden_norm", "post_attention_layernorm"}) {
    t[layer + norm + ".weight"] = bf16_tensor({kDraftHidden}, 1, 0.1F, random);
  }
  for (const auto& [name, rows] :
       {std::pair{"q_proj", 64}, std::pair{"k_proj", 32}, std::pair{"v_proj", 32}}) {
    t[layer + "self_attn." + name + ".weight"] = bf16_tensor({rows, 2 * kDraftHidden}, 0, 0.3F, random);
  }
  t[layer + "self_attn.o_proj.weight"] = bf16_tensor({kDraftHidden, 64}, 0, spread_of_layer, random);
  t[layer + "mlp.gate_proj.weight"] = bf16_tensor({96, kDraftHidden}, 0, 0.3F, random);
  t[layer + "mlp.up_proj.weight"] = bf16_tensor({96, kDraftHidden}, 0, 0.3F, random);
  t[layer + "mlp.down_proj.weight"] = bf16_tensor({kDraftHidden, 96}, 0, spread_of_layer, random);
  std::vector<int64_t> offsets(kDraftVocab);
  for (int64_t i = 0; i < kDraftVocab; ++i) offsets[i] = i + 3;
  t["eagle3.d2t"] = int64_tensor(offsets);
  return t;
}

inline std::vector<float> uniform_rows(int64_t rows, int64_t width, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(rows * width);
  for (float& value : values) value = uniform(random);
  return values;
}

inline std::vector<float> values_of(const StoredTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, tensor.bytes.data() + 2 * i, 2);
    values[i] = bf16_to_float(bits);
  }
  return values;
}

inline std::vector<double> rms_normed(const std::vector<double>& x, const std::vector<float>& weight) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-6);
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] * scale * weight[i];
  return out;
}

// One with caches, and the rows that a model would have lent it.
class Drafter3 {
 public:
  Drafter3(float spread_of_layer, bool norm_before_fc, bool norm_output)
      : tensors_(drafter_tensors(spread_of_layer)), backend_(make_cpu_backend({.threads = 2})) {
    if (!norm_before_fc) tensors_.erase("eagle3.input_norm.weight");
    ModelConfig config = tiny_llama_config();
    config.tied_head = false;
    config.layers = {LayerKind::kAttention};
    config.feed_forward = {FeedForwardKind::kDense};
    config.windows = {0};
    write_checkpoint(dir_, config, tensors_);
    CheckpointSource source = *dir_.checkpoint();
    source.eagle3 = Eagle3Config{.vocab = kDraftVocab,
                                 .layers = {0, 1, 2},
                                 .norm_before_residual = false,
                                 .norm_before_fc = norm_before_fc,
                                 .norm_output = norm_output};
    source_ = std::make_unique<CheckpointSource>(std::move(source));
    opened_ = std::make_unique<Eagle3Source>(open_eagle3(*source_, tiny_llama_config()));
    eagle3_ = std::make_unique<Eagle3>(
        *opened_, *backend_, one_rank(),
        Eagle3::Options{.max_tokens = kRows,
                        .keep = DType::kF32,
                        .caches = {.block_size = 16, .slots = kRows, .snapshots = 0, .kv_dtype = DType::kF32},
                        .shard = {},
                        .logit_rows = kRows},
        [](uint64_t) {});
    eagle3_->allocate_kv(4);
    for (auto& buffer : buffers_) buffer = backend_->allocate(kRows * kDraftHidden * sizeof(float));
  }

  const StoredTensor& tensor(const std::string& name) const { return tensors_.at(name); }

  // What three layers read of rows [first, first + count) of a step.
  void read_of_model(const std::vector<std::vector<float>>& inputs, int64_t first, int64_t count) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      eagle3_->take_input(i, inputs[i].data() + first * kDraftHidden, count);
    }
    eagle3_->fuse(count);
  }

  // The hidden states that drafts are made of, of rows whose first token is at `position`.
  std::vector<float> run(const std::vector<float>& embeddings, int32_t position, bool continues = false) {
    const auto rows = static_cast<int32_t>(embeddings.size() / kDraftHidden);
    std::vector<int32_t> ids(rows, 1), positions(rows), hidden(rows), outputs(rows);
    for (int32_t i = 0; i < rows; ++i) positions[i] = position + i, hidden[i] = outputs[i] = i;
    const Segment segment{
        .first = 0, .count = rows, .position = position, .slot = 0, .blocks = blocks_, .chunked_until = 0};
    std::ranges::copy(embeddings, row(0));
    eagle3_->run({.ids = ids,
                  .positions = positions,
                  .segments = std::span(&segment, 1),
                  .hidden = hidden,
                  .continues = continues,
                  .outputs = outputs},
                 {.residual = row(0), .normed = row(1), .output = row(2), .final = row(3)});
    return {row(3), row(3) + embeddings.size()};
  }

  std::vector<float> logits(int32_t count) {
    std::vector<float> all(static_cast<size_t>(count) * kVocab);
    eagle3_->make_logits(row(3), count, all.data());
    return all;
  }

 private:
  float* row(size_t buffer) { return static_cast<float*>(buffers_[buffer]->data()); }

  TempDir dir_;
  Tensors tensors_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<CheckpointSource> source_;
  std::unique_ptr<Eagle3Source> opened_;
  std::unique_ptr<Eagle3> eagle3_;
  std::unique_ptr<Buffer> buffers_[4];
  int32_t blocks_[2] = {2, 1};
};

}  // namespace llmservice::testing
