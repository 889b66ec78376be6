// The life of a client: closing, rotating certificates, coming back after a loss.

#include <gmock/gmock.h>

#include "net/http_client.h"
#include "net/scripted_peer.h"
#include "pki/authority.h"

namespace quorate::net {
namespace {

using namespace testing;

class Waiting final : public Handler {
 public:
  explicit Waiting(rt::Runtime runtime) : runtime_(runtime) {}
  Task<void> handle(ServerRequest request, Responder& responder) override {
    last_certificate = request.peer_certificate;
    ++requests;
    if (request.path == "/wait") (void)co_await runtime_.clock->sleep_until(runtime_.in(60s).at);
    if (request.path == "/stream") {
      (void)co_await responder.start(200, {});
      (void)co_await responder.write("first", soon(runtime_));
      (void)co_await runtime_.clock->sleep_until(runtime_.in(60s).at);
    }
    Response response{200, {}, "done"};
    (void)co_await responder.respond(std::move(response));
  }
  int requests = 0;
  std::string last_certificate;

 private:
  rt::Runtime runtime_;
};

class ClientLife : public ::testing::TestWithParam<bool> {
 public:
  using Body = Task<void> (ClientLife::*)(std::uint16_t port);
  void run(Body body, ServerOptions options = {}) {
    loop_.run(beside_server(runtime_, std::move(options), waiting_,
                            [this, body](std::uint16_t port) { return (this->*body)(port); }));
  }
  HttpClientOptions options(std::uint16_t port) const { return to_port(port, GetParam()); }
  Task<void> call(Client& client, std::string path, std::optional<Result<Response>>& result) {
    result = co_await client.call(get(std::move(path)), soon(runtime_));
  }

  Task<void> close_with_calls_under_way(std::uint16_t port);
  Task<void> streams_outlive_the_client(std::uint16_t port);
  Task<void> calls_after_close(std::uint16_t port);
  Task<void> comes_back(std::uint16_t port);
  Task<void> rotates(std::uint16_t port);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  Waiting waiting_{runtime_};
  pki::SystemKeys keys_;
  std::vector<std::shared_ptr<TlsContext>> contexts_;
};

Task<void> ClientLife::close_with_calls_under_way(std::uint16_t port) {
  auto client = make_client(runtime_, options(port));
  std::optional<Result<Response>> waiting;
  rt::TaskGroup group(runtime_);
  group.spawn("call", call(*client, "/wait", waiting));
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return waiting_.requests == 1; }));
  co_await client->close();
  client.reset();
  co_await group.join();
  EXPECT_EQ(waiting->error().code(), Code::kUnknownOutcome) << waiting->error().text();
}
TEST_P(ClientLife, ClosingEndsTheCallsUnderWay) { run(&ClientLife::close_with_calls_under_way); }

Task<void> ClientLife::streams_outlive_the_client(std::uint16_t port) {
  auto client = make_client(runtime_, options(port));
  auto stream = must(co_await client->open(get("/stream"), soon(runtime_)));
  EXPECT_EQ(must(co_await stream->read(soon(runtime_))), "first");
  co_await client->close();
  client.reset();
  auto next = co_await stream->read(soon(runtime_));
  EXPECT_EQ(next.error().code(), Code::kUnavailable) << next.error().text();
  EXPECT_EQ(stream->status(), 200);
}
TEST_P(ClientLife, AStreamMayOutliveItsClient) { run(&ClientLife::streams_outlive_the_client); }

Task<void> ClientLife::calls_after_close(std::uint16_t port) {
  auto client = make_client(runtime_, options(port));
  co_await client->close();
  auto response = co_await client->call(get("/"), soon(runtime_));
  EXPECT_EQ(response.error().code(), Code::kUnavailable);
}
TEST_P(ClientLife, AClosedClientIsUnavailable) { run(&ClientLife::calls_after_close); }

