// Turns by wire, and what nodes say of their ranks. How they meet is in node_meeting.cpp.
#include "parallel/node_links.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "ops/error.h"
#include "parallel/rank_watch.h"
#include "parallel/shared_wait.h"

namespace llmservice {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenNews{100};
constexpr std::chrono::milliseconds kWireSleep{50};
// All nodes must reach each other in that time once they have met.
constexpr std::chrono::seconds kFirstExchange{30};
// Polls of the wire before a sleep: some 50 µs, a message's way there and back.
constexpr int kPolls = 100;
constexpr std::chrono::milliseconds kMeetingPause{5};
// Ranks are less.
constexpr int32_t kGreeting = 0x80;
static_assert(kMaxRanks <= kGreeting);

// What a node says of its ranks; those of other nodes, too, where it is node 0.
struct News {
  uint32_t failure;  // GroupState::failure
  uint32_t closed;
  int32_t lost_pid;
  FailureReason reason;
  Doing doing[kMaxRanks];
  int32_t pid[kMaxRanks];
  char message[sizeof(RankState::message)];
};
static_assert(std::is_trivially_copyable_v<News>);

}  // namespace

NodeRanks ranks_of_node(const RankPlace& place, int32_t node) {
  const int32_t count = place.nodes ? place.nodes->count : 1;
  return {place.size * node / count, place.size * (node + 1) / count};
}

NodeRanks ranks_here(const RankPlace& place) {
  return ranks_of_node(place, place.nodes ? place.nodes->index : 0);
}

NodeLinks::NodeLinks(const RankPlace& place, const SharedSegment& segment, int32_t silent_looks,
                     const Check& check)
    : place_(place),
      own_(*place_.nodes),
      segment_(segment),
      state_(segment.state()),
      silent_looks_(silent_looks),
      nodes_(own_.count),
      control_(open_wire()),
      bulk_(open_wire()),
      callers_(*control_, state_, kBetweenNews * silent_looks) {
  for (int32_t node = 0; node < own_.count; ++node) nodes_[node].ranks = ranks_of_node(place_, node);
  nodes_[own_.index].name = own_.name;
  const Wire::Bytes address = bulk_->address();
  nodes_[own_.index].address.assign(address.begin(), address.end());
  try {
    own_.index == 0 ? gather(check) : report(check);
    connect_all();
    settle(check, Clock::now() + kFirstExchange);
  } catch (const EngineError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw EngineError(FailureReason::kEngineFault,
                      std::string("The nodes cannot meet: ") + error.what() + ".");
  }
  control_->on_message([this](Wire::Peer from, Wire::Bytes message) { take_news(from, message); });
  thread_ = std::thread([this] { run(); });
}

NodeLinks::~NodeLinks() {
  stopping_.store(true);
  thread_.join();
  post_news();
  control_.reset();
  bulk_.reset();
}

// A first message each way proves them.
void NodeLinks::connect_all() {
  for (int32_t node = 0; node < own_.count; ++node) {
    Node& other = nodes_[node];
    if (node == own_.index) continue;
    other.bulk = bulk_->reach(other.address);
    bulk_->receive(tag(0, kGreeting | node), &heard_, sizeof(heard_));
    bulk_->send(other.bulk, tag(0, kGreeting | own_.index), &said_, sizeof(said_));
    for (int32_t rank = other.ranks.first; rank < other.ranks.end; ++rank) {
      RankState& there = state_.ranks[rank];
      std::strncpy(there.node, title(node).c_str(), sizeof(there.node) - 1);
    }
  }
}

void NodeLinks::exchange(uint32_t turn, uint32_t bank, const std::function<Piece(int32_t)>& piece_of,
                         Audience audience, const Check& check, Clock::time_point deadline) {
  const auto hears = [&](const Node& node) { return audience == Audience::kAll || &node == nodes_.data(); };
  const auto each_piece = [&](const Node& node, const auto& use) {
    for (int32_t rank = node.ranks.first; rank < node.ranks.end; ++rank) {
      const Piece piece = piece_of(rank);
      if (piece.bytes > 0) use(rank, segment_.area(rank, bank) + piece.begin, piece.bytes);
    }
  };
  const Node& own = nodes_[own_.index];
  for (const Node& other : nodes_) {
    if (is_own(other)) continue;
    if (hears(own)) {
      each_piece(other, [&](int32_t rank, std::byte* to, size_t bytes) {
        bulk_->receive(tag(turn, rank), to, bytes);
      });
    }
    if (hears(other)) {
      each_piece(own, [&](int32_t rank, const std::byte* from, size_t bytes) {
        bulk_->send(other.bulk, tag(turn, rank), from, bytes);
      });
    }
  }
  settle(check, deadline);
  for (const Node& other : nodes_) {
    for (int32_t rank = other.ranks.first; rank < other.ranks.end && !is_own(other); ++rank) {
      RankState& there = state_.ranks[rank];
      there.turn.store(turn + 1);
      if (there.sleepers.load() != 0) shared_wake(there.turn);
    }
  }
}

