#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/crd.h"
#include "apiserver/server.h"
#include "dashboard/feed.h"
#include "json/document.h"
#include "kube/client.h"
#include "rt/virtual_loop.h"
#include "tests/sim/kube_link.h"

// What an open page is told, and when: watches of the production code on the API in memory, in
// virtual time.
namespace quorate::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The API server, until it is cut off.
class CutApi : public kube::Api {
 public:
  explicit CutApi(kube::Api& api) : api_(api) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    if (cut) co_return fail(Code::kUnavailable, "cut off");
    co_return co_await api_.call(std::move(request), deadline, limit);
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override {
    if (cut) co_return fail(Code::kUnavailable, "cut off");
    co_return co_await api_.open(std::move(request), deadline);
  }
  bool cut = false;

 private:
  kube::Api& api_;
};

// A browser that reads all it gets.
class Reader : public net::Responder {
 public:
  Task<Result<void>> respond(net::Response) override { co_return Result<void>(); }
  Task<Result<void>> start(int, net::Headers) override { co_return Result<void>(); }
  Task<Result<void>> write(std::string piece, rt::Deadline) override {
    if (piece.starts_with(':')) ++beats;
    if (piece.starts_with("data: ")) messages.push_back(json::parse(piece.substr(6)).value());
    co_return Result<void>();
  }
  Task<Result<void>> finish(net::Headers) override { co_return Result<void>(); }
  Task<Result<net::Upgraded>> upgrade(net::Headers) override {
    co_return fail(Code::kInvalid, "a page is no place for that");
  }

  // What came since the last call.
  std::vector<json::Value> take() { return std::exchange(messages, {}); }

  std::vector<json::Value> messages;
  int beats = 0;
};

class DashboardFeed : public ::testing::Test {
 protected:
  DashboardFeed() {
    for (const auto& file : api::render_crds()) EXPECT_TRUE(server_.install_crd(file.text));
    send("POST", "/api/v1/namespaces",
         R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})");
    group_.spawn("live", live_.run());
    loop_.run_for(1s);
  }
  ~DashboardFeed() override {
    group_.cancel();
    loop_.run(group_.join());
    loop_.tear_down();
  }

  void send(const std::string& method, const std::string& path, const std::string& body) {
    apiserver::Request request;
    request.method = method;
    request.path = path;
    request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
    request.body = body;
    const auto answer = server_.serve(request);
    EXPECT_LT(answer.status, 300) << answer.body;
  }
  void declare(const std::string& name) {
    send("POST", kClusters,
         fmt::format(R"({{"apiVersion": "quorate.io/v1alpha1", "kind":
        "EtcdCluster", "metadata": {{"name": "{}"}}, "spec": {{}}}})",
                     name));
  }
  void set_phase(const std::string& name, const std::string& phase) {
    send("PATCH", fmt::format("{}/{}/status", kClusters, name),
         fmt::format(R"({{"status": {{"phase": "{}"}}}})", phase));
  }
  void add_pod(const std::string& name, const std::string& cluster) {
    send("POST", "/api/v1/namespaces/n/pods",
         fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}",
             "labels": {{"quorate.io/cluster": "{}"}}}}, "spec": {{"nodeName": "node-1",
             "containers": [{{"name": "etcd", "image": "etcd"}}]}}}})",
                     name, cluster));
  }
  void add_event(const std::string& name, const std::string& kind, const std::string& about) {
    send("POST", "/apis/events.k8s.io/v1/namespaces/n/events",
         fmt::format(R"({{"apiVersion": "events.k8s.io/v1", "kind": "Event",
             "metadata": {{"name": "{}", "namespace": "n"}}, "eventTime": "2026-01-02T03:04:05.000000Z",
             "reportingController": "x", "reportingInstance": "x", "action": "A", "reason": "R",
             "type": "Normal", "note": "{}", "regarding": {{"kind": "{}", "name": "{}",
             "namespace": "n"}}}})",
                     name, name, kind, about));
  }
  void open(Reader& reader, std::optional<ObjectKey> cluster) {
    group_.spawn("page", page(reader, std::move(cluster)));
    loop_.run_for(1s);
  }
  Task<void> page(Reader& reader, std::optional<ObjectKey> cluster) {
    static_cast<void>(co_await dashboard::feed(live_, std::move(cluster), reader));
  }
  static std::vector<std::string> names(const json::Value& message, std::string_view where) {
    std::vector<std::string> out;
    for (const auto& row : json::find(message, where)->as_array())
      out.emplace_back(json::text_or(row, "/name", ""));
    return out;
  }

  static constexpr const char* kClusters = "/apis/quorate.io/v1alpha1/namespaces/n/etcdclusters";
  rt::VirtualLoop loop_{1};
  apiserver::Server server_{loop_.actor("server"), {}};
  rt::Runtime here_ = loop_.actor("main");
  sim::KubeLink link_{here_, server_};
  CutApi api_{link_};
  kube::Client client_{here_, api_};
  dashboard::Live live_{here_, client_, "", Log()};
  rt::TaskGroup group_{here_};
};

