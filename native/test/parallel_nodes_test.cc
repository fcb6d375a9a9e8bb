// Ranks on several nodes, each of which has memory of its own and reaches the others by wire: what they
// exchange, and who is not let in. Nodes are threads of this process.
#include <gtest/gtest.h>

#include "failures.h"
#include "local_sockets.h"
#include "parallel/node_message.h"
#include "parallel_support.h"
#include "wire_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;
using namespace std::chrono_literals;

class Nodes : public OverWire {
 protected:
  RankPlace place(int32_t rank, int32_t size, int32_t nodes, const TestSegment& segment) const {
    const int32_t index = rank * nodes / size;
    const NodePlace node{.index = index,
                         .count = nodes,
                         .leader = "127.0.0.1",
                         .port = port_,
                         .name = "pod-" + std::to_string(index),
                         .plan = plan_,
                         .wait_ms = 20'000};
    return {.rank = rank, .size = size, .segment = segment.descriptor(), .nodes = node};
  }

  // Runs body(group) on all ranks; they end the group together.
  void on_nodes(int32_t nodes, int32_t size, const std::function<void(RankGroup&)>& body) {
    std::vector<std::unique_ptr<TestSegment>> segments;
    for (int32_t node = 0; node < nodes; ++node) segments.push_back(std::make_unique<TestSegment>(size));
    std::vector<std::thread> ranks;
    for (int32_t rank = 0; rank < size; ++rank) {
      ranks.emplace_back([&, rank] {
        RankGroup group(place(rank, size, nodes, *segments[rank * nodes / size]), limits_);
        body(group);
        group.meet();
        rank == 0 ? group.close() : (group.receive(), group.close());
      });
    }
    for (std::thread& rank : ranks) rank.join();
  }

  static void expect_a_sum(RankGroup& group) {
    for (const int64_t count : {int64_t{1}, int64_t{20'001}, int64_t{(1 << 18) + 3}}) {
      std::vector<float> x(count, static_cast<float>(group.rank() + 1));
      group.all_reduce(x.data(), count);
      const auto sum = static_cast<float>(group.size() * (group.size() + 1) / 2);
      EXPECT_TRUE(x == std::vector<float>(count, sum)) << count << " values on rank " << group.rank();
    }
  }

  // Of node 0, once it waits for no other nodes than these.
  static void until_waiting_for(const TestSegment& segment, int32_t size, const std::string& nodes) {
    const SharedSegment memory(segment.descriptor(), size);
    while (!waiting_for(memory.state()).starts_with(nodes + ", to connect")) std::this_thread::sleep_for(5ms);
  }

  static std::string last_refusal(const TestSegment& segment, int32_t size) {
    return SharedSegment(segment.descriptor(), size).state().last_refusal.shown();
  }

  int32_t port_ = LocalSocket().port();
  std::string plan_ = "{}";
  GroupLimits limits_;
};

TEST_F(Nodes, AddUpAndSendAsOneNodeDoes) {
  for (const auto& [nodes, size] : {std::pair{2, 4}, std::pair{3, 3}}) {
    on_nodes(nodes, size, [&](RankGroup& group) {
      for (int32_t turn = 0; turn < 20; ++turn) expect_a_sum(group);
      const std::vector<std::byte> message(2 * kAreaBytes + 5, std::byte{7});
      if (group.rank() == 0) {
        group.send(message);
      } else {
        EXPECT_TRUE(group.receive() == message);
      }
      const int32_t mine = group.rank();
      const std::vector<std::byte> all = group.exchange(std::as_bytes(std::span(&mine, 1)));
      ASSERT_EQ(all.size(), group.size() * sizeof(mine));
      EXPECT_EQ(reinterpret_cast<const int32_t*>(all.data())[group.size() - 1], group.size() - 1);
    });
  }
}

TEST_F(Nodes, LeaveWhatTheyStillWaitFor) {
  std::vector<char> room(5);
  const auto wire = open_wire();
  for (uint64_t i = 0; i < room.size(); ++i) wire->receive(i, &room[i], 1);
  EXPECT_FALSE(wire->settled());
}

TEST_F(Nodes, TakeNobodyForANodeThatIsThereAlready) {
  const TestSegment segments[]{TestSegment(3), TestSegment(3), TestSegment(3), TestSegment(3)};
  const auto run = [&](int32_t rank) {
    return std::thread([&, rank] {
      RankGroup group(place(rank, 3, 3, segments[rank]));
      expect_a_sum(group);
      rank == 0 ? group.close() : (group.receive(), group.close());
    });
  };
  std::thread first = run(0);
  std::thread second = run(1);
  until_waiting_for(segments[0], 3, "node 2 of 3");
  RankPlace again = place(1, 3, 3, segments[3]);
  again.nodes->name = "stranger";
  std::string message;
  EXPECT_EQ(failure_of([&] { RankGroup{again}; }, &message), "ParallelismInvalid");
  EXPECT_TRUE(contains(message, "Two nodes say that they are node 1 of 3 (pod-1): this one is stranger."));
  std::thread third = run(2);
  for (std::thread* each : {&first, &second, &third}) each->join();
}

TEST_F(Nodes, WaitOnWhereOneOfAnotherEngineCalls) {
  const TestSegment segments[]{TestSegment(2), TestSegment(2), TestSegment(2)};
  plan_ = R"({"engine":{"version":"2"},"numBlocks":8})";
  std::thread first([&] {
    RankGroup group(place(0, 2, 2, segments[0]));
    expect_a_sum(group);
    group.close();
  });
  RankPlace old = place(1, 2, 2, segments[1]);
  old.nodes->plan = R"({"engine":{"version":"1"},"numBlocks":8})";
  std::string message;
  EXPECT_EQ(failure_of([&] { RankGroup{old}; }, &message), "ParallelismInvalid");
  const std::string why =
      "The nodes of a group must agree: version is \"2\" on node 0 of 2 (pod-0) and \"1\" on node 1 (pod-1)";
  EXPECT_EQ(message, why + ".");
  const std::string refused = last_refusal(segments[0], 2);
  EXPECT_TRUE(refused.starts_with("node 1 (pod-1) at 127.0.0.1:")) << refused;
  EXPECT_TRUE(refused.ends_with(why)) << refused;
  RankGroup group(place(1, 2, 2, segments[2]));
  expect_a_sum(group);
  group.receive();
  group.close();
  first.join();
}

TEST_F(Nodes, EndWhereOneOfTheirEngineHasOtherFigures) {
  const TestSegment segments[]{TestSegment(2), TestSegment(2)};
  plan_ = R"({"engine":{"version":"2"},"numBlocks":8})";
  RankPlace other = place(1, 2, 2, segments[1]);
  other.nodes->plan = R"({"engine":{"version":"2"},"numBlocks":9})";
  std::string messages[2];
  std::thread first([&] {
    const RankPlace leader = place(0, 2, 2, segments[0]);
    EXPECT_EQ(failure_of([&] { RankGroup{leader}; }, messages), "ParallelismInvalid");
  });
  EXPECT_EQ(failure_of([&] { RankGroup{other}; }, messages + 1), "ParallelismInvalid");
  first.join();
  for (const std::string& message : messages)
    EXPECT_TRUE(contains(message, "numBlocks is 8 on node 0 of 2 (pod-0) and 9 on node 1 (pod-1)."));
}

// Each is refused by itself, and by what is wrong with it.
TEST_F(Nodes, HearStrangersWithoutHarm) {
  limits_.silence = 1s;
  const auto deep = [](const std::string& plan) {
    return R"({"index":1,"count":2,"name":"x","address":"00","plan":)" + plan + "}";
  };
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string report = "what it says is no report of a node";
  const std::string index = "node 0 has 2 nodes, and waits for no such one";
  const std::string engine = "one of both says of no engine what it is";
  const std::vector<std::pair<std::string, std::string>> words{
      {"", report},
      {std::string(3000, '\x81'), report},
      {std::string(3000, '['), report},
      {R"({"index":1,"count":2,"name":"x","addr)", report},
      {deep(nested), report},
      {deep(R"("{\"engine\":{\"version\":)" + nested + R"(}}")"), engine},
      {R"([1,2])", report},
      {R"({"index":4294967297,"count":2,"name":"x","address":"00","plan":"{}"})", index},
      {R"({"index":-1,"count":2,"name":"x","address":"00","plan":"{}"})", index},
      {R"({"index":"1","count":2,"name":1})", report},
      {R"({"index":1,"count":2,"name":"x","address":"","plan":"{}"})", "its address is none"},
      {R"({"index":1,"count":2,"name":"x","address":"zz","plan":"{}"})", "its address is none"},
      {R"({"index":1,"count":2,"name":"x","address":[1],"plan":"{}"})", report},
      {R"({"index":1,"count":2,"name":"x","address":"00","plan":"{}"})", engine},
  };
  const TestSegment segments[]{TestSegment(2), TestSegment(2)};
  plan_ = R"({"engine":{"version":"2"},"numBlocks":8})";
  std::thread first([&] {
    RankGroup group(place(0, 2, 2, segments[0]), limits_);
    expect_a_sum(group);
    group.close();
  });
  until_waiting_for(segments[0], 2, "node 1 of 2");
  {
    const auto wire = open_wire();
    const auto until = [&](const std::string& why) {
      while (!last_refusal(segments[0], 2).ends_with(": " + why)) {
        while (wire->progress()) continue;
        wire->sleep(1ms);
      }
    };
    for (const auto& [text, why] : words) {
      note_refusal(SharedSegment(segments[0].descriptor(), 2).state(), "");
      const Wire::Peer leader = wire->dial("127.0.0.1", static_cast<uint16_t>(port_));
      const auto bytes = std::as_bytes(std::span(text));
      wire->post(leader, {bytes.begin(), bytes.end()});
      until(why);
    }
    // Nothing at all.
    wire->dial("127.0.0.1", static_cast<uint16_t>(port_));
    until("no message came in 1000 ms");
  }
  // Who does not even speak as the library does: UCX 1.13 asserts that the length in a whole header of 16
  // bytes is that of what follows, so that rubbish of more bytes ends its process.
  for (const size_t bytes : {size_t{0}, size_t{3}}) {
    const CallingSocket caller(port_);
    caller.send(std::string(bytes, '\xff'));
  }
  const CallingSocket held(port_);
  held.send("GET / HTTP/1.1\r\nHost: there\r\n\r\n");
  RankGroup group(place(1, 2, 2, segments[1]), limits_);
  expect_a_sum(group);
  group.receive();
  group.close();
  first.join();
}

TEST_F(Nodes, CallAgainWhereNobodyAnswers) {
  limits_.silence = 1s;
  auto mute = std::make_unique<LocalSocket>();
  mute->listen();
  port_ = mute->port();
  const TestSegment segments[]{TestSegment(2), TestSegment(2)};
  std::thread second([&] {
    RankGroup group(place(1, 2, 2, segments[1]), limits_);
    group.receive();
    group.close();
  });
  // As a node that is gone without a word, which closes nothing.
  const int held = mute->accept();
  mute.reset();
  {
    RankGroup group(place(0, 2, 2, segments[0]), limits_);
    group.close();
  }
  second.join();
  close(held);
}

TEST(NodeMessage, RefusesWhatNoNodeSays) {
  const auto read = [](const std::string& text) { return from_message(std::as_bytes(std::span(text))); };
  EXPECT_EQ(read(R"({"index":1})")["index"], 1);
  for (const std::string& text : {std::string("1"), std::string("{"), std::string(4 << 20, '[')})
    EXPECT_TRUE(read(text).is_null());
  EXPECT_TRUE(read(R"({"a":)" + std::string(20, '[') + std::string(20, ']') + "}").is_null());
  const std::vector<std::byte> address{std::byte{0}, std::byte{0xfe}, std::byte{0x10}};
  EXPECT_EQ(address_of(address_text(address)), address);
  for (const char* text : {"0", "0g", "-1", " 1"}) EXPECT_TRUE(address_of(text).empty()) << text;
}

}  // namespace
}  // namespace llmservice
