#include "net/tls.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "net/testing.h"
#include "net/tls_stream.h"
#include "pki/authority.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class Hello final : public Handler {
 public:
  Task<void> handle(ServerRequest request, Responder& responder) override {
    last_certificate = request.peer_certificate;
    last_local = request.local;
    Response response{200, {}, "hello"};
    (void)co_await responder.respond(std::move(response));
  }
  std::string last_certificate;
  std::string last_local;
};

class Tls : public ::testing::Test {
 public:
  // Certificates that hold now unless told otherwise.
  pki::Validity valid(Duration from = -1h, Duration to = 24h) const {
    auto to_wall = [](Duration d) {
      return std::chrono::duration_cast<std::chrono::milliseconds>(d);
    };
    const auto now = runtime_.clock->wall();
    return {now + to_wall(from), now + to_wall(to)};
  }
  pki::Authority authority(const std::string& name) {
    return must(pki::Authority::make(keys_, name, valid(-48h, 48h)));
  }
  TlsIdentity leaf(const pki::Authority& by, std::vector<std::string> dns,
                   std::vector<std::string> ips, pki::Validity validity) {
    pki::LeafRequest request;
    request.common_name = "leaf";
    request.names.dns = std::move(dns);
    request.names.ips = std::move(ips);
    request.validity = validity;
    auto identity = must(by.issue(keys_, request));
    return {by.certificate().pem(), identity.certificate_pem(), identity.key.pem()};
  }
  TlsIdentity leaf(const pki::Authority& by) {
    return leaf(by, {"localhost"}, {"127.0.0.1"}, valid());
  }

  // One call from a client that is `mine` to a server that is `theirs`.
  Result<Response> call(const TlsIdentity& mine, const TlsIdentity& theirs, PeerCheck check,
                        std::string server_name = "", bool http2 = true) {
    ServerOptions options;
    options.tls = must(TlsContext::for_server(theirs, check, server_speaks_));
    auto context = must(TlsContext::for_client(mine, {"h2", "http/1.1"}));
    std::optional<Result<Response>> result;
    auto talk = [&](std::uint16_t port) {
      auto to = to_port(port, http2);
      to.endpoint.tls = true;
      to.endpoint.server_name = server_name;
      to.tls = context;
      return with_client(runtime_, to, [&](Client& client) { return call_once(client, result); });
    };
    loop_.run(beside_server(runtime_, std::move(options), hello_, talk));
    return std::move(*result);
  }
  Task<void> call_once(Client& client, std::optional<Result<Response>>& result) {
    result = co_await client.call(get("/"), soon(runtime_));
  }

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  pki::SystemKeys keys_;
  Hello hello_;
  std::vector<std::string> server_speaks_ = {"h2", "http/1.1"};
};

TEST_F(Tls, MutualTrustCarriesBothVersionsOfHttp) {
  auto ca = authority("ca");
  for (bool http2 : {true, false}) {
    auto response = call(leaf(ca), leaf(ca), PeerCheck::kRequired, "", http2);
    ASSERT_TRUE(response) << response.error().text();
    EXPECT_EQ(response->body, "hello");
    EXPECT_THAT(hello_.last_certificate, HasSubstr("BEGIN CERTIFICATE"));
  }
}

TEST_F(Tls, ClientsFallBackToHttp1WhereTheServerSpeaksNothingElse) {
  auto ca = authority("ca");
  for (auto speaks : {std::vector<std::string>{"http/1.1"}, std::vector<std::string>{}}) {
    server_speaks_ = speaks;
    auto response = call(leaf(ca), leaf(ca), PeerCheck::kRequired);
    ASSERT_TRUE(response) << response.error().text();
    EXPECT_EQ(response->body, "hello");
  }
}

TEST_F(Tls, AServerThatDoesNotAskGetsNoCertificate) {
  auto ca = authority("ca");
  TlsIdentity nobody{ca.certificate().pem(), "", Secret()};
  auto response = call(nobody, leaf(ca), PeerCheck::kNone);
  ASSERT_TRUE(response) << response.error().text();
  EXPECT_EQ(hello_.last_certificate, "");
}

TEST_F(Tls, NamesTheReasonWhenTheServerIsOfAnotherAuthority) {
  auto ca = authority("ca");
  auto other = authority("other");
  auto response = call(leaf(ca), leaf(other), PeerCheck::kNone);
  EXPECT_EQ(response.error().code(), Code::kForbidden);
  EXPECT_THAT(response.error().text(), HasSubstr("unknown authority"));
}

