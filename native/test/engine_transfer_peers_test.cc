// Peers of a KV transfer that stall, lie or die: one fetch ends with the reason, and the engines serve on.
#include "transfer_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;
using namespace std::chrono_literals;

class KvPeers : public Transfers {
 protected:
  std::unique_ptr<Backend> backend() const override { return make_cpu_backend({.threads = 1}); }
};

// What an engine that offers might say, and what comes of it. Only where a test wants time to run out is time
// bounded: threads may have no processor for long.
TEST_F(KvPeers, SurviveWhoeverTheyFetchFrom) {
  write_attention();
  const auto load_with = [&](const TransferLimits& limits) {
    EngineOptions with = options(std::nullopt);
    with.transfer_limits = limits;
    return load(with);
  };
  const auto patient = load_with({.silence = 10min, .start = 10min});
  const auto stalled = load_with({.silence = 300ms, .start = 10min});
  const auto bounded = load_with({.silence = 10min, .start = 300ms});
  const auto there_port = free_ports(1);
  const auto there = load(there_port);
  const Answer expected = compute(*there);
  there->offer_kv(offer());

  const auto failure = [&](Engine& engine, const Stranger::Says& says) {
    const int32_t port = free_ports(1);
    const Stranger stranger(says, port);
    const FetchState state = run(engine, fetch(port));
    return name_of(state.failure) + (": " + state.message.substr(state.message.find(": ") + 2));
  };
  const auto bytes = static_cast<size_t>(there->info().kv_bytes_per_block);
  const auto as_it_is = [](std::vector<std::byte>&) {};

  EXPECT_EQ(
      failure(*patient, [](Wire& wire, Wire::Peer from, Wire::Bytes) { wire.post(from, {std::byte{7}}); }),
      "corrupt: what came is no part of an answer");
  EXPECT_EQ(
      failure(*patient, [](Wire& wire, Wire::Peer from,
                           Wire::Bytes) { wire.post(from, to_message(OfferAnswer{.snapshot_at = 64})); }),
      "corrupt: what came is no answer to the question");
  EXPECT_EQ(
      failure(*patient, answering([](std::vector<std::byte>& part) { part.back() ^= std::byte{1}; }, bytes)),
      "corrupt: part 0 of 4 is not as it was sent");
  EXPECT_EQ(
      failure(*patient, answering(as_it_is, bytes - 1)),
      "corrupt: part 0 has " + std::to_string(bytes - 1) + " bytes in place of " + std::to_string(bytes));
  EXPECT_EQ(failure(*patient, answering(
                                  [](std::vector<std::byte>& part) {
                                    part = part_message(4, 1);
                                    seal(part);
                                  },
                                  bytes)),
            "corrupt: part 4 of 4 was not asked for");

  EXPECT_EQ(failure(*stalled, [](Wire&, Wire::Peer, Wire::Bytes) {}), "timedOut: nothing came for 300 ms");
  // The first part, and no second one.
  EXPECT_EQ(failure(*stalled, answering(as_it_is, bytes)), "timedOut: nothing came for 300 ms");
  // The same without a bound of silence, repeated until the part came within the bound of the whole.
  const int32_t slow_port = free_ports(1);
  const Stranger slow(answering(as_it_is, bytes), slow_port);
  FetchState some;
  do some = run(*bounded, fetch(slow_port));
  while (contains(some.message, ": 0 of "));
  EXPECT_EQ(some.failure, FetchFailure::kTimedOut);
  EXPECT_TRUE(contains(some.message, std::to_string(bytes) + " of " + std::to_string(4 * bytes) +
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
  patient->fetch_kv(fetch(port));
  while (!asked) std::this_thread::sleep_for(1ms);
  dying.reset();
  EXPECT_EQ(end_of(*patient).failure, FetchFailure::kUnreachable);

  for (Engine* const engine : {patient.get(), stalled.get(), bounded.get()}) {
    FetchFailure last = FetchFailure::kTimedOut;
    while (last == FetchFailure::kTimedOut) last = run(*engine, fetch(there_port)).failure;
    EXPECT_EQ(last, FetchFailure::kNone);
    EXPECT_EQ(go_on(*engine), expected);
  }
}

// What an engine that fetches might say.
TEST_F(KvPeers, SurviveWhoeverFetchesFromThem) {
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

TEST_F(KvPeers, SendNothingOfAnOfferThatWasWithdrawn) {
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
