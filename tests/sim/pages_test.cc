// What a running operator tells whoever asks, and what it writes into its log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "json/document.h"
#include "operator/health.h"
#include "tests/sim/keys.h"
#include "tests/sim/kube_link.h"
#include "tests/sim/world.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;
using Pages = op::HealthHandler::Pages;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A world whose only operator is the test's own, and the pages that it serves.
struct PagesTest : testing::Test {
  PagesTest() {
    options.clients = 0;
    options.operators = 0;
  }
  ~PagesTest() override {
    if (world) world->loop().crash("operator");  // its frames go before what they refer to
  }
  void start() {
    world.emplace(options);
    world->start();
    auto here = world->loop().actor("operator");
    link.emplace(here, world->api());
    members.emplace(world->etcd(), here, "operator");
    op::OperatorOptions own;
    own.replica = "operator";
    own.launch_image = "quorate:sim";
    auto made = op::Operator::make(here, *link, *link, *members, keys, own, log);
    ASSERT_TRUE(made.has_value()) << made.error().text();
    operator_ = std::move(*made);
    group.emplace(here);
    group->spawn("process", run());
  }
  Task<void> run() { (void)co_await operator_->run(); }
  [[nodiscard]] const op::Operator& process() { return *operator_; }
  net::Response get(std::string_view path, Pages pages = Pages::kAll) {
    return op::HealthHandler(process(), nullptr, "1.2.3", pages).answer(path);
  }
  std::vector<std::string> clusters_in(const std::string& path) {
    std::vector<std::string> out;
    const auto answer = get(path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto page = json::parse(answer.body);
    EXPECT_TRUE(page.has_value()) << answer.body;
    for (const auto& cluster : json::find(*page, "/clusters")->as_array())
      out.emplace_back(json::find(cluster, "/name")->as_string());
    return out;
  }

  WorldOptions options;
  Log log;
  std::optional<World> world;
  RememberedKeys keys{1};
  std::optional<KubeLink> link;
  std::optional<etcdsim::SimEtcd> members;
  std::unique_ptr<op::Operator> operator_;
  std::optional<rt::TaskGroup> group;
};

TEST_F(PagesTest, ReadinessWaitsForEveryFirstList) {
  start();
  EXPECT_EQ(get("/healthz").status, 200) << "it works from the start";
  const auto before = get("/readyz");
  EXPECT_EQ(before.status, 503);
  EXPECT_THAT(before.body, AllOf(HasSubstr("etcdclusters: "), HasSubstr("pods: ")))
      << "what is missing is named";
  ASSERT_TRUE(world->run_until([&] { return process().ready(); }, 1min));
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/readyz").body, "ok\n");
}

TEST_F(PagesTest, MetricsAreForPrometheus) {
  start();
  const auto answer = get("/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.front(),
            (std::pair<std::string, std::string>("content-type",
                                                 "text/plain; version=0.0.4; charset=utf-8")));
  EXPECT_THAT(answer.body, HasSubstr("version=\"1.2.3\""));
}

TEST_F(PagesTest, ClustersAreChosenByNameAndNamespace) {
  start();
  ASSERT_TRUE(world->declare("a", json::Object()).has_value());
  ASSERT_TRUE(world->declare("b", json::Object()).has_value());
  ASSERT_TRUE(
      world->run_until([&] { return world->converged("a") && world->converged("b"); }, 5min));
  EXPECT_THAT(clusters_in("/debug/clusters"), ElementsAre("a", "b"));
  EXPECT_THAT(clusters_in("/debug/clusters?name=b"), ElementsAre("b"));
  EXPECT_THAT(clusters_in("/debug/clusters?namespace=default&name=a"), ElementsAre("a"));
  EXPECT_THAT(clusters_in("/debug/clusters?namespace=elsewhere"), IsEmpty());
  const auto wrong = get("/debug/clusters?nmae=a");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("\"nmae=a\""));
}

