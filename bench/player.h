#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/measure.h"
#include "net/server.h"
#include "pki/authority.h"
#include "rt/loop.h"

// Servers that play Kubernetes or etcd in a process of their own, so that memory and CPU time of
// the measured process are those of clients alone.
namespace quorate::bench {

// An authority, and a server and a client under it.
struct Credentials {
  net::TlsIdentity server;
  net::TlsIdentity client;
};

inline constexpr const char* kServerName = "player";  // in the server's certificate

inline Credentials make_credentials() {
  using namespace std::chrono_literals;
  pki::SystemKeys keys;
  const auto now = rt::Loop().runtime().clock->wall();
  const pki::Validity validity{now - 1h, now + 24h};
  const auto authority = must(pki::Authority::make(keys, "bench", validity));
  const auto issue = [&](const char* name, pki::Purpose purpose) {
    pki::LeafRequest request;
    request.common_name = name;
    request.names.dns = {name};
    request.names.ips = {"127.0.0.1"};
    request.purpose = purpose;
    request.validity = validity;
    auto leaf = must(authority.issue(keys, request));
    return net::TlsIdentity{authority.certificate().pem(), leaf.certificate_pem(), leaf.key.pem()};
  };
  return {issue(kServerName, pki::Purpose::kServer), issue("client", pki::Purpose::kClient)};
}

// An open socket on a free port of the loopback.
struct Listener {
  int fd = -1;
  std::uint16_t port = 0;
};

inline Listener open_listener() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, generic, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, generic, &size) != 0)
    throw std::runtime_error("cannot listen on the loopback");
  return {fd, ntohs(address.sin_port)};
}

// A child process that serves on `count` ports until this object goes, or the process that made
// it. To be made before anything is measured and before there is a loop.
class Player {
 public:
  using MakeHandler = std::function<std::unique_ptr<net::Handler>(rt::Runtime)>;

  Player(int count, const net::TlsIdentity& identity, net::PeerCheck check,
         const MakeHandler& make_handler) {
    std::vector<Listener> listeners;
    for (int i = 0; i < count; ++i) listeners.push_back(open_listener());
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      _exit(run_main([&] { serve(listeners, identity, check, make_handler); }));
    }
    for (const auto& listener : listeners) {
      close(listener.fd);
      ports_.push_back(listener.port);
    }
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] const std::vector<std::uint16_t>& ports() const { return ports_; }

 private:
  static void serve(const std::vector<Listener>& listeners, const net::TlsIdentity& identity,
                    net::PeerCheck check, const MakeHandler& make_handler) {
    rt::Loop loop;
    auto handler = make_handler(loop.runtime());
    net::ServerOptions options;
    options.tls = must(net::TlsContext::for_server(identity, check, {"h2", "http/1.1"}));
    options.idle_timeout = std::chrono::hours(1);
    std::vector<std::unique_ptr<net::Server>> servers;
    for (const auto& listener : listeners) {
      options.listen_fd = listener.fd;
      servers.push_back(must(net::make_server(loop.runtime(), options)));
    }
    loop.run(run_all(loop.runtime(), servers, *handler));
  }
  static Task<void> run_all(rt::Runtime runtime,
                            const std::vector<std::unique_ptr<net::Server>>& servers,
                            net::Handler& handler) {
    rt::TaskGroup group(runtime);
    for (const auto& server : servers) group.spawn("server", server->run(handler));
    co_await group.join();
  }

  pid_t pid_ = -1;
  std::vector<std::uint16_t> ports_;
};

}  // namespace quorate::bench
