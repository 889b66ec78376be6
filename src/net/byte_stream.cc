#include "net/byte_stream.h"

#include <sys/socket.h>

#include <cerrno>

namespace quorate::net {

namespace {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

  Result<Moved> try_read(std::span<char> to) override {
    for (;;) {
      auto got = ::recv(socket_->fd(), to.data(), to.size(), 0);
      if (got > 0) return Moved{Moved::State::kSome, static_cast<std::size_t>(got)};
      if (got == 0) return Moved{Moved::State::kEnd, 0};
      if (errno == EAGAIN) return Moved{Moved::State::kBlocked, 0};
      if (errno != EINTR) return fail(broken_connection("read", errno));
    }
  }

  Result<Moved> try_write(std::string_view from) override {
    for (;;) {
      auto sent = ::send(socket_->fd(), from.data(), from.size(), MSG_NOSIGNAL);
      if (sent >= 0) return Moved{Moved::State::kSome, static_cast<std::size_t>(sent)};
      if (errno == EAGAIN) return Moved{Moved::State::kBlocked, 0};
      if (errno != EINTR) return fail(broken_connection("write", errno));
    }
  }

  Task<Result<void>> wait_to_read(rt::Deadline deadline) override {
    return socket_->wait(Socket::Direction::kRead, deadline);
  }
  Task<Result<void>> wait_to_write(rt::Deadline deadline) override {
    return socket_->wait(Socket::Direction::kWrite, deadline);
  }
  void wake() override { socket_->wake(); }
  void say_goodbye() override { ::shutdown(socket_->fd(), SHUT_WR); }
  std::string_view protocol() const override { return {}; }
  std::string peer_certificate() const override { return {}; }

 private:
  std::unique_ptr<Socket> socket_;
};

}  // namespace

Task<Result<bool>> read_more(ByteStream& stream, std::string& buffer, std::size_t limit,
                             rt::Deadline deadline) {
  for (;;) {
    const auto before = buffer.size();
    buffer.resize(before + limit);
    auto moved = stream.try_read({buffer.data() + before, limit});
    buffer.resize(before + (moved ? moved->bytes : 0));
    if (!moved) co_return fail(std::move(moved).error());
    if (moved->state != Moved::State::kBlocked) co_return moved->state == Moved::State::kSome;
    CO_TRY(co_await stream.wait_to_read(deadline));
  }
}

Task<Result<void>> write_all(ByteStream& stream, std::string bytes, rt::Deadline deadline) {
  for (std::size_t done = 0; done < bytes.size();) {
    CO_TRY(const auto moved, stream.try_write(std::string_view(bytes).substr(done)));
    done += moved.bytes;
    if (moved.state == Moved::State::kBlocked) CO_TRY(co_await stream.wait_to_write(deadline));
  }
  co_return Result<void>();
}

std::unique_ptr<ByteStream> make_plain_stream(std::unique_ptr<Socket> socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace quorate::net
