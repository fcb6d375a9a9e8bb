// Engines that send KV to each other, and strangers that speak with them.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "engine/engine.h"
#include "failures.h"
#include "tiny_checkpoint.h"
#include "transfer/transfer_message.h"
#include "wire_support.h"

namespace llmservice::testing {

// The first of `count` ports in a row that are free now.
inline int32_t free_ports(int32_t count) {
  for (;;) {
    std::vector<int> sockets;
    int32_t first = 0;
    for (int32_t i = 0; i < count; ++i) {
      sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(i == 0 ? 0 : first + i);
      socklen_t bytes = sizeof(address);
      if (bind(sockets.back(), reinterpret_cast<sockaddr*>(&address), bytes) != 0) first = 0;
      if (i == 0) getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&address), &bytes);
      if (i == 0) first = ntohs(address.sin_port);
      if (first == 0) break;
    }
    for (const int each : sockets) close(each);
    if (first != 0) return first;
  }
}

// A wire with a thread that runs it and says whatever a test wants said.
class Stranger {
 public:
  using Says = std::function<void(Wire&, Wire::Peer, Wire::Bytes)>;

  explicit Stranger(const Says& says, int32_t port = 0) : wire_(open_wire()) {
    wire_->on_message([this, says](Wire::Peer from, Wire::Bytes message) { says(*wire_, from, message); });
    if (port != 0) wire_->listen(static_cast<uint16_t>(port));
    thread_ = std::thread([this] {
      while (!stopping_) {
        if (!wire_->progress()) wire_->sleep(std::chrono::milliseconds(5));
        const std::scoped_lock lock(mutex_);
        for (const auto& job : std::exchange(jobs_, {})) job(*wire_);
      }
    });
  }
  ~Stranger() {
    stopping_ = true;
    thread_.join();
  }
  void ask(std::function<void(Wire&)> job) {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
  }

 private:
  std::unique_ptr<Wire> wire_;
  std::mutex mutex_;
  std::vector<std::function<void(Wire&)>> jobs_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// Answers the question, and what is wanted by parts of which `change` has the say.
inline Stranger::Says answering(const std::function<void(std::vector<std::byte>&)>& change, size_t size) {
  return [change, size](Wire& wire, Wire::Peer from, Wire::Bytes message) {
    if (read_request(message)) return wire.post(from, to_message(OfferAnswer{}));
    std::vector<std::byte> part = part_message(0, size);
    seal(part);
    change(part);
    wire.post(from, std::move(part));
  };
}

// What a sequence generated: its tokens, and a hash of the logits behind each.
struct Answer {
  std::vector<int32_t> tokens;
  std::vector<uint64_t> hashes;
  bool operator==(const Answer&) const = default;
};

inline void PrintTo(const Answer& answer, std::ostream* out) {
  *out << ::testing::PrintToString(answer.tokens) << ::testing::PrintToString(answer.hashes);
}

inline void add(Answer& answer, const StepResult& result) {
  answer.tokens.insert(answer.tokens.end(), result.tokens.begin(), result.tokens.end());
  answer.hashes.insert(answer.hashes.end(), result.logit_hashes.begin(), result.logit_hashes.end());
}

constexpr int32_t kPrompt = 100;  // tokens
constexpr int32_t kMoved = 64;    // of them, in four blocks
constexpr int32_t kGenerated = 6;

inline StepPlan decode_of(int32_t slot) {
  StepPlan plan;
  plan.rows = {{slot, 1}};
  return plan;
}

inline StepPlan begin(int32_t cached, std::optional<int32_t> snapshot, const std::vector<int32_t>& blocks) {
  StepPlan plan;
  plan.admit = {{.slot = 0,
                 .tokens = prompt(kPrompt),
                 .cached_tokens = cached,
                 .snapshot = snapshot,
                 .prompt_length = kPrompt,
                 .max_length = kPrompt + kGenerated}};
  for (const int32_t block : blocks) plan.blocks.push_back({0, block});
  plan.rows = {{0, kPrompt - cached}};
  return plan;
}

// To the end of the sequence.
inline Answer generate(Engine& engine, const StepPlan& first) {
  Answer answer;
  add(answer, engine.step(first));
  for (int32_t i = 1; i < kGenerated; ++i) add(answer, engine.step(decode_of(0)));
  StepPlan last;
  last.release = {0};
  engine.step(last);
  return answer;
}

class Transfers : public OverWire {
 protected:
  EngineOptions options(std::optional<int32_t> port) const {
    return {.checkpoint = dir_.checkpoint(),
            .block_size = 16,
            .num_blocks = 16,
            .max_num_seqs = 2,
            .num_state_snapshots = hybrid_ ? 3 : 0,
            .max_model_len = 128,
            .max_num_batched_tokens = 192,
            .threads = 1,
            .logit_hashes = true,
            .transfer = TransferOptions{.port = port, .identity = "tiny"}};
  }
  void write_hybrid() {
    hybrid_ = true;
    write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
  }
  void write_attention() { write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors()); }

