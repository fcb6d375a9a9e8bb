// Sequences whose drafts are tokens that the model has no sound numbers for, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "backends/cpu/backend.h"
#include "drafts_support.h"

namespace llmservice::testing {

constexpr int32_t kBadDrafts = 4;
constexpr int32_t kGenerated = 28;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline const std::string kRoot = "model.language_model.";

// With a head of its own, so that a token whose embedding is bad can be drawn.
inline void write_model(TempDir& dir, const Tensors& tensors) {
  ModelConfig config = tiny_hybrid_config();
  config.tied_head = false;
  write_checkpoint(dir, config, tensors);
}

inline Tensors sound_tensors() {
  Tensors tensors = tiny_hybrid_tensors();
  tensors["lm_head.weight"] = tensors[kRoot + "embed_tokens.weight"];
  add_mtp(tensors);
  return tensors;
}

inline void spoil(Tensors& tensors, const std::string& name, size_t index) {
  const uint16_t bits = float_to_bf16(kNan);
  std::memcpy(tensors.at(name).bytes.data() + 2 * index, &bits, 2);
}

// Three sequences side by side; greedy ones of random weights repeat themselves too soon.
inline std::vector<Request> requests() {
  std::vector<Request> all;
  for (const auto& [slot, length] : {std::pair{0, 70}, {1, 9}, {2, 64}}) {
    std::vector<int32_t> tokens(length);
    for (int32_t i = 0; i < length; ++i) tokens[i] = (i * 31 + slot * 17 + 5) % 100;
    all.push_back({.admission = {.slot = slot,
                                 .tokens = std::move(tokens),
                                 .prompt_length = length,
                                 .max_length = length + kGenerated,
                                 .stop_tokens = {},
                                 .sampling = {.temperature = 1.0F, .seed = 7, .top_logprobs = 1}}});
  }
  return all;
}

inline bool has(const std::vector<int32_t>& tokens, int32_t token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

// Of each step's drafts the first few are right as the script says, and all others are one bad token.
class BadDrafter final : public Drafter {
 public:
  BadDrafter(std::vector<std::vector<int32_t>> truths, std::vector<int32_t> right, int32_t bad)
      : truths_(std::move(truths)), right_(std::move(right)), bad_(bad) {}

  void draft(const DraftStep& step, SlotTable& slots) override {
    for (const Segment& segment : step.segments) {
      Slot& slot = slots.at(segment.slot);
      const int32_t room = slot.room_for_drafts(step.drafts);
      const std::vector<int32_t>& truth = truths_.at(segment.slot);
      const int32_t right = right_[calls_++ % right_.size()];
      for (int32_t i = 0; i < room; ++i) slot.drafts.push_back(i < right ? truth[slot.known() + i] : bad_);
    }
  }

 private:
  std::vector<std::vector<int32_t>> truths_;
  std::vector<int32_t> right_;
  size_t calls_ = 0;
  int32_t bad_;
};

// Puts a NaN into the residual of rows with one token, in the n-th addition to it: two for each layer.
class SpoilingBackend final : public ReferenceBackend {
 public:
  SpoilingBackend(int32_t token, int32_t addition) : token_(token), addition_(addition) {}

  void gather(const Matrix& table, std::span<const int32_t> ids, float* out) override {
    ReferenceBackend::gather(table, ids, out);
    ids_.assign(ids.begin(), ids.end());
    additions_ = 0;
  }
  void add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks) override {
    for (int64_t row = 0; row < rows && y != nullptr && additions_ == addition_; ++row) {
      if (ids_[row] == token_) x[row * dim + 3] = kNan;
    }
    if (y != nullptr) ++additions_;
    ReferenceBackend::add_rms_norm(x, y, weight, eps, rows, dim, out, marks);
  }

 private:
  int32_t token_;
  int32_t addition_;
  std::vector<int32_t> ids_;
  int32_t additions_ = 0;
};

inline EngineOptions options_for(const TempDir& dir, DraftMethod method,
                                 std::optional<RankPlace> place = std::nullopt) {
  return room_for_four(dir, {method, method == DraftMethod::kNone ? 0 : kBadDrafts}, place);
}

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

inline std::vector<Said> plain(const TempDir& dir, const MakeBackend& make_backend) {
  Engine engine(options_for(dir, DraftMethod::kNone), make_backend(), [](auto, auto) {});
  return run_requests(engine, requests(), 0);
}

inline std::vector<Said> drafted(const TempDir& dir, const MakeBackend& make_backend,
                                 std::unique_ptr<Drafter> drafter) {
  Engine engine(
      options_for(dir, DraftMethod::kNgram), make_backend(), [](auto, auto) {}, std::move(drafter));
  return run_requests(engine, requests(), kBadDrafts);
}

inline std::string fault_text(const std::optional<Fault>& fault) {
  if (!fault) return "none";
  const std::string layer = fault->place.layer ? "layer " + std::to_string(*fault->place.layer) + " " : "";
  return layer + fault->place.part + " at " + std::to_string(fault->position);
}

// Equal to the last bit; the last logprob of one that failed is none.
inline void expect_same(const std::vector<Said>& actual, const std::vector<Said>& expected,
                        const std::string& what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(what + ", sequence " + std::to_string(i));
    EXPECT_EQ(fault_text(actual[i].fault), fault_text(expected[i].fault));
    EXPECT_EQ(actual[i].finish, expected[i].finish);
    EXPECT_EQ(actual[i].tokens, expected[i].tokens);
    const size_t sound = expected[i].logprobs.size() - (expected[i].fault ? 1 : 0);
    EXPECT_TRUE(
        std::ranges::equal(std::span(actual[i].logprobs).first(std::min(sound, actual[i].logprobs.size())),
                           std::span(expected[i].logprobs).first(sound)));
    EXPECT_EQ(actual[i].top_logprobs, expected[i].top_logprobs);
  }
}

inline const std::vector<std::vector<int32_t>> kScripts = {{0}, {2}, {0, 4, 1, 3, 2, 2, 0, 0, 4}};

// A token that only the first sequence says, there not before its fourth.
inline int32_t own_token(const std::vector<Said>& said) {
  const std::vector<int32_t>& tokens = said[0].tokens;
  const auto all = requests();
  for (size_t i = 3; i + 10 < tokens.size(); ++i) {
    const bool first = std::find(tokens.begin(), tokens.begin() + i, tokens[i]) == tokens.begin() + i;
    const bool prompted =
        std::ranges::any_of(all, [&](const Request& r) { return has(r.admission.tokens, tokens[i]); });
    if (first && !prompted && !has(said[1].tokens, tokens[i]) && !has(said[2].tokens, tokens[i]))
      return tokens[i];
  }
  ADD_FAILURE() << "no such token";
  return 0;
}

inline int32_t token_of_nobody(const std::vector<Said>& said) {
  int32_t token = 100;
  while (std::ranges::any_of(said, [&](const Said& s) { return has(s.tokens, token); })) ++token;
  return token;
}

}  // namespace llmservice::testing
