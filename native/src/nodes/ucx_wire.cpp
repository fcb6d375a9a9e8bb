#include "nodes/ucx_wire.h"

#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "nodes/ucx_addresses.h"

namespace llmservice {
namespace {

constexpr unsigned kMessage = 0;
// What is left to send at the end gets this long.
constexpr std::chrono::milliseconds kFarewell{200};

[[noreturn]] void fail(const std::string& what, ucs_status_t status) {
  throw std::runtime_error(what + ": " + ucs_status_string(status));
}

void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK) fail(what, status);
}

// Unless the variable that UCX reads is set.
void prefer(ucp_config_t* config, const char* name, const char* value) {
  if (std::getenv((std::string("UCX_") + name).c_str()) == nullptr) ucp_config_modify(config, name, value);
}

ucp_context_h make_context() {
  ucp_config_t* config = nullptr;
  require(ucp_config_read(nullptr, nullptr, &config), "UCX's configuration cannot be read");
  prefer(config, "TLS", "tcp");
  prefer(config, "SOCKADDR_TLS_PRIORITY", "tcp");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  require(status, "UCX cannot begin");
  return context;
}

}  // namespace

UcxWire::UcxWire() : context_(make_context()) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  require(ucp_worker_create(context_, &params, &worker_), "UCX has no worker");
  require(ucp_worker_get_efd(worker_, &events_), "UCX cannot wake a thread");
  require(ucp_worker_get_address(worker_, &address_, &address_bytes_), "UCX has no address");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessage;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = heard;
  handler.arg = this;
  require(ucp_worker_set_am_recv_handler(worker_, &handler), "UCX takes no handler");
}

UcxWire::~UcxWire() {
  listener_ = nullptr;
  stop_listening();
  // What is cancelled takes itself out of the list.
  for (void* request : std::vector(receiving_)) ucp_request_cancel(worker_, request);
  for (const auto& [peer, remote] : peers_)
    close(*remote, remote->trouble.empty() ? 0 : UCP_EP_CLOSE_FLAG_FORCE);
  ucp_worker_release_address(worker_, address_);
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

bool UcxWire::close(Remote& remote, uint32_t flags) {
  if (remote.endpoint == nullptr) return true;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = flags;
  void* const request = ucp_ep_close_nbx(std::exchange(remote.endpoint, nullptr), &how);
  if (!UCS_PTR_IS_PTR(request)) return true;
  const auto deadline = std::chrono::steady_clock::now() + kFarewell;
  while (ucp_request_check_status(request) == UCS_INPROGRESS && std::chrono::steady_clock::now() < deadline) {
    if (!progress()) sleep(std::chrono::milliseconds(1));
  }
  const bool closed = ucp_request_check_status(request) != UCS_INPROGRESS;
  ucp_request_free(request);
  return closed;
}

void UcxWire::listen(uint16_t port) {
  // Of one family: UCX takes no IPv4 address that is mapped into IPv6.
  sockaddr_storage any{};
  socklen_t bytes = 0;
  if (address_family() == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(any);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    bytes = sizeof(v4);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(any);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    bytes = sizeof(v6);
  }
  ucp_listener_params_t params{};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.conn_handler = {.cb = called, .arg = this};
  params.sockaddr = {.addr = reinterpret_cast<const sockaddr*>(&any), .addrlen = bytes};
  const ucs_status_t status = ucp_listener_create(worker_, &params, &listening_);
  if (status != UCS_OK) fail("nothing can listen on port " + std::to_string(port), status);
}

void UcxWire::stop_listening() {
  if (listening_ != nullptr) ucp_listener_destroy(std::exchange(listening_, nullptr));
}

Wire::Peer UcxWire::dial(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = address_family();
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) throw std::runtime_error("the name " + host + " has no address: " + gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr = {.addr = found->ai_addr, .addrlen = found->ai_addrlen};
  return connect(params);
}

Wire::Peer UcxWire::reach(Bytes address) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  return connect(params);
}

Wire::Peer UcxWire::connect(ucp_ep_params_t& params) {
  auto remote = std::make_unique<Remote>();
  params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {.cb = failed, .arg = remote.get()};
  const ucs_status_t status = ucp_ep_create(worker_, &params, &remote->endpoint);
  if (status != UCS_OK) remote->trouble = ucs_status_string(status);
  peers_.emplace(next_peer_, std::move(remote));
  return next_peer_++;
}

void UcxWire::drop(Peer peer) {
  auto dropped = peers_.extract(peer);
  if (dropped.empty()) return;
  if (!close(*dropped.mapped(), UCP_EP_CLOSE_FLAG_FORCE)) closing_.push_back(std::move(dropped.mapped()));
}

std::vector<Wire::Peer> UcxWire::peers() const {
  std::vector<Peer> all;
  for (const auto& [peer, remote] : peers_) all.push_back(peer);
  return all;
}

