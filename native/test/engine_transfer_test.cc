// KV that goes from one engine to another: the second answers as the first does, to the last bit, and whoever
// dies, stalls or lies ends one fetch and nothing else.
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

// What an engine that offers might say, and what comes of it.
TEST_F(KvMoves, SurviveWhoeverTheyFetchFrom) {
  write_attention();
  EngineOptions with = options(std::nullopt);
  with.transfer_limits.silence = 300ms;
  const auto here = load(with);
  const auto there_port = free_ports(1);
  const auto there = load(there_port);
  const Answer expected = compute(*there);
  there->offer_kv(offer());

  const auto failure = [&](const Stranger::Says& says) {
    const int32_t port = free_ports(1);
    const Stranger stranger(says, port);
    const FetchState state = run(*here, fetch(port));
    return name_of(state.failure) + (": " + state.message.substr(state.message.find(": ") + 2));
  };
  const auto bytes = static_cast<size_t>(here->info().kv_bytes_per_block);
  const auto as_it_is = [](std::vector<std::byte>&) {};

  EXPECT_EQ(failure([](Wire&, Wire::Peer, Wire::Bytes) {}), "timedOut: nothing came for 300 ms");
  EXPECT_EQ(failure([](Wire& wire, Wire::Peer from, Wire::Bytes) { wire.post(from, {std::byte{7}}); }),
            "corrupt: what came is no part of an answer");
  EXPECT_EQ(failure([](Wire& wire, Wire::Peer from, Wire::Bytes) {
              wire.post(from, to_message(OfferAnswer{.snapshot_at = 64}));
            }),
            "corrupt: what came is no answer to the question");
  EXPECT_EQ(failure(answering([](std::vector<std::byte>& part) { part.back() ^= std::byte{1}; }, bytes)),
            "corrupt: part 0 of 4 is not as it was sent");
  EXPECT_EQ(failure(answering(as_it_is, bytes - 1)), "corrupt: part 0 has " + std::to_string(bytes - 1) +
                                                         " bytes in place of " + std::to_string(bytes));
  EXPECT_EQ(failure(answering(
                [](std::vector<std::byte>& part) {
                  part = part_message(4, 1);
                  seal(part);
                },
                bytes)),
            "corrupt: part 4 of 4 was not asked for");
  // The first part, and no second one.
  EXPECT_EQ(failure(answering(as_it_is, bytes)), "timedOut: nothing came for 300 ms");

  // One that is never silent, and sends a part of four now and then.
  EngineOptions hasty = options(std::nullopt);
  hasty.transfer_limits = {.silence = 10min, .start = 300ms};
  const auto bounded = load(hasty);
  const int32_t drip_port = free_ports(1);
  const Stranger dripping(answering(as_it_is, bytes), drip_port);
  const FetchState slow = run(*bounded, fetch(drip_port));
  EXPECT_EQ(slow.failure, FetchFailure::kTimedOut);
  EXPECT_TRUE(contains(slow.message, std::to_string(bytes) + " of " + std::to_string(4 * bytes) +
                                         " bytes came in 300 ms, in which all should"));

  // One that dies when it is asked for parts.
  const int32_t port = free_ports(1);
  std::atomic<bool> asked{false};
  auto dying = std::make_unique<Stranger>(
      [&](Wire& wire, Wire::Peer from, Wire::Bytes message) {
        if (read_request(message)) return wire.post(from, to_message(OfferAnswer{}));
        asked = true;
      },
      port);
  EngineOptions patient = options(std::nullopt);
  patient.transfer_limits.silence = 10min;
  const auto waiting = load(patient);
  waiting->fetch_kv(fetch(port));
  while (!asked) std::this_thread::sleep_for(1ms);
  dying.reset();
  EXPECT_EQ(end_of(*waiting).failure, FetchFailure::kUnreachable);

  for (Engine* const engine : {here.get(), bounded.get(), waiting.get()}) {
    EXPECT_EQ(run(*engine, fetch(there_port)).failure, FetchFailure::kNone);
    EXPECT_EQ(go_on(*engine), expected);
  }
}

