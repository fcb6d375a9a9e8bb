// What the converter does to weights: llama's rows of q and k are reordered for rotation by neighbours, the
// decay is stored as -exp(A_log), experts are stacked, and small tensors lose sides of 1.
// Source: llama.cpp, conversion/llama.py and conversion/qwen.py.
#include "model/gguf_tensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "model/gguf_keys.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

struct Renamed {
  const char* stored;
  const char* name;
};

constexpr std::array kModelTensors =
    std::to_array<Renamed>({{"rope_freqs.weight", "rope_freqs.weight"},
                            {"token_embd.weight", "model.embed_tokens.weight"},
                            {"output_norm.weight", "model.norm.weight"},
                            {"output.weight", "lm_head.weight"}});

// After "blk.N." and "model.layers.N.".
constexpr std::array kLayerTensors = std::to_array<Renamed>({
    {"attn_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_q.bias", "self_attn.q_proj.bias"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_k.bias", "self_attn.k_proj.bias"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_v.bias", "self_attn.v_proj.bias"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"attn_output.bias", "self_attn.o_proj.bias"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_gate.bias", "mlp.gate_proj.bias"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_up.bias", "mlp.up_proj.bias"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
    {"ffn_down.bias", "mlp.down_proj.bias"},
    {"ffn_gate_inp.weight", "mlp.gate.weight"},
    {"ffn_gate_exps.weight", "mlp.experts.gate_proj"},
    {"ffn_up_exps.weight", "mlp.experts.up_proj"},
    {"ffn_gate_up_exps.weight", "mlp.experts.gate_up_proj"},
    {"ffn_down_exps.weight", "mlp.experts.down_proj"},
    {"ffn_gate_inp_shexp.weight", "mlp.shared_expert_gate.weight"},
    {"ffn_gate_shexp.weight", "mlp.shared_expert.gate_proj.weight"},
    {"ffn_up_shexp.weight", "mlp.shared_expert.up_proj.weight"},
    {"ffn_down_shexp.weight", "mlp.shared_expert.down_proj.weight"},
    {"attn_qkv.weight", "linear_attn.in_proj_qkv.weight"},
    {"attn_gate.weight", "linear_attn.in_proj_z.weight"},
    {"ssm_alpha.weight", "linear_attn.in_proj_a.weight"},
    {"ssm_beta.weight", "linear_attn.in_proj_b.weight"},
    {"ssm_a", "linear_attn.A_log"},
    {"ssm_dt.bias", "linear_attn.dt_bias"},
    {"ssm_conv1d.weight", "linear_attn.conv1d.weight"},
    {"ssm_norm.weight", "linear_attn.norm.weight"},
    {"ssm_out.weight", "linear_attn.out_proj.weight"},
});

template <size_t N>
const char* find_name(const std::array<Renamed, N>& names, std::string_view stored) {
  const auto found = std::ranges::find(names, stored, &Renamed::stored);
  return found == names.end() ? nullptr : found->name;
}

// A tensor whose bytes are made from those that the file has from `begin` on, and are read as if they were
// these.
class DerivedTensor : public TensorFile {
 public:
  DerivedTensor(const TensorFile& from, uint64_t begin) : from_(from), begin_(begin) {}
  const std::string& name() const override { return from_.name(); }
  void read(uint64_t offset, std::span<std::byte> out) const override { derive(offset - begin_, out); }

 protected:
  // From `offset` of the tensor.
  virtual void derive(uint64_t offset, std::span<std::byte> out) const = 0;
  void read_stored(uint64_t offset, std::span<std::byte> out) const { from_.read(begin_ + offset, out); }

 private:
  const TensorFile& from_;
  uint64_t begin_;
};

// Rotation pairs feature j of a head with j + half here; stored they are neighbours.
class HalvedRows final : public DerivedTensor {
 public:
  HalvedRows(const TensorFile& from, uint64_t begin, uint64_t row_bytes, uint64_t head_dim)
      : DerivedTensor(from, begin), row_bytes_(row_bytes), head_dim_(head_dim) {}

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const uint64_t within = offset % row_bytes_;
      const size_t count = std::min<size_t>(out.size(), row_bytes_ - within);
      read_stored(stored_row(offset / row_bytes_) * row_bytes_ + within, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  }

 private:
  uint64_t stored_row(uint64_t row) const {
    const uint64_t half = head_dim_ / 2;
    const uint64_t feature = row % head_dim_;
    return row - feature + feature % half * 2 + feature / half;
  }

  uint64_t row_bytes_;
  uint64_t head_dim_;
};

// A_log of the stored -exp(A_log), in F32.
class LogOfDecay final : public DerivedTensor {
 public:
  LogOfDecay(const TensorFile& from, uint64_t begin, std::string tensor)
      : DerivedTensor(from, begin), tensor_(std::move(tensor)) {}

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    read_stored(offset, out);
    for (size_t at = 0; at + sizeof(float) <= out.size(); at += sizeof(float)) {
      float value;
      std::memcpy(&value, out.data() + at, sizeof value);
      if (!(value < 0) || !std::isfinite(value)) {
        throw EngineError("CheckpointCorrupt", name() + ": tensor " + tensor_ + " holds " +
                                                   std::to_string(value) +
                                                   "; expected negative numbers, -exp(A_log).");
      }
      value = std::log(-value);
      std::memcpy(out.data() + at, &value, sizeof value);
    }
  }

 private:
  std::string tensor_;
};

