#include "net/connect.h"

#include <gmock/gmock.h>

#include "net/scripted_peer.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// A listener whose queue is full: connections to it hang, as to a machine that is gone.
class BlackHole {
 public:
  explicit BlackHole(rt::Runtime runtime) : server_(runtime, 0) {
    for (auto& fd : fillers_) {
      fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      ::connect(fd, address().native(), address().size());
    }
  }
  ~BlackHole() {
    for (int fd : fillers_) ::close(fd);
  }
  Address address() const { return *Address::parse("127.0.0.1", server_.port()); }

 private:
  ScriptedServer server_;
  std::array<int, 4> fillers_{};
};

class Connect : public ::testing::Test {
 public:
  Result<std::unique_ptr<Socket>> try_all(std::vector<Address> addresses, Duration within) {
    Result<std::unique_ptr<Socket>> result;
    loop_.run(store(connect(runtime_, std::move(addresses), runtime_.in(within)), result));
    return result;
  }
  Task<void> store(Task<Result<std::unique_ptr<Socket>>> work,
                   Result<std::unique_ptr<Socket>>& result) {
    result = co_await std::move(work);
  }
  Address listening() const { return *Address::parse("127.0.0.1", server_.port()); }
  // Nothing listens on this one.
  Address refusing() const { return *Address::parse("127.255.0.1", server_.port()); }

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  ScriptedServer server_{runtime_};
};

TEST_F(Connect, TriesTheNextAddressWhenOneRefuses) {
  EXPECT_TRUE(try_all({refusing(), refusing(), listening()}, 20s));
}

TEST_F(Connect, AnAddressThatDoesNotAnswerGetsOnlyItsShareOfTheTime) {
  BlackHole hole(runtime_);
  const auto began = runtime_.clock->now();
  EXPECT_TRUE(try_all({hole.address(), listening()}, 400ms));
  EXPECT_GE(runtime_.clock->now() - began, 200ms);
}

TEST_F(Connect, SaysWhatTheLastAddressSaid) {
  BlackHole hole(runtime_);
  auto refused = try_all({hole.address(), refusing()}, 200ms);
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
  EXPECT_EQ(refused.error().text(), refusing().text() + ": connect: connection refused");
  auto silent = try_all({hole.address()}, 100ms);
  EXPECT_EQ(silent.error().code(), Code::kUnavailable);
  EXPECT_EQ(silent.error().text(), "connect: connection timed out");
}

}  // namespace
}  // namespace quorate::net
