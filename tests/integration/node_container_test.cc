#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>

#include "net/socket.h"
#include "node/fabric.h"
#include "node/spawn.h"
#include "node/wires.h"
#include "rt/fd.h"
#include "rt/loop.h"
#include "tests/integration/node_rig.h"
#include "tests/support/wait.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class ContainerTest : public ByEachUser {};
INSTANTIATE_TEST_SUITE_P(Users, ContainerTest, testing::Values(As::kSelf, As::kNobody),
                         ByEachUser::name);

void wait_until_carried(Wires& wires, const PodSpaces& pod, Ipv4 address) {
  support::eventually(10s, "the cable carries",
                      [&] { return support::Look(*wires.carries(pod, address)); });
}

struct Outcome {
  std::string output;
  rt::Exit end;
};

// A machine with a fabric that this process has entered, and one node's wires in it.
class Machine {
 public:
  explicit Machine(const std::string& dir) : dir_(dir) {
    auto fabric = Fabric::make({dir});
    if (!fabric) throw std::runtime_error(fabric.error().text());
    if (auto entered = fabric->enter(); !entered) throw std::runtime_error(entered.error().text());
    auto wires = Wires::lay(1);
    if (!wires) throw std::runtime_error(wires.error().text());
    wires_.emplace(std::move(*wires));
    fs::create_directories(dir_ + "/place");
    fs::create_directories(dir_ + "/volume");
    request.place = dir_ + "/place";
  }

  PodSpaces pod(const std::string& hostname, Ipv4 address) {
    auto spaces = make_pod_spaces(hostname);
    if (!spaces) throw std::runtime_error(spaces.error().text());
    auto attached = wires_->attach(*spaces, address);
    if (!attached) throw std::runtime_error(attached.error().text());
    wait_until_carried(*wires_, *spaces, address);
    return std::move(*spaces);
  }

  // Starts `script` in a container; its output goes to a pipe that is read by `finish`.
  Spawned start(const PodSpaces& pod, const std::string& script) {
    auto root = plan_root(request);
    if (!root) throw std::runtime_error(root.error().text());
    auto spawned = spawn_container(loop_.runtime(), program({"sh", "-c", script}), pod, *root);
    if (!spawned) throw std::runtime_error(spawned.error().text());
    auto running = loop_.run(wait_until_running(loop_.runtime(), *spawned, *root, soon()));
    EXPECT_TRUE(running) << running.error().text();
    return std::move(*spawned);
  }
  Outcome finish(Spawned spawned) {
    output_.reset();
    Outcome out;
    char buffer[4096];
    for (ssize_t got; (got = ::read(reader_.get(), buffer, sizeof buffer)) > 0;)
      out.output.append(buffer, static_cast<std::size_t>(got));
    out.end = end(spawned);
    return out;
  }
  rt::Exit end(Spawned& spawned) {
    auto end = loop_.run(spawned.child.wait(soon()));
    EXPECT_TRUE(end) << end.error().text();
    return end ? *end : rt::Exit{};
  }
  Outcome run(const PodSpaces& pod, const std::string& script) {
    return finish(start(pod, script));
  }
  Outcome run_inside(const Spawned& container, const std::string& script) {
    auto spawned =
        spawn_in_container(loop_.runtime(), program({"sh", "-c", script}), container.child.pid());
    EXPECT_TRUE(spawned) << spawned.error().text();
    auto running = loop_.run(wait_until_running(loop_.runtime(), *spawned, {}, soon()));
    EXPECT_TRUE(running) << running.error().text();
    return finish(std::move(*spawned));
  }

  Program program(std::vector<std::string> arguments) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader_ = rt::Fd(ends[0]);
    output_ = rt::Fd(ends[1]);
    Program out;
    out.arguments = std::move(arguments);
    out.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "A=b"};
    out.output = output_.get();
    return out;
  }
  rt::Deadline soon() { return loop_.runtime().in(10s); }
  rt::Loop& loop() { return loop_; }
  Wires& wires() { return *wires_; }

  RootRequest request;

 private:
  std::string dir_;
  rt::Loop loop_;
  std::optional<Wires> wires_;
  rt::Fd reader_;
  rt::Fd output_;
};

void with_machine(As who, const std::function<void(Machine&, const std::string& dir)>& body) {
  Scratch scratch(who);
  run_apart(who, [&] {
    Machine machine(scratch.path());
    body(machine, scratch.path());
  });
}