void NodeLinks::settle(const Check& check, Clock::time_point deadline) try {
  for (;;) {
    for (int i = 0; i < kPolls; ++i) {
      if (bulk_->settled()) return;
      bulk_->progress();
    }
    check();
    // While nodes meet there is no thread yet, and what was posted last may not have gone out.
    const bool meeting = !thread_.joinable();
    for (const Node& other : nodes_) {
      if (is_own(other)) continue;
      if (meeting && other.control >= 0 && !control_->trouble(other.control).empty())
        lose(other, Loss::kDied);
      if (!bulk_->trouble(other.bulk).empty()) lose_by_wire(other, check);
      if (Clock::now() >= deadline) lose(other, Loss::kMissing);
    }
    while (meeting && control_->progress()) continue;
    bulk_->sleep(meeting ? kMeetingPause : kWireSleep);
  }
} catch (const EngineError&) {
  throw;
} catch (const std::runtime_error& error) {
  throw EngineError(FailureReason::kEngineFault,
                    std::string("Nodes exchange wrongly: ") + error.what() + ".");
}

void NodeLinks::lose(const Node& node, Loss loss) {
  declare_loss(state_, place_.size, node.ranks.first, loss);
}

void NodeLinks::lose_by_wire(const Node& node, const Check& check) {
  for (int look = 0; look < 6; ++look) {
    check();
    std::this_thread::sleep_for(kWireSleep);
  }
  lose(node, Loss::kDied);
  check();
}

void NodeLinks::run() {
  auto next_news = Clock::now();
  while (!stopping_.load()) {
    while (control_->progress()) continue;
    if (Clock::now() >= next_news) {
      next_news = Clock::now() + kBetweenNews;
      look();
      post_news();
    }
    control_->sleep(kWireSleep);
  }
}

void NodeLinks::look() {
  for (Node& other : nodes_) {
    if (other.control < 0 || other.at_peace || closed_.load()) continue;
    if (!control_->trouble(other.control).empty()) lose(other, Loss::kDied);
    if (++other.silent_looks > silent_looks_) lose(other, Loss::kSilent);
  }
}

void NodeLinks::post_news() {
  News news{};
  news.failure = state_.failure.load();
  news.closed = closed_.load() ? 1 : 0;
  for (int32_t rank = 0; rank < place_.size; ++rank) {
    news.doing[rank] = state_.ranks[rank].doing.load();
    news.pid[rank] = state_.ranks[rank].pid.load();
  }
  if (news.failure != 0) {
    const RankState& lost = state_.ranks[news.failure & 0xff];
    news.lost_pid = lost.pid.load();
    news.reason = lost.reason;
    std::memcpy(news.message, lost.message, sizeof(news.message));
  }
  for (const Node& other : nodes_) {
    if (other.control < 0) continue;
    const auto bytes = std::as_bytes(std::span(&news, 1));
    control_->post(other.control, {bytes.begin(), bytes.end()});
  }
}

void NodeLinks::take_news(Wire::Peer from, Wire::Bytes message) {
  const auto sender = std::ranges::find(nodes_, from, &Node::control);
  if (sender == nodes_.end() || message.size() != sizeof(News)) return;
  News news;
  std::memcpy(&news, message.data(), sizeof(news));
  sender->silent_looks = 0;
  sender->at_peace = news.closed != 0;
  const bool leads = sender == nodes_.begin();
  for (const Node& node : nodes_) {
    if (is_own(node) || (!leads && &node != &*sender)) continue;
    for (int32_t rank = node.ranks.first; rank < node.ranks.end; ++rank) {
      state_.ranks[rank].doing.store(news.doing[rank]);
      state_.ranks[rank].pid.store(news.pid[rank]);
    }
  }
  const auto lost = static_cast<int32_t>(news.failure & 0xff);
  // A reason is a name here.
  if (news.reason > FailureReason::kCrashed) news.reason = FailureReason::kEngineFault;
  if (news.failure == 0 || lost >= place_.size || state_.failure.load() != 0) return;
  const NodeRanks own = nodes_[own_.index].ranks;
  if (lost < own.first || lost >= own.end) {
    RankState& rank = state_.ranks[lost];
    rank.pid.store(news.lost_pid);
    rank.reason = news.reason;
    std::memcpy(rank.message, news.message, sizeof(rank.message));
    rank.message[sizeof(rank.message) - 1] = 0;
  }
  adopt_loss(state_, place_.size, news.failure);
}

}  // namespace llmservice
