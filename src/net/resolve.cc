#include "net/resolve.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/strings.h"
#include "net/dns_message.h"
#include "net/socket.h"

namespace quorate::net {

namespace {

using Direction = Socket::Direction;

Result<std::unique_ptr<Socket>> open_socket(rt::Runtime runtime, const Address& server, int type) {
  const int fd = ::socket(server.family(), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(broken_connection("dns", errno));
  auto socket = std::make_unique<Socket>(std::move(runtime), fd);
  if (::connect(fd, server.native(), server.size()) != 0 && errno != EINPROGRESS)
    return fail(broken_connection("dns", errno));
  return socket;
}

// The answer to one query by UDP. Datagrams that are none are passed over: anybody may send them.
Task<Result<DnsAnswer>> ask_by_udp(rt::Runtime runtime, Address server, std::string query,
                                   rt::Deadline deadline) {
  CO_TRY(auto socket, open_socket(runtime, server, SOCK_DGRAM));
  if (::send(socket->fd(), query.data(), query.size(), MSG_NOSIGNAL) < 0)
    co_return fail(broken_connection("dns", errno));
  std::array<char, 4096> buffer;
  for (;;) {
    const auto got = ::recv(socket->fd(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno != EAGAIN) co_return fail(broken_connection("dns", errno));
    if (got < 0) {
      CO_TRY(co_await socket->wait(Direction::kRead, deadline));
      continue;
    }
    auto answer = parse_dns_answer({buffer.data(), static_cast<std::size_t>(got)}, query);
    if (answer) co_return answer;
  }
}

Task<Result<void>> send_all(Socket& socket, std::string bytes, rt::Deadline deadline) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto sent = ::send(socket.fd(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) co_return fail(broken_connection("dns", errno));
    if (sent > 0) done += static_cast<std::size_t>(sent);
    if (sent < 0) CO_TRY(co_await socket.wait(Direction::kWrite, deadline));
  }
  co_return Result<void>();
}

Task<Result<std::string>> receive_exactly(Socket& socket, std::size_t size, rt::Deadline deadline) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const auto got = ::recv(socket.fd(), bytes.data() + done, size - done, 0);
    if (got == 0) co_return fail(Code::kUnavailable, "dns: the server closed the connection");
    if (got < 0 && errno != EAGAIN) co_return fail(broken_connection("dns", errno));
    if (got > 0) done += static_cast<std::size_t>(got);
    if (got < 0) CO_TRY(co_await socket.wait(Direction::kRead, deadline));
  }
  co_return bytes;
}

// Messages behind their two-byte length.
Task<Result<DnsAnswer>> ask_by_tcp(rt::Runtime runtime, Address server, std::string query,
                                   rt::Deadline deadline) {
  CO_TRY(auto socket, open_socket(runtime, server, SOCK_STREAM));
  CO_TRY(co_await socket->wait(Direction::kWrite, deadline));
  const auto size = query.size();
  std::string framed{static_cast<char>(size >> 8), static_cast<char>(size & 0xff)};
  framed += query;
  CO_TRY(co_await send_all(*socket, std::move(framed), deadline));
  CO_TRY(auto prefix, co_await receive_exactly(*socket, 2, deadline));
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(prefix[0]) << 8 |
                                               static_cast<unsigned char>(prefix[1]));
  CO_TRY(auto answer, co_await receive_exactly(*socket, length, deadline));
  co_return parse_dns_answer(answer, query);
}

// One lookup: who asks, how, and until when.
struct Lookup {
  rt::Runtime runtime;
  ResolverConfig config;
  rt::Deadline deadline;
};

// The addresses of one full name by one type. Servers are asked in turn until one can say. Fails if
// none could.
Task<Result<DnsAnswer>> ask(const Lookup& lookup, std::string name, DnsType type) {
  Error last(Code::kUnavailable, "dns: no server is configured");
  for (int attempt = 0; attempt < lookup.config.attempts; ++attempt) {
    for (const auto& server : lookup.config.servers) {
      const auto id = static_cast<std::uint16_t>(lookup.runtime.random->next());
      CO_TRY(auto query, render_dns_query(id, name, type));
      const auto until = lookup.runtime.in(lookup.config.timeout).sooner(lookup.deadline);
      auto answer = co_await ask_by_udp(lookup.runtime, server, query, until);
      if (answer && answer->kind == DnsAnswer::Kind::kTruncated)
        answer = co_await ask_by_tcp(lookup.runtime, server, query, until);
      if (answer && answer->kind != DnsAnswer::Kind::kFailed) co_return answer;
      if (!answer && answer.error() == Code::kCancelled) co_return answer;
      if (lookup.deadline.passed(*lookup.runtime.clock))
        co_return fail(Code::kTimeout, "dns: the deadline passed");
      last = Error(Code::kUnavailable,
                   fmt::format("dns: {} {}", server.text(),
                               answer ? "failed" : "did not answer: " + answer.error().text()));
    }
  }
  co_return fail(std::move(last));
}

std::vector<Address> with_port(const std::vector<Address>& addresses, std::uint16_t port) {
  std::vector<Address> with;
  for (const auto& address : addresses) with.push_back(address.with_port(port));
  return with;
}

std::vector<Address> find_in_hosts(const ResolverConfig& config, std::string_view host) {
  const auto name = to_lower(host.ends_with('.') ? host.substr(0, host.size() - 1) : host);
  std::vector<Address> found;
  for (int family : {AF_INET, AF_INET6})
    for (auto [it, end] = config.hosts.equal_range(name); it != end; ++it)
      if (it->second.family() == family) found.push_back(it->second);
  if (found.empty() && name == "localhost")
    found = {*Address::parse("127.0.0.1", 0), *Address::parse("::1", 0)};
  return found;
}

}  // namespace

Task<Result<std::vector<Address>>> resolve(rt::Runtime runtime, std::string host,
                                           std::uint16_t port, rt::Deadline deadline) {
  if (auto address = Address::parse(host, port)) co_return std::vector<Address>{*address};
  auto config = ResolverConfig::of_this_machine();
  co_return co_await resolve(runtime, std::move(config), std::move(host), port, deadline);
}

Task<Result<std::vector<Address>>> resolve(rt::Runtime runtime, ResolverConfig config,
                                           std::string host, std::uint16_t port,
                                           rt::Deadline deadline) {
  if (auto address = Address::parse(host, port)) co_return std::vector<Address>{*address};
  auto known = find_in_hosts(config, host);
  if (!known.empty()) co_return with_port(known, port);
  const Lookup lookup{runtime, std::move(config), deadline};
  for (const auto& name : lookup.config.candidates(host)) {
    CO_TRY(auto v4, co_await ask(lookup, name, DnsType::kA));
    if (v4.kind == DnsAnswer::Kind::kNoName) continue;
    auto v6 = co_await ask(lookup, name, DnsType::kAaaa);
    if (!v6 && v4.addresses.empty()) co_return fail(std::move(v6).error());
    auto addresses = std::move(v4.addresses);
    if (v6) addresses.insert(addresses.end(), v6->addresses.begin(), v6->addresses.end());
    if (!addresses.empty()) co_return with_port(addresses, port);
  }
  co_return fail(Code::kUnavailable, fmt::format("dns: {} has no address", host));
}

}  // namespace quorate::net