TEST_F(Tls, NamesTheReasonWhenTheServersCertificateHasExpired) {
  auto ca = authority("ca");
  auto old = leaf(ca, {}, {"127.0.0.1"}, valid(-2h, -1h));
  auto response = call(leaf(ca), old, PeerCheck::kNone);
  EXPECT_EQ(response.error().code(), Code::kForbidden);
  EXPECT_THAT(response.error().text(), HasSubstr("certificate CN=leaf expired at"));
}

TEST_F(Tls, NamesTheReasonWhenTheServersCertificateIsNotValidYet) {
  auto ca = authority("ca");
  auto early = leaf(ca, {}, {"127.0.0.1"}, valid(1h, 2h));
  auto response = call(leaf(ca), early, PeerCheck::kNone);
  EXPECT_EQ(response.error().code(), Code::kForbidden);
  EXPECT_THAT(response.error().text(), HasSubstr("is not valid before"));
}

TEST_F(Tls, NamesTheReasonWhenTheServerIsSomebodyElse) {
  auto ca = authority("ca");
  auto theirs = leaf(ca, {"a.example", "*.b.example"}, {"10.0.0.1"}, valid());
  auto by_address = call(leaf(ca), theirs, PeerCheck::kNone);
  EXPECT_EQ(by_address.error().code(), Code::kForbidden);
  EXPECT_THAT(by_address.error().text(),
              HasSubstr("is for a.example, *.b.example, 10.0.0.1, not for 127.0.0.1"));
  auto by_name = call(leaf(ca), theirs, PeerCheck::kNone, "c.example");
  EXPECT_EQ(by_name.error().code(), Code::kForbidden);
  EXPECT_THAT(by_name.error().text(), HasSubstr("not for c.example"));
  EXPECT_FALSE(call(leaf(ca), theirs, PeerCheck::kNone, "x.y.b.example"));
  EXPECT_TRUE(call(leaf(ca), theirs, PeerCheck::kNone, "x.b.example"));
  EXPECT_TRUE(call(leaf(ca), theirs, PeerCheck::kNone, "a.example."));
}

// TLS 1.3 lets the client finish before the server has judged its certificate. The request must not
// count as sent.
TEST_F(Tls, AClientThatIsRefusedKnowsThatNothingWasProcessed) {
  auto ca = authority("ca");
  auto other = authority("other");
  auto stranger = leaf(other);
  stranger.roots = ca.certificate().pem();
  auto refused = call(stranger, leaf(ca), PeerCheck::kRequired);
  EXPECT_EQ(refused.error().code(), Code::kForbidden) << refused.error().text();
  EXPECT_THAT(refused.error().text(), HasSubstr("refused our certificate: unknown authority"));

  TlsIdentity nobody{ca.certificate().pem(), "", Secret()};
  auto required = call(nobody, leaf(ca), PeerCheck::kRequired);
  EXPECT_EQ(required.error().code(), Code::kForbidden) << required.error().text();
  EXPECT_THAT(required.error().text(), HasSubstr("refused our certificate: it requires one"));

  auto expired = call(leaf(ca, {}, {"127.0.0.1"}, valid(-2h, -1h)), leaf(ca), PeerCheck::kRequired);
  EXPECT_EQ(expired.error().code(), Code::kForbidden) << expired.error().text();
  EXPECT_THAT(expired.error().text(), HasSubstr("refused our certificate: it has expired"));
}

// The server closes on what we have sent by then: a write finds the connection broken, while the
// alert that says why has not been read.
TEST_F(Tls, AWriteAfterTheRefusalTellsOfItAndNotOfTheBrokenConnection) {
  auto ca = authority("ca");
  auto stranger = leaf(authority("other"));
  stranger.roots = ca.certificate().pem();
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  std::vector<Task<Result<std::unique_ptr<ByteStream>>>> both;
  both.push_back(tls_connect(
      std::make_unique<Socket>(runtime_, ends[0]), must(TlsContext::for_client(stranger, {"h2"})),
      {.server_name = "localhost", .session_key = "", .alpn = {}}, soon(runtime_)));
  both.push_back(tls_accept(std::make_unique<Socket>(runtime_, ends[1]),
                            must(TlsContext::for_server(leaf(ca), PeerCheck::kRequired, {"h2"})),
                            soon(runtime_)));
  auto shaken = loop_.run(rt::all(runtime_, std::move(both)));
  auto client = must(std::move(shaken[0]));
  ASSERT_FALSE(shaken[1]);  // and its end is closed
  auto written = client->try_write("a request");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Code::kForbidden) << written.error().text();
  EXPECT_THAT(written.error().text(), HasSubstr("refused our certificate: unknown authority"));
}

