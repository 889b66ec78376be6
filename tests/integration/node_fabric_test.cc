#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>

#include "node/fabric.h"
#include "node/ipv4.h"
#include "node/namespaces.h"
#include "node/netlink.h"
#include "node/nodes.h"
#include "rt/fd.h"
#include "tests/integration/node_rig.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace quorate::node {
namespace {

class FabricTest : public ByEachUser {};
INSTANTIATE_TEST_SUITE_P(Users, FabricTest, testing::Values(As::kSelf, As::kNobody),
                         ByEachUser::name);

ino_t network_of(const char* pid) {
  struct stat facts {};
  ::stat(("/proc/" + std::string(pid) + "/ns/net").c_str(), &facts);
  return facts.st_ino;
}

sockaddr_in at(Ipv4 address, int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = address.network_order();
  out.sin_port = htons(static_cast<std::uint16_t>(port));
  return out;
}

rt::Fd listener_at(Ipv4 address, int port) {
  rt::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto where = at(address, port);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0)
      << address.text() << " " << std::strerror(errno);
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

TEST_P(FabricTest, IsEnteredByOthersOfTheSameUserAndEndsByItself) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    auto outside = network_of("self");
    auto fabric = Fabric::make({scratch.path()});
    ASSERT_TRUE(fabric) << fabric.error().text();
    run_apart(As::kSelf, [&] {
      auto found = Fabric::find(scratch.path());
      ASSERT_TRUE(found) << found.error().text();
      ASSERT_TRUE(found->enter());
      EXPECT_NE(network_of("self"), outside);
      EXPECT_EQ(support::read_file("/etc/resolv.conf"),
                "search svc.cluster.local cluster.local\nnameserver 198.18.255.1\noptions "
                "ndots:5\n");
      EXPECT_EQ(::geteuid(), 0u);
    });
    EXPECT_EQ(network_of("self"), outside);
    EXPECT_EQ(support::read_file("/etc/resolv.conf").find("198.18.255.1"), std::string::npos);
    fabric->end();
    EXPECT_EQ(Fabric::find(scratch.path()).error().code(), Code::kNotFound);
  });
}

TEST_P(FabricTest, EndsWithTheProcessThatMadeIt) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    ProcessId holder;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    int pid = ::fork();
    if (pid == 0) {
      auto fabric = Fabric::make({scratch.path()});
      holder = fabric ? fabric->holder() : ProcessId{};
      auto put = ::write(ends[1], &holder, sizeof holder);
      ::raise(put > 0 ? SIGKILL : SIGTERM);
    }
    ASSERT_EQ(::read(ends[0], &holder, sizeof holder), static_cast<ssize_t>(sizeof holder));
    ::waitpid(pid, nullptr, 0);
    support::eventually(std::chrono::seconds(10), "the fabric's holder has ended",
                        [&] { return !holder.runs(); });
  });
}

TEST_P(FabricTest, AListenerOpenedBeforeEnteringStillServesTheHost) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    auto listener = listener_at(Ipv4(127, 0, 0, 1), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    auto fabric = Fabric::make({scratch.path()});
    ASSERT_TRUE(fabric) << fabric.error().text();
    run_apart(As::kSelf, [&] {
      rt::Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // on the host's loopback
      ASSERT_TRUE(fabric->enter());
      EXPECT_EQ(::connect(caller.get(), reinterpret_cast<sockaddr*>(&bound), size), 0);
      rt::Fd accepted(::accept(listener.get(), nullptr, nullptr));
      EXPECT_TRUE(accepted);
      rt::Fd inside(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_NE(::connect(inside.get(), reinterpret_cast<sockaddr*>(&bound), size), 0);
    });
    fabric->end();
  });
}

// The limit of a user namespace that this process makes for itself: the machine's stays as it is.
bool forbid_more_user_namespaces() {
  auto write = [](const char* path, const std::string& text) {
    rt::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  };
  auto user = std::to_string(::geteuid());
  return ::unshare(CLONE_NEWUSER) == 0 && write("/proc/self/setgroups", "deny") &&
         write("/proc/self/uid_map", "0 " + user + " 1") &&
         write("/proc/sys/user/max_user_namespaces", "0");
}

TEST_P(FabricTest, WhereTheKernelRefusesItSaysWhatAndHowToAllowIt) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    ASSERT_TRUE(forbid_more_user_namespaces()) << std::strerror(errno);
    auto fabric = Fabric::make({scratch.path()});
    ASSERT_FALSE(fabric);
    EXPECT_EQ(fabric.error().text(),
              "make the fabric: unshare(CLONE_NEWUSER): no space left on device; "
              "user.max_user_namespaces is 0 here: `sysctl -w user.max_user_namespaces=15000` (as "
              "root) allows it");
    EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/fabric"));
  });
}

TEST_P(FabricTest, NodesOutsideOfOneAreTurnedAwayWithTheWayIn) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    auto prepared = prepare_node_process(scratch.path());
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().code(), Code::kInvalid);
    EXPECT_EQ(prepared.error().text(),
              "nodes run inside of a fabric, and this is none: use `quorate fabric --dir FOLDER -- "
              "quorate node ...`");
  });
}

TEST_P(FabricTest, ServiceAddressesAndPortFiftyThreeCanBeBound) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    auto fabric = Fabric::make({scratch.path()});
    ASSERT_TRUE(fabric) << fabric.error().text();
    ASSERT_TRUE(fabric->enter());
    auto dns = listener_at(layout::kFabric, 53);
    auto service = listener_at(Ipv4(198, 19, 7, 9), 443);
    rt::Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto where = at(Ipv4(198, 19, 7, 9), 443);
    EXPECT_EQ(::connect(caller.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    fabric->end();
  });
}

}  // namespace
}  // namespace quorate::node
