// Engines of a tiny model on one device that draw there, or bring logits to the host, and requests of every
// kind of sampling to compare them by.
#pragma once

#include "gpu_engine_support.h"

namespace llmservice::testing {

constexpr int32_t kVocab = 211;
constexpr int32_t kDrafts = 3;
constexpr int32_t kSequences = 7;
// Normalizers are summed in another order.
constexpr float kTolerance = 2e-6F;

// The n-th token has an id of n modulo 7; every third may be any. Under `opens`, the first may also be one
// that is of no such id where the model chooses it freely.
class Turns final : public Constraint {
 public:
  explicit Turns(std::optional<int32_t> opens) : opens_(opens) {}
  std::span<const uint32_t> allowed() override {
    if (turn_ % 3 == 2) return {};
    mask_.assign((kVocab + 31) / 32, 0);
    for (int32_t id = turn_ % 7; id < kVocab; id += 7) mask_[id / 32] |= 1U << (id % 32);
    return mask_;
  }
  std::optional<int32_t> opening() const override { return turn_ == 0 ? opens_ : std::nullopt; }
  void accept(int32_t) override { ++turn_; }

 private:
  std::optional<int32_t> opens_;
  int32_t turn_ = 0;
  std::vector<uint32_t> mask_;
};

class TurnsGrammar final : public Grammar {
 public:
  explicit TurnsGrammar(std::optional<int32_t> opens = std::nullopt) : opens_(opens) {}
  std::unique_ptr<Constraint> begin() const override { return std::make_unique<Turns>(opens_); }

 private:
  std::optional<int32_t> opens_;
};

class SampledEngine : public GpuEngine {
 protected:
  std::unique_ptr<gpu::GpuBackend> backend(bool samples) {
    return std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0, .graphs = 8, .samples = samples});
  }

  std::unique_ptr<Engine> engine_on(std::unique_ptr<Backend> backend, const Speculation& speculation,
                                    std::unique_ptr<Drafter> drafter = nullptr) {
    EngineOptions options = room_for_four(dir_, speculation);
    options.max_num_seqs = kSequences;
    options.num_blocks = kSequences * kBlocksPerSlot;
    options.dtype = DType::kBF16;
    options.checkpoint = dir_.checkpoint(GetParam().quantization);
    options.logit_hashes = true;
    return std::make_unique<Engine>(
        options, std::move(backend), [](auto, auto) {}, std::move(drafter));
  }

  std::vector<Said> said_by(bool samples, const std::vector<Request>& requests,
                            const Speculation& speculation, std::unique_ptr<Drafter> drafter = nullptr) {
    const auto engine = engine_on(backend(samples), speculation, std::move(drafter));
    return run_requests(*engine, requests, speculation.tokens);
  }

  void expect_same(const std::vector<Request>& requests, const Speculation& speculation = {}) {
    const auto wanted = said_by(false, requests, speculation);
    expect_same_as(wanted, said_by(true, requests, speculation));
  }

  void expect_same_as(const std::vector<Said>& wanted, const std::vector<Said>& got) {
    ASSERT_EQ(wanted.size(), got.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      SCOPED_TRACE("sequence " + std::to_string(i));
      EXPECT_EQ(got[i].tokens, wanted[i].tokens);
      EXPECT_EQ(got[i].finish, wanted[i].finish);
      EXPECT_EQ(got[i].steps, wanted[i].steps) << "the same drafts";
      EXPECT_EQ(got[i].top_tokens, wanted[i].top_tokens);
      expect_near(got[i].logprobs, wanted[i].logprobs);
      expect_near(got[i].top_logprobs, wanted[i].top_logprobs);
      ASSERT_EQ(got[i].fault.has_value(), wanted[i].fault.has_value());
      if (!wanted[i].fault) continue;
      EXPECT_EQ(got[i].fault->kind, wanted[i].fault->kind);
      EXPECT_EQ(got[i].fault->position, wanted[i].fault->position);
      EXPECT_EQ(got[i].fault->place.part, wanted[i].fault->place.part);
    }
  }

  static void expect_near(const std::vector<float>& got, const std::vector<float>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(wanted[i])) {
        EXPECT_TRUE(std::isnan(got[i])) << i;
      } else {
        EXPECT_NEAR(got[i], wanted[i], kTolerance * std::max(1.0F, std::fabs(wanted[i]))) << i;
      }
    }
  }

  static Request asking(int32_t slot, const SamplingParams& sampling, const TokenRules& rules = {},
                        std::vector<int32_t> stops = {}) {
    Request wanted = request(slot, 8 + 3 * slot, 8);
    wanted.admission.sampling = sampling;
    wanted.admission.rules = rules;
    wanted.admission.stop_tokens = std::move(stops);
    return wanted;
  }

  // One sequence of each kind of sampling.
  static std::vector<Request> four_kinds() {
    return {asking(0, {}), asking(1, {.temperature = 0.9F, .top_k = 30, .seed = 5, .top_logprobs = 4}),
            asking(2, {.temperature = 1.3F,
                       .top_p = 0.9F,
                       .seed = 6,
                       .repetition_penalty = 1.3F,
                       .presence_penalty = 0.4F,
                       .frequency_penalty = 0.3F,
                       .top_logprobs = 0}),
            asking(3, {.temperature = 1.0F, .min_p = 0.02F, .typical_p = 0.8F, .seed = 7})};
  }
};

}  // namespace llmservice::testing