TEST_F(Tls, WhatIsListedIsTrustedEvenIfItIsNoRoot) {
  auto ca = authority("ca");
  auto theirs = leaf(ca);
  TlsIdentity mine{theirs.certificate, "", Secret()};
  auto response = call(mine, theirs, PeerCheck::kNone);
  EXPECT_TRUE(response) << response.error().text();
  EXPECT_FALSE(call(mine, leaf(ca), PeerCheck::kNone));
}

TEST_F(Tls, RefusesIdentitiesThatCannotBe) {
  auto ca = authority("ca");
  auto good = leaf(ca);
  auto without_roots = good;
  without_roots.roots = "";
  EXPECT_EQ(TlsContext::for_client(without_roots, {}).error().text(),
            "trusted authorities: certificate 1: there is none");
  auto garbled = good;
  garbled.certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(TlsContext::for_client(garbled, {}).error().code(), Code::kInvalid);
  auto mixed = good;
  mixed.key = leaf(ca).key;
  EXPECT_EQ(TlsContext::for_client(mixed, {}).error().text(),
            "private key: it does not belong to the certificate");
  auto keyless = good;
  keyless.key = Secret("no key");
  EXPECT_EQ(TlsContext::for_server(keyless, PeerCheck::kNone, {}).error().code(), Code::kInvalid);
}

TEST_F(Tls, AServerOnManyAddressesIsWhoWasCalled) {
  auto ca = authority("ca");
  ServerOptions options;
  options.address = "0.0.0.0";
  options.tls_for = [&](const std::string& local) -> std::shared_ptr<TlsContext> {
    if (local == "127.0.0.3") return nullptr;
    const auto identity = leaf(ca, {}, {local}, valid());
    return must(TlsContext::for_server(identity, PeerCheck::kRequired, {"h2"}));
  };
  auto context = must(TlsContext::for_client(leaf(ca), {"h2"}));
  for (std::string host : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    std::optional<Result<Response>> result;
    auto talk = [&](std::uint16_t port) {
      auto to = to_port(port);
      to.endpoint.host = host;
      to.endpoint.tls = true;
      to.tls = context;
      return with_client(runtime_, to, [&](Client& client) { return call_once(client, result); });
    };
    loop_.run(beside_server(runtime_, options, hello_, talk));
    EXPECT_EQ(result->has_value(), host != "127.0.0.3") << host;
    if (*result) EXPECT_EQ(hello_.last_local, host);
  }
}

// The machine's clock, on another day.
class OtherDay : public rt::Clock {
 public:
  OtherDay(rt::Clock& today, std::chrono::hours later) : today_(today), later_(later) {}
  Monotonic now() const override { return today_.now(); }
  WallTime wall() const override { return today_.wall() + later_; }
  Task<Result<void>> sleep_until(Monotonic when) override { return today_.sleep_until(when); }

 private:
  rt::Clock& today_;
  std::chrono::hours later_;
};

TEST_F(Tls, CertificatesAreHeldAgainstTheClockThatWasGiven) {
  auto ca = authority("ca");
  const auto mine = leaf(ca);
  const auto theirs = leaf(ca);
  OtherDay tomorrow(*runtime_.clock, 25h);
  OtherDay yesterday(*runtime_.clock, -2h);
  ASSERT_TRUE(call(mine, theirs, PeerCheck::kNone).has_value());
  runtime_.clock = &tomorrow;
  EXPECT_THAT(call(mine, theirs, PeerCheck::kNone).error().text(), HasSubstr("expired"));
  runtime_.clock = &yesterday;
  EXPECT_THAT(call(mine, theirs, PeerCheck::kNone).error().text(), HasSubstr("not valid before"));
}

TEST_F(Tls, ASecondConnectionResumesTheSession) {
  auto ca = authority("ca");
  ServerOptions options;
  options.tls = must(TlsContext::for_server(leaf(ca), PeerCheck::kRequired, {"h2"}));
  auto context = must(TlsContext::for_client(leaf(ca), {"h2"}));
  auto connect_once = [&](std::uint16_t port) {
    auto to = to_port(port);
    to.endpoint.tls = true;
    to.tls = context;
    std::optional<Result<Response>> result;
    auto body = [&](Client& client) { return call_once(client, result); };
    loop_.run(with_client(runtime_, to, body));
    ASSERT_TRUE(*result) << result->error().text();
  };
  auto server = must(make_server(runtime_, options));
  rt::TaskGroup group(runtime_);
  group.spawn("server", server->run(hello_));
  connect_once(server->port());
  EXPECT_EQ(context->resumed_sessions(), 0U);
  for (int i = 1; i <= 3; ++i) {
    connect_once(server->port());
    EXPECT_EQ(context->resumed_sessions(), static_cast<std::uint64_t>(i));
  }
  loop_.run(stop(group));
}

}  // namespace
}  // namespace quorate::net
