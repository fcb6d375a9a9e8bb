// GGUF files: what their header, metadata and tensors become, and how each kind of broken one is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "failures.h"
#include "gguf_support.h"
#include "model/checkpoint.h"
#include "model/config.h"
#include "model/rope.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {
namespace {

std::vector<float> floats(const Checkpoint& checkpoint, const std::string& name) {
  const Tensor tensor = checkpoint.tensor(name);
  std::vector<float> values(tensor.bytes / sizeof(float));
  tensor.read(0, std::as_writable_bytes(std::span(values)));
  return values;
}

// What loading the file as a checkpoint says: nothing, or its reason and message.
std::string outcome(const std::string& content) {
  const TempDir dir;
  dir.write("model.gguf", content);
  try {
    read_model_config(dir.path());
    const Checkpoint checkpoint(dir.path());
    for (const std::string& name : checkpoint.names()) floats(checkpoint, name);
    return "";
  } catch (const EngineError& error) {
    return error.reason() + ": " + error.what();
  }
}

TEST(Gguf, MetadataBecomesTheConfiguration) {
  const TempDir dir;
  dir.write("model.gguf", gguf_text(tiny_gguf_llama()));
  const ModelConfig config = read_model_config(dir.path());
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.hidden, 8);
  EXPECT_EQ(config.heads, 2);
  EXPECT_EQ(config.kv_heads, 1);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.vocab, 5);
  EXPECT_TRUE(config.tied_head);
  EXPECT_FALSE(config.attention_bias);
  EXPECT_EQ(config.rope.rotary, 4);
  EXPECT_EQ(config.quantization.method(), "");
}

TEST(Gguf, ADividedFrequencyIsReadFromItsTensor) {
  GgufSpec spec = tiny_gguf_llama();
  spec.tensors["rope_freqs.weight"] = counted({2}, 1, 7);
  const TempDir dir;
  dir.write("model.gguf", gguf_text(spec));
  ModelConfig config = read_model_config(dir.path());
  read_rope_divisors(Checkpoint(dir.path()), config.rope);
  EXPECT_EQ(std::get<DivisorScaling>(config.rope.scaling).divisors, (std::vector<float>{1, 8}));
}

