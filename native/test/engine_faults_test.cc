// Non-finite or collapsed logits: found in the step that makes them, named by place, and the end of their
// sequence alone. Faults are put into the weights of a checkpoint.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/engine.h"
#include "failures.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kBadToken = 9;
const std::string kRoot = "model.language_model.";

// A hybrid of a GDN layer 0 and an attention layer 1, with a head of its own.
Tensors untied_hybrid() {
  Tensors tensors = tiny_hybrid_tensors();
  tensors["lm_head.weight"] = tensors[kRoot + "embed_tokens.weight"];
  return tensors;
}

void put(Tensors& tensors, const std::string& name, size_t index, float value) {
  const uint16_t bits = float_to_bf16(value);
  std::memcpy(tensors.at(name).bytes.data() + 2 * index, &bits, 2);
}

void fill(Tensors& tensors, const std::string& name, float value) {
  const size_t count = tensors.at(name).bytes.size() / 2;
  for (size_t i = 0; i < count; ++i) put(tensors, name, i, value);
}

Admission admission(int32_t slot, std::vector<int32_t> tokens) {
  const auto length = static_cast<int32_t>(tokens.size());
  return {.slot = slot,
          .tokens = std::move(tokens),
          .prompt_length = length,
          .max_length = 240,
          .stop_tokens = {},
          .sampling = {.temperature = 0.8F, .seed = 11, .top_logprobs = 1}};
}

std::vector<int32_t> good_tokens(int32_t length) {
  std::vector<int32_t> tokens(length);
  for (int32_t i = 0; i < length; ++i) tokens[i] = 10 + (i * 31) % 200;
  return tokens;
}

StepPlan start(const std::vector<Admission>& all) {
  StepPlan plan;
  for (const Admission& a : all) {
    plan.admit.push_back(a);
    for (int32_t i = 0; i < 15; ++i) plan.blocks.push_back({a.slot, a.slot * 15 + i});
    plan.rows.push_back({a.slot, static_cast<int32_t>(a.tokens.size())});
  }
  return plan;
}

StepPlan rows(std::vector<RowEntry> entries) {
  StepPlan plan;
  plan.rows = std::move(entries);
  return plan;
}

class Faults : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Backend> make_backend() {
    if (std::string(GetParam()) == "reference") return std::make_unique<ReferenceBackend>();
    return make_cpu_backend({.threads = 2, .isa = GetParam()});
  }

  std::unique_ptr<Engine> load(const Tensors& tensors, std::unique_ptr<Backend> backend) {
    ModelConfig config = tiny_hybrid_config();
    config.tied_head = false;
    write_checkpoint(dir_, config, tensors);
    const EngineOptions options{.checkpoint = dir_.checkpoint(),
                                .block_size = 16,
                                .num_blocks = 60,
                                .max_num_seqs = 4,
                                .max_model_len = 240,
                                .max_num_batched_tokens = 256,
                                .dtype = DType::kF32};
    return std::make_unique<Engine>(options, std::move(backend), [](auto, auto) {});
  }
  std::unique_ptr<Engine> load(const Tensors& tensors) { return load(tensors, make_backend()); }

  TempDir dir_;
};

std::string fault_text(const Fault& fault) {
  const char* kinds[] = {"not finite", "collapsed", "stuck"};
  const std::string layer = fault.place.layer ? "layer " + std::to_string(*fault.place.layer) + " " : "";
  return std::string(kinds[static_cast<int>(fault.kind)]) + ": " + layer + fault.place.part;
}

TEST_P(Faults, ThePlaceThatMakesThemIsNamed) {
  const struct {
    const char* tensor;
    float value;
    const char* expected;
  } table[] = {
      {"layers.0.input_layernorm.weight", kNan, "not finite: layer 0 input norm"},
      {"layers.0.linear_attn.in_proj_qkv.weight", kNan, "not finite: layer 0 Gated DeltaNet"},
      {"layers.0.linear_attn.A_log", kNan, "not finite: layer 0 Gated DeltaNet"},
      {"layers.0.linear_attn.out_proj.weight", kInfinity, "not finite: layer 0 Gated DeltaNet"},
      {"layers.0.post_attention_layernorm.weight", kInfinity, "not finite: layer 0 post-attention norm"},
      {"layers.0.mlp.gate_proj.weight", kNan, "not finite: layer 0 feed-forward"},
      {"layers.1.input_layernorm.weight", kNan, "not finite: layer 1 input norm"},
      {"layers.1.self_attn.k_proj.weight", kNan, "not finite: layer 1 attention"},
      {"layers.1.self_attn.o_proj.weight", kInfinity, "not finite: layer 1 attention"},
      {"layers.1.mlp.down_proj.weight", kNan, "not finite: layer 1 feed-forward"},
      {"norm.weight", kNan, "not finite: final norm and head"},
  };
  for (const auto& [tensor, value, expected] : table) {
    Tensors tensors = untied_hybrid();
    put(tensors, kRoot + tensor, 3, value);
    const StepResult result = load(tensors)->step(start({admission(2, good_tokens(5))}));
    ASSERT_EQ(result.faults.size(), 1U) << tensor;
    EXPECT_EQ(fault_text(result.faults[0]), expected) << tensor;
    EXPECT_EQ(result.faults[0].slot, 2);
    EXPECT_EQ(result.finish, std::vector<Finish>{Finish::kNumericalFault}) << tensor;
  }
}

