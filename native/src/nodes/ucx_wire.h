// The wire by UCX. Its objects are used by one thread at a time; two wires share nothing.
#pragma once

#include <ucp/api/ucp.h>

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
  const std::string& trouble(Peer peer) const override { return peers_.at(peer)->trouble; }

  void post(Peer peer, Bytes message) override;
  void on_message(OnMessage listener) override { listener_ = std::move(listener); }
  void send(Peer peer, uint64_t tag, const void* from, size_t bytes) override;
  void receive(uint64_t tag, void* to, size_t bytes) override;
  bool settled() override;
  bool progress() override { return ucp_worker_progress(worker_) != 0; }
  void sleep(std::chrono::milliseconds limit) override;

 private:
  struct Remote {
    ucp_ep_h endpoint = nullptr;  // null: dropped
    std::string trouble;
  };
  // A message on its way.
  using Posted = std::vector<std::byte>;

  Peer connect(ucp_ep_params_t& params);
  void finish(void* request, ucs_status_t status);
  void close(Remote& remote, uint32_t flags);

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
  std::vector<std::unique_ptr<Remote>> peers_;  // their addresses are UCX's arguments
  std::vector<void*> receiving_;
  int64_t under_way_ = 0;
  std::string fault_;
};

}  // namespace llmservice