class TensorAdapter {
 public:
  TensorAdapter(const GgufFile& file, GgufTensors& to)
      : file_(file), keys_(file), layers_(keys_.layers()), to_(to) {
    if (keys_.architecture() == "llama") {
      head_dim_ = keys_.count_or("attention.key_length",
                                 keys_.count("embedding_length") / keys_.count("attention.head_count"));
    }
  }

  void add(const std::string& stored, const TensorEntry& entry) {
    const std::optional<std::string> name = name_of_tensor(stored);
    if (!name) return;
    if (entry.bytes == 0) {
      throw EngineError("UnsupportedQuantization",
                        file_.name() + ": tensor " + stored + " has type " + entry.dtype +
                            "; supported in GGUF files are F32, F16, BF16, Q8_0, Q4_0, Q4_K and Q6_K, so "
                            "that a file made as Q8_0, Q4_K_M or F16 would do.");
    }
    GgufTensors::Item item{*name, entry, &file_};
    restore_shape(item);
    restore_values(item, stored);
    to_.tensors.push_back(std::move(item));
  }

 private:
  // Nothing for what is not run.
  std::optional<std::string> name_of_tensor(const std::string& stored) const {
    if (const char* name = find_name(kModelTensors, stored)) return name;
    int64_t layer = -1;
    const char* end = stored.data() + stored.size();
    if (stored.starts_with("blk.")) {
      const auto parsed = std::from_chars(stored.data() + 4, end, layer);
      if (parsed.ec == std::errc() && layer >= layers_) return std::nullopt;  // drafts tokens
      if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '.') {
        const char* name = find_name(kLayerTensors, std::string_view(parsed.ptr + 1, end));
        if (name != nullptr && layer >= 0) return "model.layers." + std::to_string(layer) + "." + name;
      }
    }
    keys_.unsupported("tensor " + stored + " is not one that " + keys_.architecture() +
                      " has here, so the model would not be what it was made to be");
  }

  static void restore_shape(GgufTensors::Item& item) {
    auto& shape = item.entry.shape;
    if (item.name.ends_with("conv1d.weight") && shape.size() == 2) shape.insert(shape.begin() + 1, 1);
    if (item.name.ends_with("shared_expert_gate.weight") && shape.size() == 1) shape.insert(shape.begin(), 1);
  }

  void restore_values(GgufTensors::Item& item, const std::string& stored) {
    TensorEntry& entry = item.entry;
    if (item.name.ends_with("A_log")) {
      if (entry.dtype != "F32")
        throw EngineError("UnsupportedQuantization", file_.name() + ": tensor " + stored + " has type " +
                                                         entry.dtype + "; it is read as F32.");
      replace(item, std::make_unique<LogOfDecay>(file_, entry.offset, stored));
    }
    const bool rotates = item.name.find("self_attn.q_proj.") != std::string::npos ||
                         item.name.find("self_attn.k_proj.") != std::string::npos;
    if (head_dim_ == 0 || !rotates) return;
    const int64_t rows = entry.shape.front();
    if (head_dim_ % 2 != 0 || rows % head_dim_ != 0) {
      throw EngineError("CheckpointCorrupt", file_.name() + ": tensor " + stored + " has " +
                                                 std::to_string(rows) + " rows, which are no heads of " +
                                                 std::to_string(head_dim_) + ".");
    }
    replace(item, std::make_unique<HalvedRows>(file_, entry.offset, entry.bytes / static_cast<uint64_t>(rows),
                                               static_cast<uint64_t>(head_dim_)));
  }

  void replace(GgufTensors::Item& item, std::unique_ptr<TensorFile> by) {
    item.file = by.get();
    item.entry.derived = true;
    to_.files.push_back(std::move(by));
  }

  const GgufFile& file_;
  GgufKeys keys_;
  int64_t layers_;
  int64_t head_dim_ = 0;  // where rows of q and k are reordered
  GgufTensors& to_;
};

}  // namespace

GgufTensors read_gguf_tensors(const std::filesystem::path& path) {
  auto file = std::make_unique<GgufFile>(path);
  GgufTensors tensors;
  TensorAdapter adapter(*file, tensors);
  for (const auto& [stored, entry] : file->header().tensors) adapter.add(stored, entry);
  tensors.files.push_back(std::move(file));
  return tensors;
}

}  // namespace llmservice
