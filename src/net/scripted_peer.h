#pragma once

// For the tests of this folder: a peer that says exactly what a test wants, byte by byte.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "net/connect.h"
#include "net/socket.h"
#include "net/testing.h"

namespace quorate::net::testing {

struct Frame {
  enum Type : std::uint8_t {
    kData = 0,
    kHeaders = 1,
    kResetStream = 3,
    kSettings = 4,
    kPing = 6,
    kGoaway = 7,
    kWindowUpdate = 8,
  };
  static constexpr std::uint8_t kEndStream = 1;
  static constexpr std::uint8_t kAck = 1;
  static constexpr std::uint8_t kEndHeaders = 4;

  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload = {};

  std::string bytes() const {
    std::string out = number(payload.size(), 3);
    out += static_cast<char>(type);
    out += static_cast<char>(flags);
    return out + number(stream, 4) + payload;
  }
  static std::string number(std::size_t value, int size) {
    std::string out;
    for (int i = size - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
  }
  static Frame settings() { return {kSettings, 0, 0}; }
  static Frame max_streams(std::uint32_t most) {
    return {kSettings, 0, 0, number(3, 2) + number(most, 4)};
  }
  static Frame settings_ack() { return {kSettings, kAck, 0}; }
  // ":status: 200" is the eighth entry of HPACK's static table.
  static Frame head_200(std::uint32_t on) { return {kHeaders, kEndHeaders, on, "\x88"}; }
  static Frame data(std::uint32_t on, std::string bytes, bool end) {
    return {kData, end ? kEndStream : std::uint8_t{0}, on, std::move(bytes)};
  }
  static Frame reset(std::uint32_t on, std::uint32_t code) {
    return {kResetStream, 0, on, number(code, 4)};
  }
  static Frame goaway(std::uint32_t last, std::uint32_t code = 0) {
    return {kGoaway, 0, 0, number(last, 4) + number(code, 4)};
  }
};

// One end of a raw connection. Failures throw, so that scripts read straight down.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

  Task<void> send(std::string bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      auto sent = ::send(socket_->fd(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (sent > 0) {
        done += static_cast<std::size_t>(sent);
        continue;
      }
      if (errno != EAGAIN) throw std::runtime_error("the peer's connection is broken");
      must(co_await socket_->wait(Socket::Direction::kWrite, soon(socket_->runtime())));
    }
  }
  Task<void> send(Frame frame) { return send(frame.bytes()); }

  // What comes next, at least one byte; nothing at the end.
  Task<std::string> receive() {
    std::array<char, 65536> buffer;
    for (;;) {
      auto got = ::recv(socket_->fd(), buffer.data(), buffer.size(), 0);
      if (got >= 0) co_return std::string(buffer.data(), static_cast<std::size_t>(got));
      if (errno != EAGAIN) co_return std::string();
      must(co_await socket_->wait(Socket::Direction::kRead, soon(socket_->runtime())));
    }
  }
  Task<std::string> receive_exactly(std::size_t size) {
    while (buffer_.size() < size) {
      auto more = co_await receive();
      if (more.empty()) throw std::runtime_error("the connection ended early");
      buffer_ += more;
    }
    auto taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    co_return taken;
  }
  Task<std::string> receive_until(std::string mark) {
    while (buffer_.find(mark) == std::string::npos) {
      auto more = co_await receive();
      if (more.empty()) throw std::runtime_error("the connection ended early");
      buffer_ += more;
    }
    auto size = buffer_.find(mark) + mark.size();
    auto taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    co_return taken;
  }
  // Takes what still comes, until the other side has closed.
  Task<std::string> receive_rest() {
    auto rest = std::exchange(buffer_, {});
    for (;;) {
      auto more = co_await receive();
      if (more.empty()) co_return rest;
      rest += more;
    }
  }

  Task<Frame> receive_frame() {
    auto head = co_await receive_exactly(9);
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
    const std::size_t size = std::size_t{byte(0)} << 16 | std::size_t{byte(1)} << 8 | byte(2);
    Frame frame;
    frame.type = byte(3);
    frame.flags = byte(4);
    for (std::size_t i = 5; i < 9; ++i) frame.stream = frame.stream << 8 | byte(i);
    frame.payload = co_await receive_exactly(size);
    co_return frame;
  }
  // The next frame of this type; others before it are passed over.
  Task<Frame> receive_frame(Frame::Type type) {
    for (;;) {
      auto frame = co_await receive_frame();
      if (frame.type == type) co_return frame;
    }
  }
  // As a server of HTTP/2: the client's preface, our SETTINGS.
  Task<void> shake_hands(Frame settings = Frame::settings()) {
    co_await receive_exactly(24);
    co_await send(settings);
    co_await receive_frame(Frame::kSettings);
    co_await send(Frame::settings_ack());
  }

  void close() { socket_.reset(); }
  // As if the machine were gone: the connection ends with a reset.
  void abort() {
    const linger now{1, 0};
    ::setsockopt(socket_->fd(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    socket_.reset();
  }
  void end_writing() { ::shutdown(socket_->fd(), SHUT_WR); }

 private:
  std::unique_ptr<Socket> socket_;
  std::string buffer_;
};

// Listens on loopback.
class ScriptedServer {
 public:
  explicit ScriptedServer(rt::Runtime runtime, int backlog = 16) : runtime_(runtime) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(fd, backlog) != 0 ||
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
    listener_ = std::make_unique<Socket>(runtime, fd);
  }

  std::uint16_t port() const { return port_; }
  void stop() { listener_.reset(); }

  Task<ScriptedPeer> accept() {
    for (;;) {
      const int fd = ::accept4(listener_->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) co_return ScriptedPeer(std::make_unique<Socket>(runtime_, fd));
      must(co_await listener_->wait(Socket::Direction::kRead, soon(runtime_)));
    }
  }

 private:
  rt::Runtime runtime_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Socket> listener_;
};

inline Task<ScriptedPeer> dial(rt::Runtime runtime, std::uint16_t port) {
  co_return ScriptedPeer(must(co_await connect(runtime, "127.0.0.1", port, soon(runtime))));
}

// A script beside the body of a test; both must come to their end.
inline Task<void> beside_script(rt::Runtime runtime, Task<void> script, Task<void> body) {
  rt::TaskGroup group(runtime, [](const std::string&, const std::string& what) {
    ADD_FAILURE() << "the script broke: " << what;
  });
  group.spawn("script", std::move(script));
  co_await finally(std::move(body), [&] { return group.join(); });
}

}  // namespace quorate::net::testing