TEST(Gguf, RowsOfLlamasQueriesAndKeysComeInHalves) {
  const TempDir dir;
  dir.write("model.gguf", gguf_text(tiny_gguf_llama()));
  const Checkpoint checkpoint(dir.path() / "model.gguf");
  const std::vector<float> q = floats(checkpoint, "model.layers.0.self_attn.q_proj.weight");
  // Of each head of four: the even rows, then the odd ones.
  const int rows[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (int row = 0; row < 8; ++row) {
    for (int col = 0; col < 8; ++col) EXPECT_EQ(q[row * 8 + col], static_cast<float>(rows[row] * 8 + col));
  }
  // A read may begin and end within rows.
  const Tensor k = checkpoint.tensor("model.layers.0.self_attn.k_proj.weight");
  std::vector<float> part(6);
  k.read(7 * sizeof(float), std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, (std::vector<float>{7, 16, 17, 18, 19, 20}));
  EXPECT_EQ(floats(checkpoint, "model.layers.0.self_attn.v_proj.weight")[9], 9.0f);
}

TEST(Gguf, SafetensorsComeFirstAndSeveralFilesAreRefused) {
  const TempDir dir;
  dir.write("a.gguf", gguf_text(tiny_gguf_llama()));
  dir.write("b.gguf", gguf_text(tiny_gguf_llama()));
  EXPECT_EQ(failure_of([&] { Checkpoint whole(dir.path()); }), "CheckpointIncomplete");
  EXPECT_NO_THROW(Checkpoint(dir.path() / "b.gguf"));
  write_checkpoint(dir, tiny_llama_config(), tiny_llama_tensors());
  EXPECT_TRUE(Checkpoint(dir.path()).has("model.norm.weight"));
}

struct Broken {
  const char* what;
  std::function<void(GgufSpec&)> change;
  const char* reason;
  const char* told;
};

class BrokenGguf : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenGguf, IsRefusedByName) {
  GgufSpec spec = tiny_gguf_llama();
  GetParam().change(spec);
  const std::string said = outcome(gguf_text(spec));
  EXPECT_TRUE(said.starts_with(GetParam().reason)) << said;
  EXPECT_NE(said.find(GetParam().told), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Changes, BrokenGguf,
    ::testing::Values(
        Broken{"AnotherArchitecture", [](GgufSpec& s) { s.keys["general.architecture"] = "gemma"; },
               "UnsupportedArchitecture", "\"gemma\""},
        Broken{"NoHiddenSize", [](GgufSpec& s) { s.keys.erase("llama.embedding_length"); },
               "CheckpointCorrupt", "llama.embedding_length is missing"},
        Broken{"ATextForANumber", [](GgufSpec& s) { s.keys["llama.block_count"] = "one"; },
               "CheckpointCorrupt", "llama.block_count is not a positive integer"},
        Broken{"MoreLayersThanTensors", [](GgufSpec& s) { s.keys["llama.block_count"] = 1u << 29; },
               "CheckpointCorrupt", "more than the file has tensors"},
        Broken{"AnUnknownTensor", [](GgufSpec& s) { s.tensors["blk.0.attn_sinks.weight"] = counted({8}); },
               "UnsupportedArchitecture", "blk.0.attn_sinks.weight"},
        Broken{"AnUnreadType", [](GgufSpec& s) { s.tensors["blk.0.ffn_up.weight"].type = 13; },
               "UnsupportedQuantization", "blk.0.ffn_up.weight has type Q5_K"},
        Broken{"RowsThatBlocksDoNotDivide", [](GgufSpec& s) { s.tensors["blk.0.ffn_up.weight"].type = 8; },
               "CheckpointCorrupt", "blk.0.ffn_up.weight has rows of 8 columns"},
        Broken{"FiveSides",
               [](GgufSpec& s) {
                 s.tensors["output_norm.weight"].sides = {1, 1, 1, 1, 8};
               },
               "CheckpointCorrupt", "output_norm.weight has 5 dimensions"},
        Broken{"ASideOfZero", [](GgufSpec& s) { s.tensors["output_norm.weight"].sides = {0}; },
               "CheckpointCorrupt", "output_norm.weight has a side of 0"},
        Broken{"SidesThatOverflow",
               [](GgufSpec& s) {
                 s.tensors["output_norm.weight"].sides = {1ull << 40, 1ull << 40};
               },
               "CheckpointCorrupt", "larger than any memory"},
        Broken{"MoreDataThanTheFile",
               [](GgufSpec& s) {
                 s.tensors["token_embd.weight"].sides = {8, 5000};
               },
               "CheckpointCorrupt", "token_embd.weight takes 160000 bytes"},
        Broken{"AnOddAlignment", [](GgufSpec& s) { s.keys["general.alignment"] = 48u; }, "CheckpointCorrupt",
               "general.alignment is 48"},
        Broken{"AnOffsetBetweenAlignments", [](GgufSpec& s) { s.keys["general.alignment"] = 4096u; },
               "CheckpointCorrupt", "not a multiple of the alignment of 4096"},
        Broken{"NoEmbedding", [](GgufSpec& s) { s.tensors.erase("token_embd.weight"); },
               "CheckpointIncomplete", "token_embd.weight"}),
    [](const auto& info) { return info.param.what; });

TEST(Gguf, EveryShorterFileIsRefused) {
  const std::string whole = gguf_text(tiny_gguf_llama());
  for (size_t bytes = 0; bytes < whole.size(); bytes += bytes < 900 ? 1 : 97) {
    const std::string said = outcome(whole.substr(0, bytes));
    EXPECT_TRUE(said.starts_with("CheckpointCorrupt: model.gguf")) << bytes << ": " << said;
  }
  EXPECT_EQ(outcome(whole), "");
}

TEST(Gguf, ScalesThatAreNoNumbersAreRefused) {
  GgufSpec spec = tiny_gguf_llama();
  // A block of Q8_0 whose scale is infinite.
  spec.tensors["blk.0.ffn_up.weight"] = {8, {32, 1}, std::string("\x00\x7c", 2) + std::string(32, '\1')};
  EXPECT_NE(outcome(gguf_text(spec)).find("scale is not a finite number"), std::string::npos);
}

}  // namespace
}  // namespace llmservice::testing
