#include "node/relay.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "net/connect.h"
#include "node/socket_io.h"
#include "rt/loop.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;

const SocketAddress kAnyPort{*Ipv4::parse("127.0.0.1"), 0};

// Listens, and its queue is full: who calls hears nothing, as of a Pod that is gone.
class Gone {
 public:
  Gone() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = kAnyPort.address.network_order();
    ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any);
    ::listen(listener_.get(), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    for (auto& filler : fillers_) {
      filler = rt::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(filler.get(), reinterpret_cast<const sockaddr*>(&bound), size);
    }
  }
  SocketAddress address() const { return local_address(listener_.get()); }

 private:
  rt::Fd listener_;
  std::array<rt::Fd, 4> fillers_;
};

class RelayTest : public ::testing::Test {
 protected:
  // What a caller reads through a relay that leads to each of these in turn.
  Task<Result<std::string>> call(std::vector<SocketAddress> backends) {
    auto listener = listen_at(kAnyPort);
    if (!listener) co_return fail(listener.error());
    const auto where = local_address(listener->get());
    auto turn = std::make_shared<std::size_t>(0);
    Relay relay(runtime_, std::move(*listener), [=]() -> std::optional<SocketAddress> {
      return backends[(*turn)++ % backends.size()];
    });
    rt::TaskGroup group(runtime_);
    group.spawn("relay", relay.run());
    auto heard = co_await listen_to(where);
    group.cancel();
    co_await group.join();
    co_return heard;
  }
  Task<Result<std::string>> listen_to(SocketAddress where) {
    auto address = net::Address::parse(where.address.text(), where.port);
    CO_TRY(auto caller, co_await net::connect(runtime_, {*address}, runtime_.in(10s)));
    co_return co_await read_some(*caller, 100, runtime_.in(10s));
  }
  // Says something to the first who comes.
  Task<void> greet(net::Socket& listener) {
    auto waited = co_await listener.wait(net::Socket::Direction::kRead, runtime_.in(10s));
    if (!waited) co_return;
    net::Socket guest(runtime_, ::accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK));
    static_cast<void>(co_await write_fully(guest, "welcome", runtime_.in(10s)));
  }
  Task<Result<std::string>> call_beside_host(std::vector<SocketAddress> others) {
    auto listener = listen_at(kAnyPort);
    if (!listener) co_return fail(listener.error());
    others.push_back(local_address(listener->get()));
    net::Socket host(runtime_, listener->release());
    rt::TaskGroup group(runtime_);
    group.spawn("host", greet(host));
    auto heard = co_await call(std::move(others));
    group.cancel();
    co_await group.join();
    co_return heard;
  }

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
};

TEST_F(RelayTest, LeadsToTheBackend) {
  const auto heard = loop_.run(call_beside_host({}));
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(*heard, "welcome");
}

TEST_F(RelayTest, PassesOverWhoDoesNotAnswer) {
  Gone gone;
  const SocketAddress refusing{*Ipv4::parse("127.255.0.1"), gone.address().port};
  const auto heard = loop_.run(call_beside_host({gone.address(), refusing}));
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(*heard, "welcome");
}

TEST_F(RelayTest, HangsUpWhenNobodyAnswers) {
  const SocketAddress refusing{*Ipv4::parse("127.255.0.1"), 1};
  const auto heard = loop_.run(call({refusing}));
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(*heard, "");
}

}  // namespace
}  // namespace quorate::node
