#include "kube/http_api.h"

#include <gtest/gtest.h>

#include <map>

#include "rt/virtual_loop.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

// A server that knows one token.
class FakeHttp : public net::Client {
 public:
  struct World {
    std::string accepted = "good";
    bool down = false;
    std::vector<net::Request> seen;
    net::HttpClientOptions options;
    bool closed = false;
  };
  FakeHttp(rt::Runtime runtime, World& world) : runtime_(runtime), world_(world) {}

  Task<Result<net::Response>> call(net::Request request, rt::Deadline, std::size_t) override {
    world_.seen.push_back(request);
    if (world_.down) co_return fail(Code::kUnavailable, "connection refused");
    co_return net::Response{status(request), {}, ""};
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline) override {
    world_.seen.push_back(request);
    co_return std::unique_ptr<net::ResponseStream>(std::make_unique<Stream>(status(request)));
  }
  Task<Result<std::unique_ptr<net::DuplexStream>>> open_duplex(net::Request,
                                                               rt::Deadline) override {
    co_return fail(Code::kInvalid, "not here");
  }
  const rt::Runtime& runtime() const override { return runtime_; }
  Task<void> close() override {
    world_.closed = true;
    co_return;
  }
  void replace_tls(std::shared_ptr<net::TlsContext>) override {}
  Counters counters() const override { return {}; }

 private:
  struct Stream : net::ResponseStream {
    explicit Stream(int code) : status_(code) {}
    int status() const override { return status_; }
    const net::Headers& headers() const override { return none_; }
    Task<Result<std::optional<std::string>>> read(rt::Deadline) override {
      co_return std::optional<std::string>();
    }
    const net::Headers& trailers() const override { return none_; }
    int status_;
    net::Headers none_;
  };
  int status(const net::Request& request) {
    return net::find_header(request.headers, "authorization") == "Bearer " + world_.accepted ? 200
                                                                                             : 401;
  }
  rt::Runtime runtime_;
  World& world_;
};

struct HttpApiTest : ::testing::Test {
  Result<std::unique_ptr<HttpApi>> make() {
    ClusterConfig config;
    config.endpoint = {"h", 80, false, ""};
    config.path_prefix = "/k8s/c1";
    config.token.file = "/token";
    HttpApiOptions options;
    options.user_agent = "quorate/test";
    options.read_file = [this](const std::string& path) -> Result<std::string> {
      ++reads;
      if (!token) return fail(Error(Code::kNotFound, "no such file").in(path));
      return *token;
    };
    options.make_client = [this](rt::Runtime runtime, net::HttpClientOptions given) {
      http.options = std::move(given);
      return std::make_unique<FakeHttp>(runtime, http);
    };
    return HttpApi::make(here, std::move(config), std::move(options));
  }
  int call(HttpApi& api) {
    auto answer = loop.run(api.call({"GET", "/version", {}, ""}, here.in(1s), 1000));
    return answer ? answer->status : 0;
  }

  rt::VirtualLoop loop{1};
  rt::Runtime here = loop.actor("main");
  FakeHttp::World http;
  std::optional<std::string> token = "good\n";
  int reads = 0;
};

TEST_F(HttpApiTest, DressesRequests) {
  auto api = make();
  ASSERT_TRUE(api) << api.error().text();
  EXPECT_EQ(call(**api), 200);
  ASSERT_EQ(http.seen.size(), 1u);
  EXPECT_EQ(http.seen[0].path, "/k8s/c1/version");
  EXPECT_EQ(net::find_header(http.seen[0].headers, "user-agent"), "quorate/test");
  EXPECT_EQ(net::find_header(http.seen[0].headers, "authorization"), "Bearer good");
  EXPECT_EQ(http.options.endpoint.host, "h");
  loop.run((*api)->close());
  EXPECT_TRUE(http.closed);
}

TEST_F(HttpApiTest, NamesTheFileThatItCannotUse) {
  token.reset();
  EXPECT_EQ(make().error().text(), "read credentials: /token: no such file");
  token = " \n";
  EXPECT_EQ(make().error().text(), "read credentials: /token: holds no token");
}

TEST_F(HttpApiTest, TakesARotatedTokenUpInTime) {
  auto api = make();
  EXPECT_EQ(call(**api), 200);
  token = "new";
  loop.run_for(29s);
  EXPECT_EQ(call(**api), 200);  // not looked at yet, and still good
  EXPECT_EQ(reads, 1);
  loop.run_for(2s);
  http.accepted = "new";
  EXPECT_EQ(call(**api), 200);
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(http.seen.size(), 3u);
}

TEST_F(HttpApiTest, LooksAtTheFileWhenItIsNotBelieved) {
  auto api = make();
  token = "new";
  http.accepted = "new";
  EXPECT_EQ(call(**api), 200);
  EXPECT_EQ(http.seen.size(), 2u);
  http.accepted = "newer";  // the file does not have it: no second try, no storm
  EXPECT_EQ(call(**api), 401);
  EXPECT_EQ(http.seen.size(), 3u);
  token = "newer";
  auto stream = loop.run((*api)->open({"GET", "/api/v1/pods?watch=1", {}, ""}, here.in(1s)));
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->status(), 200);
}

TEST_F(HttpApiTest, LooksAtTheFileAfterAFailureToConnect) {
  auto api = make();
  http.down = true;
  EXPECT_EQ(call(**api), 0);
  EXPECT_EQ(reads, 1);
  http.down = false;
  token = "new";
  http.accepted = "new";
  EXPECT_EQ(call(**api), 200);
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(http.seen.size(), 2u);
}

TEST_F(HttpApiTest, KeepsTheOldTokenWhileTheFileIsAway) {
  auto api = make();
  token.reset();
  loop.run_for(1min);
  EXPECT_EQ(call(**api), 200);
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace quorate::kube