const std::string& UcxWire::trouble(Peer peer) const {
  static const std::string dropped = "dropped";
  const auto found = peers_.find(peer);
  return found == peers_.end() ? dropped : found->second->trouble;
}

const std::string& UcxWire::address_of_caller(Peer peer) const {
  static const std::string none;
  const auto found = peers_.find(peer);
  return found == peers_.end() ? none : found->second->caller;
}

size_t UcxWire::unsent(Peer peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? 0 : found->second->unsent;
}

UcxWire::Remote* UcxWire::open_remote(Peer peer) {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || found->second->endpoint == nullptr || !found->second->trouble.empty())
    return nullptr;
  return found->second.get();
}

void UcxWire::post(Peer peer, std::vector<std::byte> message) {
  Remote* const remote = open_remote(peer);
  if (remote == nullptr) return;
  auto posted = std::make_unique<Posted>(std::move(message), *remote);
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
  how.user_data = posted.get();
  how.cb.send = [](void* request, ucs_status_t, void* data) {
    const std::unique_ptr<Posted> sent(static_cast<Posted*>(data));
    sent->to.unsent -= sent->message.size();
    ucp_request_free(request);
  };
  void* const request = ucp_am_send_nbx(remote->endpoint, kMessage, nullptr, 0, posted->message.data(),
                                        posted->message.size(), &how);
  if (UCS_PTR_IS_PTR(request)) {
    remote->unsent += posted->message.size();
    posted.release();
  }
  if (UCS_PTR_IS_ERR(request)) remote->trouble = ucs_status_string(UCS_PTR_STATUS(request));
}

void UcxWire::send(Peer peer, uint64_t tag, const void* from, size_t bytes) {
  Remote* const remote = open_remote(peer);
  if (remote == nullptr) return;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.user_data = this;
  // A failure is the peer's trouble, of which its error handler says more.
  how.cb.send = [](void* request, ucs_status_t, void* wire) {
    static_cast<UcxWire*>(wire)->finish(request, UCS_OK);
  };
  void* const request = ucp_tag_send_nbx(remote->endpoint, from, bytes, tag, &how);
  if (UCS_PTR_IS_ERR(request)) remote->trouble = ucs_status_string(UCS_PTR_STATUS(request));
  if (UCS_PTR_IS_PTR(request)) ++under_way_;
}

void UcxWire::receive(uint64_t tag, void* to, size_t bytes) {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.user_data = this;
  how.cb.recv = [](void* request, ucs_status_t status, const ucp_tag_recv_info_t*, void* wire) {
    auto& self = *static_cast<UcxWire*>(wire);
    std::erase(self.receiving_, request);
    self.finish(request, status);
  };
  // Called at once, the callback is not: the request is none then.
  void* const request = ucp_tag_recv_nbx(worker_, to, bytes, tag, ~uint64_t{0}, &how);
  if (UCS_PTR_IS_ERR(request)) fault_ = ucs_status_string(UCS_PTR_STATUS(request));
  if (!UCS_PTR_IS_PTR(request)) return;
  ++under_way_;
  receiving_.push_back(request);
}

void UcxWire::finish(void* request, ucs_status_t status) {
  --under_way_;
  if (status != UCS_OK && status != UCS_ERR_CANCELED) fault_ = ucs_status_string(status);
  ucp_request_free(request);
}

bool UcxWire::settled() {
  if (!fault_.empty()) throw std::runtime_error(fault_);
  return under_way_ == 0;
}

void UcxWire::sleep(std::chrono::milliseconds limit) {
  // Busy: something came between the last progress and this.
  if (ucp_worker_arm(worker_) != UCS_OK) return;
  pollfd event{.fd = events_, .events = POLLIN, .revents = 0};
  poll(&event, 1, static_cast<int>(limit.count()));
}

ucs_status_t UcxWire::heard(void* self, const void*, size_t, void* data, size_t bytes,
                            const ucp_am_recv_param_t* how) {
  auto& wire = *static_cast<UcxWire*>(self);
  if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || !wire.listener_) return UCS_OK;
  if ((how->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0) return UCS_OK;
  const auto from = std::ranges::find_if(
      wire.peers_, [&](const auto& each) { return each.second->endpoint == how->reply_ep; });
  if (from != wire.peers_.end()) wire.listener_(from->first, {static_cast<std::byte*>(data), bytes});
  return UCS_OK;
}

void UcxWire::called(ucp_conn_request_h request, void* self) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
  params.conn_request = request;
  // Before the request becomes an endpoint, with which it ends.
  const std::string caller = caller_of(request);
  auto& wire = *static_cast<UcxWire*>(self);
  wire.peers_[wire.connect(params)]->caller = caller;
}

void UcxWire::failed(void* remote, ucp_ep_h, ucs_status_t status) {
  static_cast<Remote*>(remote)->trouble = ucs_status_string(status);
}

}  // namespace llmservice

uint32_t llmservice_wire_abi() { return llmservice::kWireAbi; }
llmservice::Wire* llmservice_open_wire() { return new llmservice::UcxWire(); }
