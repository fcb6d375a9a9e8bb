// The wire by UCX. Its objects are used by one thread at a time; two wires share nothing.
#pragma once

#include <ucp/api/ucp.h>

#include <map>
#include <memory>

#include "nodes/wire.h"

namespace llmservice {

class UcxWire final : public Wire {
 public:
  // Throws std::runtime_error.
  UcxWire();
  ~UcxWire() override;
  UcxWire(const UcxWire&) = delete;
  UcxWire& operator=(const UcxWire&) = delete;

  Bytes address() const override { return {reinterpret_cast<const std::byte*>(address_), address_bytes_}; }
  void listen(uint16_t port) override;
  void stop_listening() override;
  Peer dial(const std::string& host, uint16_t port) override;
  Peer reach(Bytes address) override;
  void drop(Peer peer) override;
  std::vector<Peer> peers() const override;
  const std::string& trouble(Peer peer) const override;
  const std::string& address_of_caller(Peer peer) const override;

  void post(Peer peer, std::vector<std::byte> message) override;
  size_t unsent(Peer peer) const override;
  void on_message(OnMessage listener) override { listener_ = std::move(listener); }
  void send(Peer peer, uint64_t tag, const void* from, size_t bytes) override;
  void receive(uint64_t tag, void* to, size_t bytes) override;
  bool settled() override;
  bool progress() override { return ucp_worker_progress(worker_) != 0; }
  void sleep(std::chrono::milliseconds limit) override;
  void wake() override { ucp_worker_signal(worker_); }

 private:
  struct Remote {
    ucp_ep_h endpoint = nullptr;  // null: it could not be made, or is closed
    std::string trouble;
    std::string caller;  // empty: it did not come by itself
    size_t unsent = 0;
  };
  // A message on its way.
  struct Posted {
    std::vector<std::byte> message;
    Remote& to;
  };

  Peer connect(ucp_ep_params_t& params);
  void finish(void* request, ucs_status_t status);
  // False: UCX is not done with it, and may still call.
  bool close(Remote& remote, uint32_t flags);
  Remote* open_remote(Peer peer);

  static ucs_status_t heard(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                            const ucp_am_recv_param_t* how);
  static void called(ucp_conn_request_h request, void* self);
  static void failed(void* remote, ucp_ep_h endpoint, ucs_status_t status);

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_listener_h listening_ = nullptr;
  ucp_address_t* address_ = nullptr;
  size_t address_bytes_ = 0;
  int events_ = -1;
  OnMessage listener_;
  std::map<Peer, std::unique_ptr<Remote>> peers_;  // their addresses are UCX's arguments
  Peer next_peer_ = 0;
  std::vector<std::unique_ptr<Remote>> closing_;  // dropped, but not closed in time
  std::vector<void*> receiving_;
  int64_t under_way_ = 0;
  std::string fault_;
};

}  // namespace llmservice