TEST_P(Faults, ATokenThatMakesThemIsFoundBeforeItsPromptEnds) {
  Tensors tensors = untied_hybrid();
  put(tensors, kRoot + "embed_tokens.weight", kBadToken * 64 + 7, kNan);
  const auto engine = load(tensors);
  std::vector<int32_t> tokens = good_tokens(100);
  tokens[40] = kBadToken;
  StepPlan plan = start({admission(1, tokens)});
  plan.rows = {{1, 64}};
  const StepResult result = engine->step(plan);
  ASSERT_EQ(result.faults.size(), 1U);
  EXPECT_EQ(fault_text(result.faults[0]), "not finite: embedding");
  EXPECT_EQ(result.faults[0].position, 40);
  EXPECT_TRUE(result.slots.empty());
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(rows({{1, 36}})); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "has ended"));
}

// Slots 0 and 2 beside a faulty sequence in slot 1, and slot 1's room used again: bits as without it.
TEST_P(Faults, NeighboursAndThoseWhoFollowAreAsIfNothingHadHappened) {
  Tensors tensors = untied_hybrid();
  put(tensors, kRoot + "embed_tokens.weight", kBadToken * 64 + 7, kNan);
  const auto run = [&](bool with_fault) {
    const auto engine = load(tensors);
    std::vector<Admission> all{admission(0, good_tokens(70)), admission(2, good_tokens(7))};
    std::vector<int32_t> bad = good_tokens(70);
    bad[33] = kBadToken;
    if (with_fault) all.insert(all.begin() + 1, admission(1, bad));
    std::vector<float> logprobs;
    const auto note = [&](const StepResult& result) {
      for (size_t i = 0; i < result.slots.size(); ++i) {
        if (result.finish[i] != Finish::kNumericalFault) logprobs.push_back(result.logprobs[i]);
      }
      return result.faults.size();
    };
    EXPECT_EQ(note(engine->step(start(all))), with_fault ? 1U : 0U);
    note(engine->step(rows({{0, 1}, {2, 1}})));
    StepPlan next = start({admission(1, good_tokens(67))});
    if (with_fault) next.release = {1};
    next.rows.push_back({2, 1});
    note(engine->step(next));
    note(engine->step(rows({{1, 1}, {0, 1}})));
    return logprobs;
  };
  const std::vector<float> alone = run(false);
  EXPECT_EQ(alone.size(), 8U);
  EXPECT_EQ(run(true), alone);
}

TEST_P(Faults, EqualLogitsAreACollapse) {
  Tensors tensors = untied_hybrid();
  fill(tensors, kRoot + "norm.weight", -1);  // this family multiplies by 1 + w
  const StepResult result = load(tensors)->step(start({admission(0, good_tokens(3))}));
  ASSERT_EQ(result.faults.size(), 1U);
  EXPECT_EQ(fault_text(result.faults[0]), "collapsed: final norm and head");
}

// Every token looks alike to this model, and its mixers say nothing.
TEST_P(Faults, LogitsThatNeverChangeAreStuckWhileARepeatedTokenAloneIsNot) {
  Tensors tensors = untied_hybrid();
  for (const char* out : {"layers.0.linear_attn.out_proj.weight", "layers.1.self_attn.o_proj.weight"}) {
    fill(tensors, kRoot + out, 0);
  }
  std::string& embedding = tensors[kRoot + "embed_tokens.weight"].bytes;
  for (size_t token = 1; token < 211; ++token) embedding.replace(token * 128, 128, embedding, 0, 128);
  const auto tokens_until_fault = [&](const Tensors& weights, const SamplingParams& sampling) {
    const auto engine = load(weights);
    Admission a = admission(0, good_tokens(3));
    a.sampling = sampling;
    StepResult result = engine->step(start({a}));
    const int32_t token = result.tokens[0];
    int32_t steps = 1;
    for (; result.faults.empty() && steps < 200; ++steps) {
      EXPECT_EQ(result.tokens[0], token);
      result = engine->step(rows({{0, 1}}));
    }
    if (!result.faults.empty()) EXPECT_EQ(fault_text(result.faults[0]), "stuck: final norm and head");
    return steps;
  };
  EXPECT_EQ(tokens_until_fault(tensors, {}), 1 + LogitsRun::kStuckLength);
  // A sound model that is made to repeat its first token.
  EXPECT_EQ(tokens_until_fault(untied_hybrid(), {.frequency_penalty = -100}), 200);
}

INSTANTIATE_TEST_SUITE_P(Backends, Faults, ::testing::Values("reference", "portable", "auto"),
                         [](const auto& info) { return std::string(info.param); });

// Fails like a device: in the midst of a step.
class LosableBackend final : public ReferenceBackend {
 public:
  void matmul(const Matrix& w, const float* x, int64_t count, float* out) override {
    if (lost) throw EngineError(FailureReason::kEngineFault, "the device fell off the bus");
    ReferenceBackend::matmul(w, x, count, out);
  }
  bool lost = false;
};

TEST_F(Faults, AnErrorInTheMidstOfAStepPoisonsTheEngine) {
  auto backend = std::make_unique<LosableBackend>();
  LosableBackend& device = *backend;
  const auto engine = load(untied_hybrid(), std::move(backend));
  engine->step(start({admission(0, good_tokens(3))}));
  device.lost = true;
  EXPECT_EQ(failure_of([&] { engine->step(rows({{0, 1}})); }), "EngineFault");
  device.lost = false;
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(rows({{0, 1}})); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "the device fell off the bus"));
  EXPECT_TRUE(contains(message, "Load the engine again"));
}

}  // namespace
}  // namespace llmservice
