#include "sandbox/host_sockets.h"

#include <gtest/gtest.h>

#include "node/relay.h"

namespace quorate::sandbox {
namespace {

TEST(HostSockets, AreOpenedOnLoopbackAtThePortThatIsWanted) {
  auto host = HostSockets::make();
  ASSERT_TRUE(host) << host.error().text();
  auto any = host->listen(0);
  ASSERT_TRUE(any) << any.error().text();
  const auto where = node::local_address(any->get());
  EXPECT_EQ(where.address.text(), "127.0.0.1");
  EXPECT_GT(where.port, 0);
  const auto taken = host->listen(where.port);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Code::kConflict);
  any->reset();
  const auto again = host->listen(where.port);
  EXPECT_TRUE(again) << "nobody holds it open but its owner: " << again.error().text();
}

}  // namespace
}  // namespace quorate::sandbox
