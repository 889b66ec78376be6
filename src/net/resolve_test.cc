#include "net/resolve.h"

#include <gmock/gmock.h>

#include <set>

#include "net/dns_message.h"
#include "net/scripted_peer.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts(const std::vector<Address>& addresses) {
  std::vector<std::string> out;
  for (const auto& address : addresses) out.push_back(address.text());
  return out;
}

// The name that a query asks for.
std::string name_in(const std::string& query) {
  std::string name;
  for (std::size_t at = 12; query[at] != 0; at += 1 + static_cast<std::size_t>(query[at]))
    name += (name.empty() ? "" : ".") + query.substr(at + 1, static_cast<std::size_t>(query[at]));
  return name;
}

// An answer made by hand, so that it shares nothing with the parser: the query's header and
// question, an alias record, then the addresses.
std::string answer_to(const std::string& query, int code, const std::vector<std::string>& data,
                      bool truncated = false) {
  std::string answer = query;
  answer[2] = static_cast<char>(truncated ? 0x83 : 0x81);
  answer[3] = static_cast<char>(0x80 | code);
  answer[7] = static_cast<char>(data.empty() ? 0 : data.size() + 1);
  if (data.empty()) return answer;
  const std::string name("\xc0\x0c", 2);
  const std::string ttl("\x00\x00\x00\x05", 4);
  answer += name + std::string("\x00\x05\x00\x01", 4) + ttl + std::string("\x00\x02\xc0\x0c", 4);
  for (const auto& bytes : data) {
    const char type = bytes.size() == 4 ? 1 : 28;
    answer += name + std::string{'\0', type, '\0', '\1'} + ttl;
    answer += std::string{'\0', static_cast<char>(bytes.size())} + bytes;
  }
  return answer;
}

// A name server on loopback, UDP and TCP on the same port.
class NameServer {
 public:
  struct Zone {
    std::vector<std::string> a;
    std::vector<std::string> aaaa;
  };

  explicit NameServer(rt::Runtime runtime) : runtime_(runtime), tcp_(runtime) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    auto address = *Address::parse("127.0.0.1", tcp_.port());
    if (::bind(fd, address.native(), address.size()) != 0) throw std::runtime_error("bind");
    udp_ = std::make_unique<Socket>(runtime, fd);
  }
  Address address() const { return *Address::parse("127.0.0.1", tcp_.port()); }

  Task<void> serve_udp() {
    for (;;) {
      std::array<char, 512> buffer;
      sockaddr_storage from{};
      socklen_t size = sizeof(from);
      const auto got = ::recvfrom(udp_->fd(), buffer.data(), buffer.size(), 0,
                                  reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 0) {
        auto waited = co_await udp_->wait(Socket::Direction::kRead, rt::Deadline::never());
        if (!waited) co_return;
        continue;
      }
      if (silent) continue;
      const std::string query(buffer.data(), static_cast<std::size_t>(got));
      asked.push_back(name_in(query));
      if (lie_first) {
        auto lie = answer_to(query, 0, {"\x0a\x09\x09\x09"});
        lie[0] = static_cast<char>(lie[0] + 1);
        ::sendto(udp_->fd(), lie.data(), lie.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
      }
      const auto answer = truncate ? answer_to(query, 0, {}, true) : reply(query);
      ::sendto(udp_->fd(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from),
               size);
    }
  }

  Task<void> serve_tcp_once() {
    for (int i = 0; i < 2; ++i) {
      auto peer = co_await tcp_.accept();
      auto prefix = co_await peer.receive_exactly(2);
      auto query = co_await peer.receive_exactly(static_cast<unsigned char>(prefix[1]));
      auto answer = reply(query);
      answer.insert(0, Frame::number(answer.size(), 2));
      co_await peer.send(std::move(answer));
      ++tcp_answers;
    }
  }

  std::string reply(const std::string& query) const {
    if (failing) return answer_to(query, 2, {});
    auto zone = zones.find(name_in(query));
    if (zone == zones.end()) return answer_to(query, 3, {});
    return answer_to(query, 0, query[query.size() - 3] == 1 ? zone->second.a : zone->second.aaaa);
  }

  std::map<std::string, Zone> zones;
  std::vector<std::string> asked;
  bool silent = false;
  bool failing = false;
  bool truncate = false;
  bool lie_first = false;
  int tcp_answers = 0;

 private:
  rt::Runtime runtime_;
  ScriptedServer tcp_;
  std::unique_ptr<Socket> udp_;
};

class Resolve : public ::testing::Test {
 public:
  Resolve() {
    config_.servers = {server_.address()};
    config_.timeout = 5s;
  }
  Result<std::vector<Address>> look_up(std::string host, Duration within = 20s) {
    std::optional<Result<std::vector<Address>>> result;
    loop_.run(beside_servers(std::move(host), within, result));
    return std::move(*result);
  }
  Task<void> beside_servers(std::string host, Duration within,
                            std::optional<Result<std::vector<Address>>>& result) {
    rt::TaskGroup group(runtime_);
    group.spawn("dns", server_.serve_udp());
    group.spawn("second", second_.serve_udp());
    if (server_.truncate) group.spawn("tcp", server_.serve_tcp_once());
    result = co_await resolve(runtime_, config_, std::move(host), 2379, runtime_.in(within));
    co_await stop(group);
  }

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  NameServer server_{runtime_};
  NameServer second_{runtime_};
  ResolverConfig config_;
};