// What an engine that fetches might say.
TEST_F(KvMoves, SurviveWhoeverFetchesFromThem) {
  write_attention();
  const int32_t port = free_ports(1);
  const auto there = load(port);
  const Answer expected = compute(*there);
  there->offer_kv(offer());
  const auto text = [](const std::string& said) {
    const auto bytes = std::as_bytes(std::span(said));
    return std::vector<std::byte>{bytes.begin(), bytes.end()};
  };
  const auto question = [&] {
    return to_message(FetchRequest{*there->info().kv_layout + ", rank 0", "t", 4, false});
  };
  const std::vector<std::vector<std::byte>> rubbish{
      {},
      {std::byte{0}},
      std::vector<std::byte>(3 << 20, std::byte{'['}),
      text("{\"first\": 0, \"count\": \"x\"}"),
      text("{\"layout\": 1, \"ticket\": [], \"blocks\": {}, \"snapshot\": 0}"),
      part_message(0, 100),
      // These end their caller's connection.
      text("{\"first\": -1, \"count\": 1}"),
      text("{\"first\": 9223372036854775807, \"count\": 9223372036854775807}"),
      text("{\"first\": 0, \"count\": 5}")};
  constexpr size_t kTolerated = 6;
  // A connection for each: a question, the rubbish once that is answered, and the question again.
  std::vector<int> answers(rubbish.size());
  Stranger stranger([&](Wire& wire, Wire::Peer from, Wire::Bytes message) {
    const auto answer = read_answer(message);
    if (!answer || answer->refusal != FetchFailure::kNone || ++answers[from] > 1) return;
    wire.post(from, rubbish[from]);
    wire.post(from, question());
  });
  stranger.ask([&](Wire& wire) {
    for (size_t i = 0; i < rubbish.size(); ++i)
      wire.post(wire.dial("127.0.0.1", static_cast<uint16_t>(port)), question());
  });
  std::atomic<bool> all_ended{false};
  while (!all_ended) {
    stranger.ask([&](const Wire& wire) {
      bool ended = true;
      for (size_t i = 0; i < rubbish.size(); ++i)
        ended =
            ended && (i < kTolerated ? answers[i] == 2 : !wire.trouble(static_cast<Wire::Peer>(i)).empty());
      all_ended = ended;
    });
    std::this_thread::sleep_for(5ms);
  }

  const auto here = load(std::nullopt);
  EXPECT_EQ(run(*here, fetch(port)).failure, FetchFailure::kNone);
  EXPECT_EQ(go_on(*here), expected);
}

TEST_F(KvMoves, SendNothingOfAnOfferThatWasWithdrawn) {
  write_attention();
  const int32_t port = free_ports(1);
  const auto there = load(port);
  compute(*there);
  there->offer_kv(offer());
  std::atomic<int> parts{0};
  std::atomic<int> answers{0};
  std::atomic<FetchFailure> refusal{FetchFailure::kNone};
  Stranger stranger([&](Wire&, Wire::Peer, Wire::Bytes message) {
    if (read_part(message)) ++parts;
    const auto answer = read_answer(message);
    if (!answer) return;
    refusal = answer->refusal;
    ++answers;
  });
  const auto until = [](const std::atomic<int>& count, int wanted) {
    while (count < wanted) std::this_thread::sleep_for(1ms);
  };
  stranger.ask([&](Wire& wire) {
    wire.post(wire.dial("127.0.0.1", static_cast<uint16_t>(port)),
              to_message(FetchRequest{*there->info().kv_layout + ", rank 0", "t", 4, false}));
  });
  until(answers, 1);
  stranger.ask([](Wire& wire) { wire.post(0, to_message(PartsWanted{0, 1})); });
  until(parts, 1);
  // The ticket has another offer now.
  there->withdraw_kv("t");
  there->offer_kv(offer());
  stranger.ask([](Wire& wire) { wire.post(0, to_message(PartsWanted{1, 1})); });
  while (answers < 2 && parts < 2) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(refusal, FetchFailure::kUnknownTicket);
  EXPECT_EQ(parts, 1);
}

}  // namespace
}  // namespace llmservice