TEST_F(DashboardFeed, TellsTheFleetOnceAndThenWhatChanges) {
  declare("a");
  declare("b");
  loop_.run_for(1s);
  Reader reader;
  open(reader, std::nullopt);
  auto told = reader.take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(json::flag_at(told[0], "/whole").value());
  EXPECT_TRUE(json::flag_at(told[0], "/synced").value());
  EXPECT_THAT(names(told[0], "/rows"), ElementsAre("a", "b"));

  set_phase("b", "Forming");
  set_phase("b", "Ready");
  loop_.run_for(1s);
  told = reader.take();
  ASSERT_EQ(told.size(), 1u) << "a burst is told as one";
  EXPECT_FALSE(json::flag_at(told[0], "/whole").value());
  EXPECT_THAT(names(told[0], "/rows"), ElementsAre("b"));
  EXPECT_EQ(json::text_or(told[0], "/rows/0/health", ""), "Ready");

  send("DELETE", std::string(kClusters) + "/a", "");
  loop_.run_for(1s);
  told = reader.take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(names(told[0], "/gone"), ElementsAre("a"));
  EXPECT_THAT(names(told[0], "/rows"), IsEmpty());
}

TEST_F(DashboardFeed, TellsOfPartsToThoseWhoLookAtTheCluster) {
  declare("a");
  declare("b");
  loop_.run_for(1s);
  Reader fleet, a, b;
  open(fleet, std::nullopt);
  open(a, ObjectKey{"n", "a"});
  open(b, ObjectKey{"n", "b"});
  for (auto* reader : {&fleet, &a, &b}) EXPECT_EQ(reader->take().size(), 1u);

  add_pod("a-0", "a");
  loop_.run_for(1s);
  add_event("about-a", "Pod", "a-0");
  add_event("about-others", "Pod", "web-5d4f7");
  loop_.run_for(1s);
  EXPECT_EQ(fleet.take().size(), 0u);
  EXPECT_EQ(b.take().size(), 0u);
  const auto told = a.take();
  ASSERT_EQ(told.size(), 2u);
  ASSERT_EQ(json::find(told[1], "/cluster/events")->as_array().size(), 1u);
  EXPECT_EQ(json::text_or(told[1], "/cluster/events/0/message", ""), "about-a");
}

TEST_F(DashboardFeed, TellsThatAClusterIsNotThereAndWhenItComes) {
  Reader reader;
  open(reader, ObjectKey{"n", "late"});
  auto told = reader.take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(json::find(told[0], "/cluster")->is_null());
  declare("late");
  loop_.run_for(1s);
  told = reader.take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(json::text_or(told[0], "/cluster/name", ""), "late");
  EXPECT_EQ(json::text_or(told[0], "/cluster/history/0/text", ""), "declared");
}

TEST_F(DashboardFeed, TellsWhatCannotBeReadWhileThatLasts) {
  Reader reader;
  open(reader, std::nullopt);
  reader.take();
  api_.cut = true;
  loop_.run_for(15min);  // until the server has ended the watches in their time
  auto told = reader.take();
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(json::render(told.back()), HasSubstr("EtcdClusters: "));
  EXPECT_THAT(json::render(told.back()), HasSubstr("cut off"));
  api_.cut = false;
  loop_.run_for(3min);
  told = reader.take();
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(json::find(told.back(), "/trouble")->as_array(), IsEmpty());
}

TEST_F(DashboardFeed, ShowsThatItIsAliveWhereNothingHappens) {
  Reader reader;
  open(reader, std::nullopt);
  reader.take();
  loop_.run_for(1min);
  EXPECT_EQ(reader.take().size(), 0u);
  EXPECT_GE(reader.beats, 4);
  EXPECT_LE(reader.beats, 6);
}

}  // namespace
}  // namespace quorate::test