Task<void> ClientLife::comes_back(std::uint16_t) {
  std::uint16_t port = 0;
  auto client = std::unique_ptr<Client>();
  for (int round = 0; round < 3; ++round) {
    ServerOptions again;
    again.port = port;
    auto server = must(make_server(runtime_, again));
    port = server->port();
    if (!client) client = make_client(runtime_, options(port));
    rt::TaskGroup group(runtime_);
    group.spawn("server", server->run(waiting_));
    auto response = co_await client->call(get("/"), soon(runtime_));
    EXPECT_TRUE(response) << round << ": " << response.error().text();
    co_await stop(group);
    server.reset();
    // The loss is noticed without anybody asking, where somebody listens for it.
    const auto gone = [&] { return client->counters().open_connections == 0 || !GetParam(); };
    EXPECT_TRUE(co_await eventually(runtime_, gone));
  }
  co_await client->close();
}
TEST_P(ClientLife, ComesBackAfterEveryLoss) { run(&ClientLife::comes_back); }

Task<void> ClientLife::rotates(std::uint16_t port) {
  auto to = options(port);
  to.endpoint.tls = true;
  to.tls = contexts_[0];
  auto client = make_client(runtime_, to);
  auto stream = must(co_await client->open(get("/stream"), soon(runtime_)));
  must(co_await client->call(get("/"), soon(runtime_)));
  const auto before = waiting_.last_certificate;
  client->replace_tls(contexts_[1]);
  must(co_await client->call(get("/"), soon(runtime_)));
  EXPECT_NE(waiting_.last_certificate, before);
  // What was open goes on as it was.
  EXPECT_EQ(must(co_await stream->read(soon(runtime_))), "first");
  stream.reset();
  EXPECT_TRUE(
      co_await eventually(runtime_, [&] { return client->counters().open_connections == 1; }));
  co_await client->close();
}
TEST_P(ClientLife, ANewCertificateIsUsedFromTheNextCallOn) {
  const auto now = runtime_.clock->wall();
  const pki::Validity validity{now - 1h, now + 24h};
  auto ca = must(pki::Authority::make(keys_, "ca", validity));
  auto issue = [&] {
    pki::LeafRequest request;
    request.common_name = "leaf";
    request.names.ips = {"127.0.0.1"};
    request.validity = validity;
    auto identity = must(ca.issue(keys_, request));
    return TlsIdentity{ca.certificate().pem(), identity.certificate_pem(), identity.key.pem()};
  };
  const std::vector<std::string> both = {"h2", "http/1.1"};
  contexts_.push_back(must(TlsContext::for_client(issue(), both)));
  contexts_.push_back(must(TlsContext::for_client(issue(), both)));
  ServerOptions options;
  options.tls = must(TlsContext::for_server(issue(), PeerCheck::kRequired, both));
  run(&ClientLife::rotates, options);
}

INSTANTIATE_TEST_SUITE_P(Versions, ClientLife, ::testing::Values(true, false),
                         [](const auto& version) { return version.param ? "Http2" : "Http1"; });

Task<void> call_each(Client& client, std::vector<Request> requests, rt::Deadline deadline) {
  for (auto& request : requests) {
    auto response = co_await client.call(std::move(request), deadline);
    EXPECT_EQ(response.error().code(), Code::kInvalid) << response.error().text();
  }
  EXPECT_EQ(client.counters().connects, 0U);
}

TEST(ClientRequest, MustNotBreakOutOfItsPlace) {
  std::vector<Request> bad(6);
  bad[0].path = "/a b";
  bad[1].path = "/a\r\nhost: other";
  bad[2].method = "GET /";
  bad[3].headers = {{"x", "y\r\nz: 1"}};
  bad[4].headers = {{"Upper", "x"}};
  bad[5].headers = {{"transfer-encoding", "chunked"}};
  rt::Loop loop;
  auto runtime = loop.runtime();
  auto body = [&](Client& client) { return call_each(client, bad, soon(runtime)); };
  loop.run(with_client(runtime, to_port(1), body));
}

}  // namespace
}  // namespace quorate::net