TEST_F(PagesTest, EachPortHasItsOwnPages) {
  start();
  EXPECT_EQ(get("/").status, 404);
  EXPECT_THAT(get("/").body, HasSubstr("/healthz, /readyz, /metrics"));
  EXPECT_EQ(get("/metrics", Pages::kHealth).status, 404);
  EXPECT_EQ(get("/debug/clusters", Pages::kHealth).status, 404);
  EXPECT_EQ(get("/healthz", Pages::kMetrics).status, 404);
  EXPECT_EQ(get("/healthz", Pages::kHealth).status, 200);
  EXPECT_EQ(get("/metrics", Pages::kMetrics).status, 200);
}

struct LastAnswer : net::Responder {
  Task<Result<void>> respond(net::Response response) override {
    status = response.status;
    co_return Result<void>();
  }
  Task<Result<void>> start(int, net::Headers) override { co_return fail(Code::kInternal, "no"); }
  Task<Result<void>> write(std::string, rt::Deadline) override {
    co_return fail(Code::kInternal, "no");
  }
  Task<Result<void>> finish(net::Headers) override { co_return fail(Code::kInternal, "no"); }
  Task<Result<net::Upgraded>> upgrade(net::Headers) override {
    co_return fail(Code::kInternal, "no");
  }
  int status = 0;
};

TEST_F(PagesTest, AreReadAndNeverWritten) {
  start();
  op::HealthHandler handler(process(), nullptr, "1.2.3", Pages::kAll);
  const std::map<std::string, int> wanted = {
      {"GET", 200}, {"HEAD", 200}, {"POST", 405}, {"PUT", 405}, {"DELETE", 405}};
  for (const auto& [method, status] : wanted) {
    LastAnswer answer;
    net::ServerRequest request;
    request.method = method;
    request.path = "/healthz";
    world->loop().run(handler.handle(std::move(request), answer));
    EXPECT_EQ(answer.status, status) << method;
  }
}

// ---- Log lines ----

// Its lines about clusters, read.
struct LogTest : PagesTest {
  LogTest() {
    Log::Options to;
    to.now = [] { return WallTime(); };
    to.sink = [this](std::string_view line) {
      auto read = json::parse(line);
      ASSERT_TRUE(read.has_value()) << line;
      if (json::find(*read, "/cluster")) lines.push_back(std::move(*read));
    };
    log = Log(to);
  }
  std::vector<json::Value> lines;
};

std::string text_of(const json::Value& line, std::string_view field) {
  const auto* found = json::find(line, field);
  return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

// A worker looks at one cluster at a time, so the lines of a look follow each other, and a later
// look has another number.
TEST_F(LogTest, EveryLineOfALookHasItsNumberAndNamesTheMember) {
  start();
  ASSERT_TRUE(world->declare("c", json::Object()).has_value());
  ASSERT_TRUE(world->run_until([&] { return world->converged("c"); }, 5min));
  ASSERT_GT(lines.size(), 10U);
  std::map<std::int64_t, std::vector<std::string>> looks;
  std::int64_t last = 0;
  for (const auto& line : lines) {
    const auto* id = json::find(line, "/reconcile");
    ASSERT_TRUE(id) << json::render(line);
    EXPECT_GE(id->to_number<std::int64_t>(), last) << json::render(line);
    last = id->to_number<std::int64_t>();
    looks[last].push_back(text_of(line, "/step"));
    EXPECT_EQ(text_of(line, "/cluster"), "default/c");
    if (text_of(line, "/step") == "create Pod c-1") {
      EXPECT_EQ(text_of(line, "/member"), "c-1");
    }
    if (text_of(line, "/step") == "create claim data-c-2") {
      EXPECT_EQ(text_of(line, "/member"), "c-2");
    }
    if (text_of(line, "/step").starts_with("apply Service")) {
      EXPECT_EQ(json::find(line, "/member"), nullptr) << json::render(line);
    }
  }
  EXPECT_GT(looks.size(), 1U) << "it was formed by several";
  EXPECT_TRUE(std::any_of(looks.begin(), looks.end(), [](const auto& look) {
    return look.second.size() > 1;
  })) << "one of which took several steps";
}

}  // namespace
}  // namespace quorate::sim
