// Addresses of this machine and of those that call it.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace llmservice {

// The one in which nodes call each other: AF_INET, or AF_INET6 where there is no other.
int address_family();

// ADDRESS:PORT of whoever asks for a connection; empty: not known.
std::string caller_of(ucp_conn_request_h request);

}  // namespace llmservice