const std::string kTen("\x0a\x00\x00\x01", 4);
const std::string kEleven("\x0a\x00\x00\x02", 4);
const std::string kSix("\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09", 16);

TEST_F(Resolve, AddressesStandForThemselves) {
  EXPECT_THAT(texts(must(look_up("10.1.2.3"))), ElementsAre("10.1.2.3:2379"));
  EXPECT_THAT(texts(must(look_up("::1"))), ElementsAre("[::1]:2379"));
  EXPECT_THAT(server_.asked, ElementsAre());
}

TEST_F(Resolve, GivesAllAddressesOfAName) {
  server_.zones["c-peer.n.svc"] = {{kTen, kEleven}, {kSix}};
  EXPECT_THAT(texts(must(look_up("c-peer.n.svc"))),
              ElementsAre("10.0.0.1:2379", "10.0.0.2:2379", "[fd00::9]:2379"));
}

TEST_F(Resolve, FollowsTheSearchListAsPodsHaveIt) {
  config_.add_resolv_conf(
      "search n.svc.cluster.local svc.cluster.local. cluster.local\n"
      "options ndots:5 edns0 timeout:1\n");
  server_.zones["c.n.svc.cluster.local"] = {{kTen}, {}};
  EXPECT_THAT(texts(must(look_up("c.n.svc"))), ElementsAre("10.0.0.1:2379"));
  EXPECT_THAT(server_.asked, ElementsAre("c.n.svc.n.svc.cluster.local", "c.n.svc.svc.cluster.local",
                                         "c.n.svc.cluster.local", "c.n.svc.cluster.local"));
  EXPECT_EQ(config_.timeout, 1s);
}

TEST_F(Resolve, AFinalDotMeansExactlyThisName) {
  config_.search = {"cluster.local"};
  config_.ndots = 5;
  EXPECT_FALSE(look_up("c.n.svc."));
  EXPECT_THAT(server_.asked, ElementsAre("c.n.svc"));
}

TEST_F(Resolve, ANameThatDoesNotExistIsUnavailable) {
  auto found = look_up("nowhere.example");
  EXPECT_EQ(found.error().code(), Code::kUnavailable);
  EXPECT_THAT(found.error().text(), HasSubstr("nowhere.example has no address"));
}

TEST_F(Resolve, TheHostsFileComesFirst) {
  config_.add_hosts(
      "# comment\n10.9.9.9 Alpha beta # more\nfd00::1 alpha\nbroken line\n10.9.9.8 .\n");
  EXPECT_EQ(config_.hosts.count(""), 0U) << "a dot is no name";
  EXPECT_THAT(texts(must(look_up("alpha"))), ElementsAre("10.9.9.9:2379", "[fd00::1]:2379"));
  EXPECT_THAT(texts(must(look_up("BETA."))), ElementsAre("10.9.9.9:2379"));
  EXPECT_THAT(texts(must(look_up("localhost"))), ElementsAre("127.0.0.1:2379", "[::1]:2379"));
  EXPECT_THAT(server_.asked, ElementsAre());
}

TEST_F(Resolve, AsksTheNextServerWhenOneFailsOrIsSilent) {
  config_.servers.push_back(second_.address());
  second_.zones["a.example"] = {{kTen}, {}};
  server_.failing = true;
  EXPECT_THAT(texts(must(look_up("a.example"))), ElementsAre("10.0.0.1:2379"));
  server_.failing = false;
  server_.silent = true;
  config_.timeout = 50ms;
  EXPECT_THAT(texts(must(look_up("a.example"))), ElementsAre("10.0.0.1:2379"));
}

TEST_F(Resolve, SilenceEndsAtTheDeadline) {
  server_.silent = true;
  auto found = look_up("a.example", 50ms);
  EXPECT_EQ(found.error().code(), Code::kTimeout) << found.error().text();
  config_.timeout = 20ms;
  found = look_up("a.example");
  EXPECT_EQ(found.error().code(), Code::kUnavailable) << found.error().text();
  EXPECT_THAT(found.error().text(), HasSubstr("did not answer"));
}

TEST_F(Resolve, TruncatedAnswersAreAskedForByTcp) {
  server_.truncate = true;
  server_.zones["many.example"] = {{kTen, kEleven}, {kSix}};
  EXPECT_EQ(must(look_up("many.example")).size(), 3U);
  EXPECT_EQ(server_.tcp_answers, 2);
}

TEST_F(Resolve, AnswersToOtherQuestionsAreIgnored) {
  server_.lie_first = true;
  server_.zones["a.example"] = {{kTen}, {}};
  EXPECT_THAT(texts(must(look_up("a.example"))), ElementsAre("10.0.0.1:2379"));
}

TEST_F(Resolve, NamesThatAreNoneAreInvalid) {
  for (const auto& name :
       {std::string("a..b"), std::string(64, 'x'), std::string(300, 'x'), std::string("")})
    EXPECT_EQ(look_up(name).error().code(), Code::kInvalid) << name;
}

TEST(DnsMessage, RefusesWhatIsCutOffAtEveryByte) {
  auto query = must(render_dns_query(7, "a.example", DnsType::kA));
  auto answer = answer_to(query, 0, {kTen});
  ASSERT_EQ(must(parse_dns_answer(answer, query)).addresses.size(), 1U);
  for (std::size_t size = 0; size < answer.size(); ++size)
    EXPECT_FALSE(parse_dns_answer(answer.substr(0, size), query)) << size;
}

}  // namespace
}  // namespace quorate::net