  // Prefills and generates; the state after kMoved tokens is snapshot 2, where the model has one.
  Answer compute(Engine& engine) const {
    StepPlan first = begin(0, std::nullopt, {3, 4, 5, 6, 7, 8, 9});
    if (hybrid_) first.saves = {{0, kMoved, 2}};
    return generate(engine, first);
  }
  KvOffer offer() const { return {.ticket = "t", .blocks = {3, 4, 5, 6}, .snapshot = of_hybrids(2)}; }
  KvFetch fetch(int32_t port) const {
    return {.id = 7,
            .host = "127.0.0.1",
            .port = port,
            .ticket = "t",
            .blocks = {11, 2, 9, 0},
            .snapshot = of_hybrids(1)};
  }
  // Of what was fetched.
  Answer go_on(Engine& engine) const {
    return generate(engine, begin(kMoved, of_hybrids(1), {11, 2, 9, 0, 4, 5, 6}));
  }
  static FetchState end_of(Engine& engine, int32_t id = 7) {
    for (;;) {
      FetchState state = engine.fetched_kv(id);
      if (state.ended) return state;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  static FetchState run(Engine& engine, const KvFetch& fetch) {
    engine.fetch_kv(fetch);
    return end_of(engine, fetch.id);
  }

  std::unique_ptr<Engine> load(const EngineOptions& options) const {
    return std::make_unique<Engine>(options, backend(), [](auto, auto) {});
  }
  std::unique_ptr<Engine> load(std::optional<int32_t> port) const { return load(options(port)); }

  // Of two engines with these options but for their ports.
  void expect_the_same_bits(EngineOptions with) const {
    const int32_t port = free_ports(1);
    with.transfer->port = port;
    const auto there = load(with);
    with.transfer->port = std::nullopt;
    const auto here = load(with);
    EXPECT_EQ(there->info().kv_layout, here->info().kv_layout);
    const Answer expected = compute(*there);
    ASSERT_EQ(expected.hashes.size(), static_cast<size_t>(kGenerated));
    there->offer_kv(offer());
    const FetchState state = run(*here, fetch(port));
    EXPECT_EQ(state.message, "");
    EXPECT_EQ(state.bytes, 4 * here->info().kv_bytes_per_block + here->info().state_bytes_per_seq);
    EXPECT_EQ(state.snapshot_at, hybrid_ ? std::optional(kMoved) : std::nullopt);
    EXPECT_EQ(go_on(*here), expected);
  }
  virtual std::unique_ptr<Backend> backend() const = 0;

  TempDir dir_;
  bool hybrid_ = false;

 private:
  std::optional<int32_t> of_hybrids(int32_t snapshot) const {
    return hybrid_ ? std::optional(snapshot) : std::nullopt;
  }
};

}  // namespace llmservice::testing
