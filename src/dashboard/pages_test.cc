#include "dashboard/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dashboard/assets.h"
#include "rt/virtual_loop.h"

namespace quorate::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kToken = "0123456789abcdef";

// A server that nobody reaches: what is served here needs none.
class NoApi : public kube::Api {
 public:
  Task<Result<net::Response>> call(net::Request, rt::Deadline, std::size_t) override {
    co_return fail(Code::kUnavailable, "no server");
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request, rt::Deadline) override {
    co_return fail(Code::kUnavailable, "no server");
  }
};

// Keeps what was answered.
class Recorder : public net::Responder {
 public:
  Task<Result<void>> respond(net::Response response) override {
    answer = std::move(response);
    co_return Result<void>();
  }
  Task<Result<void>> start(int status, net::Headers headers) override {
    answer = {status, std::move(headers), ""};
    co_return Result<void>();
  }
  Task<Result<void>> write(std::string piece, rt::Deadline) override {
    answer.body += piece;
    co_return Result<void>();
  }
  Task<Result<void>> finish(net::Headers) override { co_return Result<void>(); }
  Task<Result<net::Upgraded>> upgrade(net::Headers) override {
    co_return fail(Code::kInvalid, "a page is no place for that");
  }

  std::string header(std::string_view name) const {
    return std::string(net::find_header(answer.headers, name).value_or("(none)"));
  }

  net::Response answer;
};

class PagesTest : public ::testing::Test {
 protected:
  ~PagesTest() override { loop_.tear_down(); }

  // What came within a virtual second.
  Recorder ask(const std::string& path, net::Headers headers, const std::string& method = "GET") {
    Recorder out;
    rt::TaskGroup group(here_);
    group.spawn(
        "request",
        pages_.handle({.method = method, .path = path, .headers = std::move(headers)}, out));
    loop_.run_for(1s);
    group.cancel();
    loop_.run(group.join());
    return out;
  }
  Recorder ask(const std::string& path) { return ask(path, {{"host", "127.0.0.1:8080"}}); }
  static net::Headers with_token(const std::string& token) {
    return {{"host", "localhost:8080"}, {"authorization", "Bearer " + token}};
  }

  rt::VirtualLoop loop_{1};
  rt::Runtime here_ = loop_.actor("main");
  NoApi api_;
  kube::Client client_{here_, api_};
  Live live_{here_, client_, "", Log()};
  Pages pages_{live_, Secret(kToken)};
};

TEST_F(PagesTest, GiveThePageToAnybodyWithoutASecretInIt) {
  const auto page = ask("/");
  EXPECT_EQ(page.answer.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.answer.body, AllOf(StartsWith("<!doctype html>"), Not(HasSubstr(kToken))));
  EXPECT_EQ(ask("/page.js").header("content-type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(ask("/style.css?x=1").header("content-type"), "text/css; charset=utf-8");
  EXPECT_EQ(ask("/icon.svg").header("content-type"), "image/svg+xml");
}

TEST_F(PagesTest, AllowNothingFromElsewhere) {
  for (const auto* path : {"/", "/page.js", "/live", "/nowhere"}) {
    const auto page = ask(path);
    EXPECT_THAT(page.header("content-security-policy"),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"),
                      Not(HasSubstr("unsafe"))))
        << path;
    EXPECT_EQ(page.header("x-content-type-options"), "nosniff") << path;
    EXPECT_EQ(page.header("cache-control"), "no-store") << path;
    EXPECT_EQ(page.header("access-control-allow-origin"), "(none)") << path;
    EXPECT_EQ(page.header("set-cookie"), "(none)") << path;
  }
}

TEST_F(PagesTest, HoldNothingThatAStrictPolicyForbids) {
  for (const auto& asset : all_assets()) {
    for (const auto* forbidden : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                                  "eval(", " style=\"", " onclick=", "https://"})
      EXPECT_THAT(std::string(asset.text), Not(HasSubstr(forbidden))) << asset.name;
  }
}

TEST_F(PagesTest, WantTheTokenForWhatTheyShow) {
  EXPECT_EQ(ask("/live").answer.status, 401);
  EXPECT_EQ(ask("/live", with_token("")).answer.status, 401);
  EXPECT_EQ(ask("/live", with_token("0123456789abcdee")).answer.status, 401);
  EXPECT_EQ(ask("/live", with_token(kToken + "0")).answer.status, 401);
  EXPECT_EQ(ask("/live?token=" + kToken).answer.status, 401) << "not in an address";
  EXPECT_EQ(ask("/live", {{"host", "localhost"}, {"authorization", kToken}}).answer.status, 401)
      << "not without its scheme";
  EXPECT_THAT(ask("/live").answer.body, HasSubstr("quorate dashboard"));

  const auto live = ask("/live", with_token(kToken));
  EXPECT_EQ(live.answer.status, 200);
  EXPECT_EQ(live.header("content-type"), "text/event-stream");
  EXPECT_THAT(live.answer.body,
              AllOf(StartsWith("data: {"), HasSubstr(R"("synced":false)"),
                    HasSubstr(R"("whole":true,"rows":[])"), Not(HasSubstr(kToken))));
}

TEST_F(PagesTest, AnswerToLoopbackAlone) {
  for (const auto* host :
       {"127.0.0.1", "127.0.0.1:1", "localhost:8080", "LocalHost", "[::1]", "[::1]:8080"})
    EXPECT_EQ(ask("/", {{"host", host}}).answer.status, 200) << host;
  for (const auto* host : {"evil.example", "evil.example:8080", "127.0.0.1.evil.example",
                           "localhost.evil.example:8080", "", "[::2]:8080", "0.0.0.0:8080"})
    EXPECT_EQ(ask("/", {{"host", host}}).answer.status, 421) << host;
  EXPECT_EQ(ask("/", {}).answer.status, 421);
  EXPECT_EQ(
      ask("/live", {{"host", "evil.example"}, {"authorization", "Bearer " + kToken}}).answer.status,
      421);
}

TEST_F(PagesTest, OnlyRead) {
  for (const auto* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const auto refused = ask("/live", with_token(kToken), method);
    EXPECT_EQ(refused.answer.status, 405) << method;
    EXPECT_EQ(refused.header("allow"), "GET, HEAD");
  }
  EXPECT_EQ(ask("/live", with_token(kToken), "HEAD").answer.status, 200);
}

TEST_F(PagesTest, KnowNoOtherPaths) {
  for (const auto* path : {"/nowhere", "/../pages.cc", "//", "/index.html/", "/live/"})
    EXPECT_EQ(ask(path).answer.status, 404) << path;
}

TEST_F(PagesTest, SayWhatIsWrongWithAQuestion) {
  const auto refused = [&](const std::string& query) {
    const auto answer = ask("/live?" + query, with_token(kToken)).answer;
    EXPECT_EQ(answer.status, 400) << query;
    return answer.body;
  };
  EXPECT_THAT(refused("cluster=c"), HasSubstr("\"cluster=c\" is neither"));
  EXPECT_THAT(refused("name=c"), HasSubstr("belong together"));
  EXPECT_THAT(ask("/live?namespace=n&name=c", with_token(kToken)).answer.body,
              HasSubstr(R"("cluster":null)"));
}

TEST_F(PagesTest, MakeTokensThatNobodyGuesses) {
  const auto one = make_token(*here_.random), two = make_token(*here_.random);
  EXPECT_EQ(one.reveal().size(), 64u);
  EXPECT_FALSE(one == two);
}

}  // namespace
}  // namespace quorate::dashboard
