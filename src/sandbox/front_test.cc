#include "sandbox/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/storage.h"
#include "json/document.h"
#include "rt/virtual_loop.h"
#include "sandbox/furnish.h"

namespace quorate::sandbox {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kToken = "0123456789abcdef";

// Counts who came through.
class Counter : public Annex {
 public:
  bool serves(const net::ServerRequest& request) const override {
    return request.path.starts_with("/sandbox/");
  }
  Task<void> handle(net::ServerRequest, net::Responder& responder) override {
    ++calls;
    [[maybe_unused]] auto sent = co_await responder.respond({200, {}, "secret"});
  }
  int calls = 0;
};

// Keeps the first answer.
class Recorder : public net::Responder {
 public:
  Task<Result<void>> respond(net::Response response) override {
    answer = std::move(response);
    co_return Result<void>();
  }
  Task<Result<void>> start(int status, net::Headers headers) override {
    answer = {status, std::move(headers), ""};
    co_return fail(Code::kCancelled, "that is enough");
  }
  Task<Result<void>> write(std::string, rt::Deadline) override { co_return Result<void>(); }
  Task<Result<void>> finish(net::Headers) override { co_return Result<void>(); }
  Task<Result<net::Upgraded>> upgrade(net::Headers) override {
    answer.status = 101;
    co_return fail(Code::kCancelled, "that is enough");
  }
  net::Response answer;
};

class FrontTest : public ::testing::Test {
 protected:
  FrontTest() {
    EXPECT_TRUE(install_kinds(api_));
    EXPECT_TRUE(furnish(api_));
  }
  ~FrontTest() override { loop_.tear_down(); }

  net::Response ask(const std::string& method, const std::string& path, net::Headers headers) {
    Recorder out;
    loop_.run(front_.handle({.method = method, .path = path, .headers = std::move(headers)}, out));
    return out.answer;
  }
  net::Response ask(const std::string& path) {
    return ask("GET", path, {{"authorization", "Bearer " + kToken}});
  }

  // Everything that discovery names, and what stands beside it.
  std::vector<std::string> all_paths() {
    std::vector<std::string> out = {
        "/",
        "/api",
        "/apis",
        "/openapi/v2",
        "/openapi/v3",
        "/version",
        "/healthz",
        "/livez",
        "/readyz",
        "/metrics",
        "/sandbox/nodes",
        "/nowhere",
        "/healthz?verbose",
        "/api/v1/namespaces/default/pods/db-0/log",
        "/api/v1/namespaces/default/pods/db-0/exec?command=id&stdout=true",
        "/api/v1/watch/secrets",
        "/api/v1/secrets?watch=true"};
    std::vector<std::string> groups = {"/api/v1"};
    const auto listed = json::parse(ask("/apis").body).value();
    for (const auto& group : *json::array_at(listed, "/groups").value())
      groups.push_back("/apis/" +
                       std::string(json::text_at(group, "/preferredVersion/groupVersion").value()));
    for (const auto& group : groups) {
      out.push_back(group);
      const auto kinds = json::parse(ask(group).body).value();
      for (const auto& kind : *json::array_at(kinds, "/resources").value())
        out.push_back(group + "/" + std::string(json::text_at(kind, "/name").value()));
    }
    return out;
  }

  rt::VirtualLoop loop_{1};
  apiserver::Server api_{loop_.actor("api"), {}};
  Counter annex_;
  Front front_{api_, Secret(kToken), {&annex_}};
};

TEST_F(FrontTest, TellsStrangersNothingButThatATokenIsWanted) {
  const std::vector<net::Headers> strangers = {
      {},
      {{"authorization", ""}},
      {{"authorization", "Bearer "}},
      {{"authorization", "Bearer " + kToken + "0"}},
      {{"authorization", "Bearer " + kToken.substr(1)}},
      {{"authorization", "Basic " + kToken}},
      {{"authorization", kToken}},
      {{"cookie", "token=" + kToken}},
      {{"x-remote-user", "sandbox-admin"}, {"impersonate-user", "sandbox-admin"}},
      {{"sec-websocket-protocol", "base64url.bearer.authorization.k8s.io." + kToken},
       {"connection", "upgrade"},
       {"upgrade", "websocket"}}};
  const auto paths = all_paths();
  ASSERT_THAT(paths, SizeIs(Gt(40u))) << "discovery names our kinds and those of Kubernetes";
  const auto version = api_.storage().version();
  const auto said = ask("GET", "/", {}).body;
  EXPECT_THAT(said, HasSubstr("Unauthorized"));
  for (const auto& path : paths)
    for (const auto* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
      for (const auto& headers : strangers) {
        const auto answer = ask(method, path, headers);
        ASSERT_EQ(answer.status, 401) << method << " " << path;
        ASSERT_EQ(answer.body, said) << method << " " << path << ": all hear the same";
      }
  EXPECT_EQ(annex_.calls, 0);
  EXPECT_EQ(api_.storage().version(), version) << "nothing was written";
}

TEST_F(FrontTest, AnswersWhoeverHasTheToken) {
  EXPECT_EQ(ask("/healthz").body, "ok");
  EXPECT_EQ(ask("/apis/quorate.io/v1alpha1/etcdclusters").status, 200);
  EXPECT_EQ(ask("/sandbox/nodes").body, "secret");
  EXPECT_EQ(annex_.calls, 1);
  EXPECT_EQ(ask("/nowhere").status, 404);
}

}  // namespace
}  // namespace quorate::sandbox
