// What one thread of a node sends to and receives from other nodes, by a library for it: UCX, over TCP unless
// UCX_TLS says otherwise; UCX_TCP_PORT_RANGE has the ports of what is neither listen()'s nor the system's to
// choose. The engine opens it when it has several nodes (parallel/wire_loader.h), so that it
// is built, and runs on one node, without.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace llmservice {

// Raised when anything in this file changes.
constexpr uint32_t kWireAbi = 4;

class Wire {
 public:
  using Bytes = std::span<const std::byte>;
  // Another node or engine, or whoever calls itself one: they count from 0 as they are connected.
  using Peer = int32_t;
  using OnMessage = std::function<void(Peer from, Bytes message)>;

  // Of what is sent last to healthy peers as much arrives as their system takes at once.
  virtual ~Wire() = default;

  // Where reach() of other nodes finds this one.
  virtual Bytes address() const = 0;
  // Takes connections to `port` on every address. Throws std::runtime_error.
  virtual void listen(uint16_t port) = 0;
  // Those that came stay.
  virtual void stop_listening() = 0;
  // The host's name is looked up each time. Throws std::runtime_error when it has no address.
  virtual Peer dial(const std::string& host, uint16_t port) = 0;
  virtual Peer reach(Bytes address) = 0;
  // Forgets it, without a word to its side that was not sent before. Not within on_message's listener.
  virtual void drop(Peer peer) = 0;
  // Those that are connected and were not dropped, who came by themselves included.
  virtual std::vector<Peer> peers() const = 0;
  // Why nothing more comes from or goes to it; empty: nothing is known.
  virtual const std::string& trouble(Peer peer) const = 0;
  // Of one that came by itself, ADDRESS:PORT; empty: of others, or not known.
  virtual const std::string& address_of_caller(Peer peer) const = 0;

  // A message of up to a few MB; it goes out as this side and that one progress.
  virtual void post(Peer peer, std::vector<std::byte> message) = 0;
  // Bytes of such messages to a peer that are not sent yet.
  virtual size_t unsent(Peer peer) const = 0;
  virtual void on_message(OnMessage listener) = 0;

  // Bulk: the memory must stay as it is until settled(). What is received with a tag was sent with it, in
  // order, and has `bytes` at most.
  virtual void send(Peer peer, uint64_t tag, const void* from, size_t bytes) = 0;
  virtual void receive(uint64_t tag, void* to, size_t bytes) = 0;
  // All that was sent and received is done. Throws std::runtime_error after one went wrong but by a peer's
  // trouble.
  virtual bool settled() = 0;
  // Does what can be done now; true if that was anything.
  virtual bool progress() = 0;
  // Sleeps until there is something to do, for `limit` at most.
  virtual void sleep(std::chrono::milliseconds limit) = 0;
  // Ends sleep(), or has the next one end at once. Any thread.
  virtual void wake() = 0;
};

}  // namespace llmservice

// Of the library that has it. The second throws std::runtime_error.
extern "C" {
uint32_t llmservice_wire_abi();
llmservice::Wire* llmservice_open_wire();
}
