// Non-finite logits in rows of drafts: a row that counts fails its sequence as the same row fails it
// without drafts; a row that is rejected, and a layer that drafts, fail nobody and change no bit.
#include <gtest/gtest.h>

#include "draft_faults_support.h"
#include "parallel_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

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
  EXPECT_EQ(fault_text(expected[0].fault), "embedding at " + std::to_string(70 + said));
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
  TempDir dir;
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
        EXPECT_TRUE(fault_text(expected[0].fault).starts_with(places[addition]))
            << fault_text(expected[0].fault);
      } else {
        EXPECT_TRUE(expected[0].same_as(sound[0]));
      }
      auto drafter = std::make_unique<BadDrafter>(truths_of(requests(), sound), kScripts.back(), bad);
      expect_same(drafted(dir, backend, std::move(drafter)), expected, places[addition]);
    }
  }
}

// Only rank 0 sees faults; the others must still draft, accept and continue as it does.
TEST(DraftFaultsOnRanks, EndAsOnOneRank) {
  TempDir dir;
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
    said = run_requests(*engine, requests(), kBadDrafts);
  }
  follower.join();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(fault_text(said[i].fault), fault_text(expected[i].fault));
    EXPECT_EQ(said[i].tokens, expected[i].tokens);
  }
}

// A layer with non-finite logits costs speed and no answer.
TEST(DraftFaultsOfTheLayer, LeaveAnswersAsTheyAreAndDraftNothing) {
  const MakeBackend backend = [] { return make_cpu_backend({.threads = 2}); };
  for (const char* name : {"mtp.fc.weight", "mtp.norm.weight", "mtp.pre_fc_norm_hidden.weight",
                           "mtp.layers.0.self_attn.v_proj.weight", "mtp.layers.0.mlp.down_proj.weight"}) {
    TempDir dir;
    Tensors tensors = sound_tensors();
    spoil(tensors, name, 5);
    write_model(dir, tensors);
    const std::vector<Said> expected = plain(dir, backend);
    Engine engine(options_for(dir, DraftMethod::kMtp), backend(), [](auto, auto) {});
    const std::vector<Said> said = run_requests(engine, requests(), kBadDrafts);
    expect_same(said, expected, name);
    for (const Said& each : said) EXPECT_EQ(each.steps, kGenerated) << name;
  }
}

}  // namespace
}  // namespace llmservice
