// Sockets of this machine that are no wire's.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace llmservice::testing {

// A socket of this machine on a port that was free.
class LocalSocket {
 public:
  LocalSocket() : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    const int yes = 1;  // whoever listens after this one does so while a connection of it is open
    setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(descriptor_, address, sizeof(address_));
    socklen_t bytes = sizeof(address_);
    getsockname(descriptor_, address, &bytes);
  }
  ~LocalSocket() { close(descriptor_); }
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;
  int32_t port() const { return ntohs(address_.sin_port); }
  void listen() const { ::listen(descriptor_, 4); }
  int accept() const { return ::accept(descriptor_, nullptr, nullptr); }

 private:
  int descriptor_;
  sockaddr_in address_{};
};

// Calls a port of this machine.
class CallingSocket {
 public:
  explicit CallingSocket(int32_t port) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~CallingSocket() { close(descriptor_); }
  CallingSocket(const CallingSocket&) = delete;
  CallingSocket& operator=(const CallingSocket&) = delete;
  void send(const std::string& text) const { ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL); }

 private:
  int descriptor_;
};

}  // namespace llmservice::testing
