// KV that goes from one engine to another: the second answers as the first does, to the last bit, or is
// refused by a reason.
#include "parallel_support.h"
#include "transfer_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;
using namespace std::chrono_literals;

class KvMoves : public Transfers {
 protected:
  std::unique_ptr<Backend> backend() const override { return make_cpu_backend({.threads = 1}); }
};

TEST_F(KvMoves, GiveTheSameBits) {
  write_attention();
  expect_the_same_bits(options(std::nullopt));
  EngineOptions fp8 = options(std::nullopt);
  fp8.kv_dtype = DType::kF8E4M3;
  expect_the_same_bits(fp8);
}

TEST_F(KvMoves, GiveTheSameBitsWithASnapshot) {
  write_hybrid();
  expect_the_same_bits(options(std::nullopt));
}

TEST_F(KvMoves, GoFromEachRankToItsLike) {
  write_hybrid();
  const int32_t port = free_ports(2);
  const TestSegment segments[]{TestSegment(2), TestSegment(2)};
  std::vector<std::thread> followers;
  const auto lead = [&](int32_t which, std::optional<int32_t> listen) {
    EngineOptions with = options(listen);
    with.place = RankPlace{1, 2, segments[which].descriptor()};
    followers.emplace_back([this, with] { load(with)->follow(); });
    with.place->rank = 0;
    return load(with);
  };
  auto there = lead(0, port);
  auto here = lead(1, std::nullopt);
  const Answer expected = compute(*there);
  there->offer_kv(offer());
  const FetchState state = run(*here, fetch(port));
  EXPECT_EQ(state.message, "");
  EXPECT_EQ(state.snapshot_at, kMoved);
  EXPECT_EQ(go_on(*here), expected);
  there->withdraw_kv("t");
  EXPECT_EQ(run(*here, fetch(port)).failure, FetchFailure::kUnknownTicket);
  // What rank 1 has is not for rank 0, and rank 1 finds nobody there.
  const FetchState shifted = run(*here, fetch(port + 1));
  EXPECT_TRUE(shifted.failure == FetchFailure::kLayoutDiffers ||
              shifted.failure == FetchFailure::kUnreachable);
  here.reset();
  there.reset();
  for (std::thread& follower : followers) follower.join();
}

TEST_F(KvMoves, AreRefusedByReason) {
  write_hybrid();
  const int32_t port = free_ports(1);
  const auto there = load(port);
  const auto here = load(std::nullopt);
  const Answer expected = compute(*there);
  const auto failure = [&](const KvFetch& asked) { return run(*here, asked).failure; };

  EXPECT_EQ(failure(fetch(port)), FetchFailure::kUnknownTicket);
  there->offer_kv(offer());
  KvFetch fewer = fetch(port);
  fewer.blocks.pop_back();
  EXPECT_EQ(failure(fewer), FetchFailure::kUnknownTicket);
  EXPECT_EQ(failure(fetch(free_ports(1))), FetchFailure::kUnreachable);
  KvFetch nowhere = fetch(port);
  nowhere.host = "no-such-name.invalid";
  EXPECT_EQ(failure(nowhere), FetchFailure::kUnreachable);

  EngineOptions other = options(std::nullopt);
  other.transfer->identity = "other";
  const FetchState state = run(*load(other), fetch(port));
  EXPECT_EQ(state.failure, FetchFailure::kLayoutDiffers);
  EXPECT_TRUE(contains(state.message, "127.0.0.1:" + std::to_string(port)));
  EXPECT_TRUE(contains(state.message, "other"));

  there->withdraw_kv("t");
  EXPECT_EQ(failure(fetch(port)), FetchFailure::kUnknownTicket);
  there->offer_kv(offer());
  EXPECT_EQ(failure(fetch(port)), FetchFailure::kNone);
  EXPECT_EQ(go_on(*here), expected);
}

TEST_F(KvMoves, LeaveBlocksAloneThatPlansWriteTo) {
  write_attention();
  const auto engine = load(free_ports(1));
  compute(*engine);
  std::string message;
  const auto refused = [&](const auto& work) {
    EXPECT_EQ(failure_of(work, &message), "EngineFault");
    return message;
  };
  engine->offer_kv(offer());
  EXPECT_TRUE(contains(refused([&] { compute(*engine); }), "names block 3 to be written"));
  EXPECT_TRUE(contains(refused([&] {
                         KvFetch onto_offered = fetch(1);
                         onto_offered.blocks = {6};
                         engine->fetch_kv(onto_offered);
                       }),
                       "blocks[0] is 6, which is in use."));
  engine->withdraw_kv("t");
  compute(*engine);
  KvOffer unwritten = offer();
  unwritten.blocks = {4, 15};
  EXPECT_TRUE(contains(refused([&] { engine->offer_kv(unwritten); }), "blocks[1] is 15, whose tokens"));
  unwritten.blocks = {4, 4};
  EXPECT_TRUE(contains(refused([&] { engine->offer_kv(unwritten); }), "blocks[1] is 4, as another"));
  unwritten.blocks = {16};
  EXPECT_TRUE(contains(refused([&] { engine->offer_kv(unwritten); }), "blocks[0] is 16, which is no block"));
  EXPECT_TRUE(contains(refused([&] { engine->fetched_kv(1); }), "names a fetch that is not there"));

  // Nothing answers, so it does not end by itself.
  const int32_t port = free_ports(1);
  const Stranger silent([](Wire&, Wire::Peer, Wire::Bytes) {}, port);
  KvFetch onto = fetch(port);
  onto.blocks = offer().blocks;
  engine->fetch_kv(onto);
  EXPECT_TRUE(contains(refused([&] { engine->offer_kv(offer()); }), "blocks[0] is 3, whose tokens"));
  EXPECT_TRUE(contains(refused([&] { compute(*engine); }), "names block 3 to be written"));
  engine->end_fetch(onto.id);
  engine->end_fetch(onto.id);
  compute(*engine);
}

}  // namespace
}  // namespace llmservice
