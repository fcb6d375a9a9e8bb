// Numbers that mean nothing in rows of drafts: a row that counts fails its sequence as the same row fails it
// without drafts; a row that is rejected, and a layer that drafts, fail nobody and change no bit.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "parallel_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kDrafts = 4;
constexpr int32_t kGenerated = 40;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::string kRoot = "model.language_model.";

// With a head of its own, so that a token whose embedding is bad can be drawn.
void write_model(const TempDir& dir, const Tensors& tensors) {
  nlohmann::json config = tiny_hybrid_config();
  config["text_config"]["tie_word_embeddings"] = false;
  config["tie_word_embeddings"] = false;
  write_checkpoint(dir, config, tensors);
}

Tensors sound_tensors() {
  Tensors tensors = tiny_hybrid_tensors();
  tensors["lm_head.weight"] = tensors[kRoot + "embed_tokens.weight"];
  add_mtp(tensors);
  return tensors;
}

void spoil(Tensors& tensors, const std::string& name, size_t index) {
  const uint16_t bits = float_to_bf16(kNan);
  std::memcpy(tensors.at(name).bytes.data() + 2 * index, &bits, 2);
}

// Three sequences side by side; greedy ones of random weights repeat themselves too soon.
std::vector<Request> requests() {
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

bool has(const std::vector<int32_t>& tokens, int32_t token) {
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
  void add(float* x, const float* y, int64_t count) override {
    ReferenceBackend::add(x, y, count);
    if (additions_++ != addition_) return;
    const auto rows = static_cast<int64_t>(ids_.size());
    for (int64_t row = 0; row < rows; ++row) {
      if (ids_[row] == token_) x[row * (count / rows) + 3] = kNan;
    }
  }

 private:
  int32_t token_;
  int32_t addition_;
  std::vector<int32_t> ids_;
  int32_t additions_ = 0;
};

EngineOptions options_for(const TempDir& dir, DraftMethod method,
                          std::optional<RankPlace> place = std::nullopt) {
  return {.model_dir = dir.path(),
          .block_size = 16,
          .num_blocks = 4 * kBlocksPerSlot,
          .max_num_seqs = 4,
          .max_model_len = 256,
          .max_num_batched_tokens = 256,
          .dtype = DType::kF32,
          .speculation = {method, method == DraftMethod::kNone ? 0 : kDrafts},
          .place = place};
}

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

std::vector<Said> plain(const TempDir& dir, const MakeBackend& make_backend) {
  Engine engine(options_for(dir, DraftMethod::kNone), make_backend(), [](auto, auto) {});
  return run_requests(engine, requests(), 0);
}

std::vector<Said> drafted(const TempDir& dir, const MakeBackend& make_backend,
                          std::unique_ptr<Drafter> drafter) {
  Engine engine(
      options_for(dir, DraftMethod::kNgram), make_backend(), [](auto, auto) {}, std::move(drafter));
  return run_requests(engine, requests(), kDrafts);
}

std::string told(const std::optional<Fault>& fault) {
  if (!fault) return "none";
  const std::string layer = fault->place.layer ? "layer " + std::to_string(*fault->place.layer) + " " : "";
  return layer + fault->place.part + " at " + std::to_string(fault->position);
}

// Equal to the last bit; the last logprob of one that failed is none.
void expect_same(const std::vector<Said>& actual, const std::vector<Said>& expected,
                 const std::string& what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(what + ", sequence " + std::to_string(i));
    EXPECT_EQ(told(actual[i].fault), told(expected[i].fault));
    EXPECT_EQ(actual[i].finish, expected[i].finish);
    EXPECT_EQ(actual[i].tokens, expected[i].tokens);
    const size_t sound = expected[i].logprobs.size() - (expected[i].fault ? 1 : 0);
    EXPECT_TRUE(
        std::ranges::equal(std::span(actual[i].logprobs).first(std::min(sound, actual[i].logprobs.size())),
                           std::span(expected[i].logprobs).first(sound)));
    EXPECT_EQ(actual[i].top_logprobs, expected[i].top_logprobs);
  }
}

const std::vector<std::vector<int32_t>> kScripts = {{0}, {1}, {2}, {3}, {4}, {0, 4, 1, 3, 2, 2, 0, 0, 4}};

// A token that only the first sequence says, there not before its fourth.
int32_t own_token(const std::vector<Said>& said) {
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

int32_t token_of_nobody(const std::vector<Said>& said) {
  int32_t token = 100;
  while (std::ranges::any_of(said, [&](const Said& s) { return has(s.tokens, token); })) ++token;
  return token;
}

class DraftFaults : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    write_model(dir_, tensors_);
    sound_ = plain(dir_, backend());
  }
  MakeBackend backend() const {
    const char* const name = GetParam();
    if (std::string(name) == "reference") return [] { return std::make_unique<ReferenceBackend>(); };
    return [name] { return make_cpu_backend({.threads = 2, .isa = name}); };
  }
  void spoil_embedding(int32_t token) {
    spoil(tensors_, kRoot + "embed_tokens.weight", token * 64 + 7);
    write_model(dir_, tensors_);
  }

  TempDir dir_;
  Tensors tensors_ = sound_tensors();
  std::vector<Said> sound_;
};