TEST_P(ContainerTest, IsProcessOneWithItsOwnNameEnvironmentAndExitCode) {
  with_machine(GetParam(), [](Machine& machine, const std::string&) {
    auto pod = machine.pod("c-0", layout::pod_address(1, 2));
    auto outcome =
        machine.run(pod, "echo $$ $(hostname) $A; ls /proc | grep -c '^[0-9]*$'; exit 7");
    EXPECT_EQ(outcome.end.code, 7);
    EXPECT_TRUE(outcome.output.starts_with("1 c-0 b\n")) << outcome.output;
  });
}

TEST_P(ContainerTest, SeesProgramsReadOnlyAndWritesToVolumesAlone) {
  with_machine(GetParam(), [](Machine& machine, const std::string& dir) {
    machine.request.mounts = {{dir + "/volume", "/data/deep", true, false}};
    auto pod = machine.pod("p", layout::pod_address(1, 2));
    auto outcome = machine.run(pod,
                               "echo x > /data/deep/file; echo x > /tmp/file;"
                               "echo x > /etc/file; echo x > /file; mkdir /data/other;"
                               "ls /home /root; cat /data/deep/file /tmp/file; true");
    EXPECT_EQ(outcome.end.code, 0);
    EXPECT_NE(outcome.output.find("/etc/file: Read-only file system"), std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find("/file: Read-only file system"), std::string::npos);
    EXPECT_TRUE(outcome.output.ends_with("x\nx\n")) << outcome.output;
    EXPECT_TRUE(fs::exists(dir + "/volume/file"));
  });
}

TEST_P(ContainerTest, HasNoCapabilitiesAndCannotGainAny) {
  with_machine(GetParam(), [](Machine& machine, const std::string&) {
    auto pod = machine.pod("p", layout::pod_address(1, 2));
    auto outcome = machine.run(pod,
                               "grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status;"
                               "mount -o remount,rw / 2>&1 | grep -c . ");
    EXPECT_NE(outcome.output.find("CapPrm:\t0000000000000000"), std::string::npos);
    EXPECT_NE(outcome.output.find("CapEff:\t0000000000000000"), std::string::npos);
    EXPECT_NE(outcome.output.find("CapBnd:\t0000000000000000"), std::string::npos);
    EXPECT_NE(outcome.output.find("NoNewPrivs:\t1"), std::string::npos);
  });
}

TEST_P(ContainerTest, ProgramsOfAnImageAreFound) {
  with_machine(GetParam(), [](Machine& machine, const std::string& dir) {
    fs::create_directories(dir + "/image");
    std::ofstream(dir + "/image/hello") << "#!/bin/sh\necho hello from $0\n";
    fs::permissions(dir + "/image/hello", fs::perms::all);
    machine.request.image = {{dir + "/image", "/usr/local/bin"}};
    auto pod = machine.pod("p", layout::pod_address(1, 2));
    EXPECT_EQ(machine.run(pod, "hello").output, "hello from /usr/local/bin/hello\n");
  });
}

TEST_P(ContainerTest, AProgramThatIsNotThereIsSaidSo) {
  with_machine(GetParam(), [](Machine& machine, const std::string&) {
    auto pod = machine.pod("p", layout::pod_address(1, 2));
    auto root = plan_root(machine.request);
    ASSERT_TRUE(root);
    auto spawned =
        spawn_container(machine.loop().runtime(), machine.program({"no-such-program"}), pod, *root);
    ASSERT_TRUE(spawned);
    auto running = machine.loop().run(
        wait_until_running(machine.loop().runtime(), *spawned, *root, machine.soon()));
    ASSERT_FALSE(running);
    EXPECT_EQ(running.error().text(), "exec: no such file or directory");
    EXPECT_EQ(machine.end(*spawned), (rt::Exit{127, 0}));
  });
}

TEST_P(ContainerTest, AnotherProcessCanBeRunInside) {
  with_machine(GetParam(), [](Machine& machine, const std::string& dir) {
    machine.request.mounts = {{dir + "/volume", "/data", true, false}};
    auto pod = machine.pod("inside", layout::pod_address(1, 2));
    auto container = machine.start(pod, "echo here > /data/file; exec sleep 1000");
    support::eventually(10s, "it runs", [&] { return fs::exists(dir + "/volume/file"); });
    auto outcome = machine.run_inside(container, "hostname; cat /data/file; cat /proc/1/comm");
    EXPECT_EQ(outcome.output, "inside\nhere\nsleep\n");
    container.child.signal(SIGKILL);
    EXPECT_EQ(machine.end(container), (rt::Exit{0, SIGKILL}));
  });
}

