#include "nodes/ucx_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include <memory>

namespace llmservice {
namespace {

// Of any interface but the loopback device.
bool has_address_of(int family) {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(found, freeifaddrs);
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (each->ifa_addr->sa_family == family) return true;
  }
  return false;
}

}  // namespace

int address_family() { return has_address_of(AF_INET6) && !has_address_of(AF_INET) ? AF_INET6 : AF_INET; }

std::string caller_of(ucp_conn_request_h request) {
  ucp_conn_request_attr_t of{};
  of.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
  if (ucp_conn_request_query(request, &of) != UCS_OK) return "";
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  const auto* const address = reinterpret_cast<const sockaddr*>(&of.client_address);
  const socklen_t bytes = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (getnameinfo(address, bytes, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) !=
      0)
    return "";
  std::string found = host;
  if (address->sa_family == AF_INET6) found.insert(0, "[").append("]");
  return found.append(":").append(port);
}

}  // namespace llmservice