TEST_P(DraftFaults, InRejectedRowsFailNobodyAndChangeNoBit) {
  const int32_t bad = token_of_nobody(sound_);
  spoil_embedding(bad);
  for (const auto& right : kScripts) {
    auto drafter = std::make_unique<BadDrafter>(truths_of(requests(), sound_), right, bad);
    expect_same(drafted(dir_, backend(), std::move(drafter)), sound_, "right " + std::to_string(right[0]));
  }
}

TEST_P(DraftFaults, InAcceptedRowsFailTheirSequenceAloneAndAsWithoutDrafts) {
  const int32_t bad = own_token(sound_);
  spoil_embedding(bad);
  const std::vector<Said> expected = plain(dir_, backend());
  const auto said = static_cast<int32_t>(std::ranges::find(sound_[0].tokens, bad) - sound_[0].tokens.begin());
  EXPECT_EQ(told(expected[0].fault), "embedding at " + std::to_string(70 + said));
  EXPECT_EQ(expected[0].finish, Finish::kNumericalFault);
  for (const size_t neighbour : {1U, 2U}) EXPECT_TRUE(expected[neighbour].same_as(sound_[neighbour]));
  for (const auto& right : kScripts) {
    auto drafter = std::make_unique<BadDrafter>(truths_of(requests(), sound_), right, bad);
    expect_same(drafted(dir_, backend(), std::move(drafter)), expected, "right " + std::to_string(right[0]));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, DraftFaults, ::testing::Values("reference", "portable", "auto"),
                         [](const auto& info) { return std::string(info.param); });

// Layer 0 is a Gated DeltaNet, layer 1 attention.
TEST(DraftFaultsInLayers, AreNamedByTheLayerAsWithoutDrafts) {
  const TempDir dir;
  write_model(dir, sound_tensors());
  const auto sound = plain(dir, [] { return std::make_unique<ReferenceBackend>(); });
  const char* places[] = {"layer 0 Gated DeltaNet", "layer 0 feed-forward", "layer 1 attention",
                          "layer 1 feed-forward"};
  for (int32_t addition = 0; addition < 4; ++addition) {
    for (const bool accepted : {false, true}) {
      const int32_t bad = accepted ? own_token(sound) : token_of_nobody(sound);
      const MakeBackend backend = [&] { return std::make_unique<SpoilingBackend>(bad, addition); };
      const std::vector<Said> expected = plain(dir, backend);
      if (accepted) {
        EXPECT_TRUE(told(expected[0].fault).starts_with(places[addition])) << told(expected[0].fault);
      } else {
        EXPECT_TRUE(expected[0].same_as(sound[0]));
      }
      for (const auto& right : kScripts) {
        auto drafter = std::make_unique<BadDrafter>(truths_of(requests(), sound), right, bad);
        expect_same(drafted(dir, backend, std::move(drafter)), expected, places[addition]);
      }
    }
  }
}

// Only rank 0 sees faults; the others must still draft, accept and go on as it does.
TEST(DraftFaultsOnRanks, EndAsOnOneRank) {
  const TempDir dir;
  Tensors tensors = sound_tensors();
  write_model(dir, tensors);
  const MakeBackend backend = [] { return std::make_unique<ReferenceBackend>(); };
  const std::vector<Said> sound = plain(dir, backend);
  const int32_t bad = own_token(sound);
  spoil(tensors, kRoot + "embed_tokens.weight", bad * 64 + 7);
  write_model(dir, tensors);
  const std::vector<Said> expected = plain(dir, backend);
  const TestSegment segment(2);
  const auto load = [&](int32_t rank) {
    return std::make_unique<Engine>(
        options_for(dir, DraftMethod::kNgram, RankPlace{rank, 2, segment.descriptor()}), backend(),
        [](auto, auto) {},
        std::make_unique<BadDrafter>(truths_of(requests(), sound), std::vector<int32_t>{4, 0, 2, 1}, bad));
  };
  std::thread follower([&] { load(1)->follow(); });
  std::vector<Said> said;
  {
    const auto engine = load(0);
    said = run_requests(*engine, requests(), kDrafts);
  }
  follower.join();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(told(said[i].fault), told(expected[i].fault));
    EXPECT_EQ(said[i].tokens, expected[i].tokens);
  }
}

// A layer whose numbers mean nothing costs speed and no answer.
TEST(DraftFaultsOfTheLayer, LeaveAnswersAsTheyAreAndDraftNothing) {
  const MakeBackend backend = [] { return make_cpu_backend({.threads = 2}); };
  for (const char* name : {"mtp.fc.weight", "mtp.norm.weight", "mtp.pre_fc_norm_hidden.weight",
                           "mtp.layers.0.self_attn.v_proj.weight", "mtp.layers.0.mlp.down_proj.weight"}) {
    const TempDir dir;
    Tensors tensors = sound_tensors();
    spoil(tensors, name, 5);
    write_model(dir, tensors);
    const std::vector<Said> expected = plain(dir, backend);
    Engine engine(options_for(dir, DraftMethod::kMtp), backend(), [](auto, auto) {});
    const std::vector<Said> said = run_requests(engine, requests(), kDrafts);
    expect_same(said, expected, name);
    for (const Said& each : said) EXPECT_EQ(each.steps, kGenerated) << name;
  }
}

}  // namespace
}  // namespace llmservice