TEST_P(ContainerTest, PodsReachEachOtherUnderTheirTrueAddresses) {
  with_machine(GetParam(), [](Machine& machine, const std::string&) {
    auto other = Wires::lay(2);
    ASSERT_TRUE(other) << other.error().text();
    auto server = machine.pod("server", layout::pod_address(1, 2));
    auto client = make_pod_spaces("client");
    ASSERT_TRUE(client);
    ASSERT_TRUE(other->attach(*client, layout::pod_address(2, 9)));
    wait_until_carried(*other, *client, layout::pod_address(2, 9));
    auto socket_in = [](const PodSpaces& pod) {
      auto visit = NetworkVisit::to(pod.network.get());
      EXPECT_TRUE(visit);
      return rt::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    };
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(80);  // low ports are open
    where.sin_addr.s_addr = layout::pod_address(1, 2).network_order();
    auto listener = socket_in(server);
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    auto caller = socket_in(*client);
    ASSERT_EQ(::connect(caller.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    rt::Fd accepted(::accept(listener.get(), reinterpret_cast<sockaddr*>(&peer), &size));
    EXPECT_EQ(Ipv4(ntohl(peer.sin_addr.s_addr)).text(), "198.18.2.9");
  });
}

TEST_P(ContainerTest, AnAddressThatMovesToAnotherPodIsReachedAtOnce) {
  with_machine(GetParam(), [](Machine& machine, const std::string&) {
    auto client = machine.pod("client", layout::pod_address(1, 3));
    for (int life = 0; life < 3; ++life) {
      auto server = machine.pod("server", layout::pod_address(1, 2));
      auto visit = NetworkVisit::to(client.network.get());
      rt::Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      timeval second{1, 0};
      ::setsockopt(caller.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_port = htons(81);
      where.sin_addr.s_addr = layout::pod_address(1, 2).network_order();
      EXPECT_EQ(::connect(caller.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), -1);
      EXPECT_EQ(errno, ECONNREFUSED) << "somebody answers, and refuses";
    }
  });
}

TEST_P(ContainerTest, ACutNodeReachesItsOwnPodsAlone) {
  with_machine(GetParam(), [](Machine& machine, const std::string&) {
    auto pod = machine.pod("p", layout::pod_address(1, 2));
    auto answers = [](int network_space) {
      std::optional<NetworkVisit> visit;
      if (network_space >= 0) visit.emplace(*NetworkVisit::to(network_space));
      rt::Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      timeval wait{0, 300'000};
      ::setsockopt(caller.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_port = htons(81);
      where.sin_addr.s_addr = layout::pod_address(1, 2).network_order();
      ::connect(caller.get(), reinterpret_cast<sockaddr*>(&where), sizeof where);
      return errno == ECONNREFUSED;
    };
    EXPECT_TRUE(answers(-1));
    ASSERT_TRUE(machine.wires().cut_node());
    EXPECT_FALSE(answers(-1)) << "the fabric does not reach it";
    EXPECT_TRUE(answers(machine.wires().network_space())) << "its own node does";
    ASSERT_TRUE(machine.wires().mend_node());
    support::eventually(20s, "the fabric reaches it again", [&] { return answers(-1); });
  });
}

// The node is a process; SIGKILL is its power cut. Everything that it ran goes with it.
TEST_P(ContainerTest, DieWithTheNodeHoweverItEnds) {
  Scratch scratch(GetParam());
  run_apart(GetParam(), [&] {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    int node = ::fork();
    if (node == 0) {
      Machine machine(scratch.path());
      auto pod = machine.pod("p", layout::pod_address(1, 2));
      // A program with children of its own, one of which has left its session.
      auto container = machine.start(pod, "setsid sleep 1000 & sleep 1000 & exec sleep 1000");
      auto id = ProcessId::of(container.child.pid());
      auto put = ::write(ends[1], &*id, sizeof *id);
      ::pause();
      ::_exit(put < 0);
    }
    ProcessId container;
    ASSERT_EQ(::read(ends[0], &container, sizeof container),
              static_cast<ssize_t>(sizeof container));
    EXPECT_TRUE(container.runs());
    struct stat space {};
    ASSERT_EQ(::stat(("/proc/" + std::to_string(container.pid) + "/ns/pid").c_str(), &space), 0);
    ::kill(node, SIGKILL);
    ::waitpid(node, nullptr, 0);
    auto left = [&] {
      int count = 0;
      for (const auto& entry : fs::directory_iterator("/proc")) {
        struct stat other {};
        if (::stat((entry.path() / "ns/pid").c_str(), &other) == 0 &&
            other.st_ino == space.st_ino && other.st_dev == space.st_dev)
          ++count;
      }
      return count;
    };
    support::eventually(10s, "nothing is left in its PID namespace", [&] {
      return support::Look(left() == 0, std::to_string(left()) + " processes");
    });
  });
}

}  // namespace
}  // namespace quorate::node
