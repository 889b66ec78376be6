#include "apiserver/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/storage.h"
#include "apiserver/verbs.h"
#include "rt/virtual_loop.h"

namespace quorate::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

struct Reply {
  int status;
  json::Value body;
  std::string_view text(const char* pointer) const { return json::text_or(body, pointer, ""); }
  std::int64_t number(const char* pointer) const {
    return json::integer_at(body, pointer).value_or(-1);
  }
};

struct ServerTest : ::testing::Test {
  Reply ask(std::string method, std::string path, const std::string& body = "",
            std::string type = "application/json") {
    Request request;
    request.method = std::move(method);
    const auto at = path.find('?');
    request.path = path.substr(0, at);
    while (at != std::string::npos && !path.empty()) {
      path.erase(0, path.find_first_of("?&") + 1);
      const auto pair = path.substr(0, path.find('&'));
      request.query[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
      if (path.find('&') == std::string::npos) break;
    }
    request.body = body;
    request.content_type = std::move(type);
    request.user_agent = "test/1";
    auto answer = server.serve(request);
    if (answer.watch) watch = std::move(answer.watch);
    auto parsed = json::parse(answer.body);
    return {answer.status, parsed ? *parsed : json::Value(answer.body)};
  }
  Reply merge(const std::string& path, const std::string& patch) {
    return ask("PATCH", path, patch, "application/merge-patch+json");
  }
  Reply make_pod(const std::string& name, const std::string& node) {
    return ask("POST", kPods,
               fmt::format(
                   R"({{"metadata":{{"name":"{}","labels":{{"app":"x"}}}},"spec":{{
                 "nodeName":"{}","containers":[{{"name":"c","image":"i"}}]}}}})",
                   name, node));
  }

  // What the last watch says next without waiting; "" if nothing, "end" at its
  // end.
  std::string next() {
    auto line = loop.run(watch->read(here.in(1ms)));
    if (!line) return "";
    if (!*line) return "end";
    const auto event = json::parse(**line).value();
    return fmt::format(
        "{} {}", json::text_or(event, "/type", ""),
        json::text_or(event, "/object/metadata/name", json::text_or(event, "/object/reason", "")));
  }

  rt::VirtualLoop loop{1};
  rt::Runtime here = loop.actor("main");
  Server server{here, {.history = 50}};
  std::unique_ptr<Watch> watch;
};

TEST_F(ServerTest, CreatesOnceAndSaysSo) {
  const auto made = ask("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.text("/metadata/uid").size(), 36u);
  EXPECT_EQ(made.text("/metadata/namespace"), "default");
  EXPECT_EQ(made.text("/metadata/managedFields/0/manager"), "test");
  const auto again = ask("POST", kMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.text("/reason"), "AlreadyExists");
  EXPECT_EQ(again.text("/message"), "configmaps \"a\" already exists");
}

TEST_F(ServerTest, MakesNamesFromTheirBeginning) {
  const auto made = ask("POST", kMaps, R"({"metadata":{"generateName":"gen-"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(std::string(made.text("/metadata/name")), ::testing::MatchesRegex("gen-[a-z0-9]{5}"));
}

TEST_F(ServerTest, DryRunsChangeNothing) {
  const auto version = server.storage().version();
  EXPECT_EQ(ask("POST", std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"a"}})").status,
            201);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/a").status, 404);
  EXPECT_EQ(server.storage().version(), version);
}

TEST_F(ServerTest, RefusesUpdatesOfAnotherVersion) {
  auto made = ask("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  ASSERT_EQ(merge(std::string(kMaps) + "/a", R"({"data":{"k":"2"}})").status, 200);
  const auto stale = ask("PUT", std::string(kMaps) + "/a", json::render(made.body));
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.text("/reason"), "Conflict");
  made.body.as_object()["metadata"].as_object().erase("resourceVersion");
  EXPECT_EQ(ask("PUT", std::string(kMaps) + "/a", json::render(made.body)).status, 200)
      << "this kind takes updates without a version";
}

TEST_F(ServerTest, AWriteThatChangesNothingIsNone) {
  const auto made = ask("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  loop.run_for(10s);
  const auto same = merge(std::string(kMaps) + "/a", R"({"data":{"k":"1"}})");
  EXPECT_EQ(same.text("/metadata/resourceVersion"), made.text("/metadata/resourceVersion"));
}

TEST_F(ServerTest, FinalizersKeepADeletedObjectUntilTheyAreGone) {
  ask("POST", kMaps, R"({"metadata":{"name":"a","finalizers":["x.io/keep"]}})");
  const auto asked = ask("DELETE", std::string(kMaps) + "/a");
  EXPECT_EQ(asked.status, 200);
  EXPECT_EQ(asked.text("/kind"), "ConfigMap");
  EXPECT_NE(asked.text("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(merge(std::string(kMaps) + "/a", R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/a").status, 404);
}

TEST_F(ServerTest, PropagationLeavesTheCollectorsFinalizers) {
  const auto finalizer_of = [&](const char* policy) {
    ask("POST", kMaps, R"({"metadata":{"name":"a"}})");
    const auto path = fmt::format("{}/a?propagationPolicy={}", kMaps, policy);
    const std::string finalizer(ask("DELETE", path).text("/metadata/finalizers/0"));
    merge(std::string(kMaps) + "/a", R"({"metadata":{"finalizers":null}})");
    return finalizer;
  };
  EXPECT_EQ(finalizer_of("Orphan"), "orphan");
  EXPECT_EQ(finalizer_of("Foreground"), "foregroundDeletion");
  EXPECT_EQ(finalizer_of("Background"), "");
}

TEST_F(ServerTest, PreconditionsNameTheVeryObject) {
  const auto made = ask("POST", kMaps, R"({"metadata":{"name":"a"}})");
  const auto refused =
      ask("DELETE", std::string(kMaps) + "/a", R"({"preconditions":{"uid":"another"}})");
  EXPECT_EQ(refused.status, 409);
  const auto body = fmt::format(R"({{"preconditions":{{"uid":"{}","resourceVersion":"{}"}}}})",
                                made.text("/metadata/uid"), made.text("/metadata/resourceVersion"));
  EXPECT_EQ(ask("DELETE", std::string(kMaps) + "/a", body).text("/status"), "Success");
}

TEST_F(ServerTest, RunningPodsGoGracefullyAndMayBeHurried) {
  make_pod("a", "n1");
  const auto going = ask("DELETE", std::string(kPods) + "/a");
  EXPECT_EQ(going.number("/metadata/deletionGracePeriodSeconds"), 30);
  EXPECT_EQ(ask("GET", std::string(kPods) + "/a").status, 200);
  EXPECT_EQ(ask("DELETE", std::string(kPods) + "/a?gracePeriodSeconds=60")
                .number("/metadata/deletionGracePeriodSeconds"),
            30);
  EXPECT_EQ(ask("DELETE", std::string(kPods) + "/a?gracePeriodSeconds=0").status, 200);
  EXPECT_EQ(ask("GET", std::string(kPods) + "/a").status, 404);
}

TEST_F(ServerTest, PodsWithoutANodeGoAtOnce) {
  make_pod("a", "");
  ask("DELETE", std::string(kPods) + "/a");
  EXPECT_EQ(ask("GET", std::string(kPods) + "/a").status, 404);
}

TEST_F(ServerTest, EvictionHeedsTheBudget) {
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  ask("POST", budgets,
      R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})");
  make_pod("a", "n1");
  merge(std::string(kPods) + "/a/status",
        R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  const std::string eviction =
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}})";
  const auto unknown = ask("POST", std::string(kPods) + "/a/eviction", eviction);
  EXPECT_EQ(unknown.status, 429);
  EXPECT_EQ(unknown.number("/details/retryAfterSeconds"), 10);
  merge(budgets + "/b/status", R"({"status":{"observedGeneration":1,"disruptionsAllowed":1}})");
  EXPECT_EQ(ask("POST", std::string(kPods) + "/a/eviction", eviction).status, 201);
  const auto budget = ask("GET", budgets + "/b");
  EXPECT_EQ(budget.number("/status/disruptionsAllowed"), 0);
  EXPECT_NE(budget.text("/status/disruptedPods/a"), "");
  EXPECT_NE(ask("GET", std::string(kPods) + "/a").text("/metadata/deletionTimestamp"), "");
}

TEST_F(ServerTest, BindingHappensOnce) {
  make_pod("a", "");
  const auto bind = [&](const char* node) {
    return ask("POST", std::string(kPods) + "/a/binding",
               fmt::format(R"({{"metadata":{{"name":"a"}},"target":{{"name":"{}"}}}})", node));
  };
  EXPECT_EQ(bind("n1").status, 201);
  EXPECT_EQ(bind("n2").status, 409);
  EXPECT_EQ(ask("GET", std::string(kPods) + "/a").text("/spec/nodeName"), "n1");
}

TEST_F(ServerTest, NamespacesGoInTwoStepsAndTakeNothingNew) {
  const std::string maps = "/api/v1/namespaces/n/configmaps";
  EXPECT_EQ(ask("POST", maps, R"({"metadata":{"name":"a"}})").status, 404);
  ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(ask("POST", maps, R"({"metadata":{"name":"a"}})").status, 201);
  auto going = ask("DELETE", "/api/v1/namespaces/n");
  EXPECT_EQ(going.text("/status/phase"), "Terminating");
  const auto refused = ask("POST", maps, R"({"metadata":{"name":"b"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.text("/details/causes/0/reason"), "NamespaceTerminating");
  ASSERT_TRUE(json::remove(going.body, "/spec/finalizers"));
  EXPECT_EQ(ask("PUT", "/api/v1/namespaces/n/finalize", json::render(going.body)).status, 200);
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/n").status, 404);
}

TEST_F(ServerTest, PagesShowOneMoment) {
  for (const char* name : {"a", "b", "c"})
    ask("POST", kMaps, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  const auto first = ask("GET", std::string(kMaps) + "?limit=2");
  EXPECT_EQ(first.number("/metadata/remainingItemCount"), 1);
  ask("DELETE", std::string(kMaps) + "/c");
  ask("POST", kMaps, R"({"metadata":{"name":"d"}})");
  const auto path = fmt::format("{}?limit=2&continue={}", kMaps, first.text("/metadata/continue"));
  const auto second = ask("GET", path);
  EXPECT_EQ(second.text("/items/0/metadata/name"), "c");
  EXPECT_EQ(json::find(second.body, "/items/1"), nullptr);
  EXPECT_EQ(second.text("/metadata/resourceVersion"), first.text("/metadata/resourceVersion"));

  server.storage().compact(server.storage().version());
  const auto late = ask("GET", path);
  EXPECT_EQ(late.status, 410);
  EXPECT_EQ(late.text("/reason"), "Expired");
  const auto anew =
      ask("GET", fmt::format("{}?continue={}", kMaps, late.text("/metadata/continue")));
  EXPECT_EQ(anew.text("/items/0/metadata/name"), "d");
}

TEST_F(ServerTest, VersionsToComeAreRefused) {
  const auto refused = ask("GET", std::string(kMaps) + "?resourceVersion=1000000");
  EXPECT_EQ(refused.status, 504);
  EXPECT_EQ(refused.text("/details/causes/0/reason"), "ResourceVersionTooLarge");
}

TEST_F(ServerTest, WatchesTellWhatEntersAndLeavesASelection) {
  const auto begun = ask("GET", kMaps);
  const std::string query = fmt::format("{}?watch=true&labelSelector=app&resourceVersion={}", kMaps,
                                        begun.text("/metadata/resourceVersion"));
  ask("POST", kMaps, R"({"metadata":{"name":"a"}})");
  merge(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"app":"x"}}})");
  merge(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"app":"y"}}})");
  merge(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"app":null}}})");
  ask("DELETE", std::string(kMaps) + "/a");
  ask("GET", query);
  std::vector<std::string> told;
  for (auto line = next(); !line.empty(); line = next()) told.push_back(line);
  EXPECT_THAT(told, ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

TEST_F(ServerTest, AWatchEndsWithItsTimeAndBeginsAtWhatIsThere) {
  ask("POST", kMaps, R"({"metadata":{"name":"a"}})");
  ask("GET", std::string(kMaps) + "?watch=true&timeoutSeconds=5");
  EXPECT_EQ(next(), "ADDED a");
  EXPECT_EQ(next(), "");
  loop.run_for(6s);
  EXPECT_EQ(next(), "end");
}

TEST_F(ServerTest, AWatchOfWhatIsForgottenSaysSoAndEnds) {
  const auto begun = ask("GET", kMaps);
  for (int i = 0; i < 60; ++i)
    ask("POST", kMaps, fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i));
  ask("GET", fmt::format("{}?watch=true&resourceVersion={}", kMaps,
                         begun.text("/metadata/resourceVersion")));
  EXPECT_EQ(next(), "ERROR Expired");
  EXPECT_EQ(next(), "end");
}

TEST_F(ServerTest, InitialEventsEndWithABookmarkHoweverSlowlyTheyAreRead) {
  ask("POST", kMaps, R"({"metadata":{"name":"a"}})");
  const auto begun = ask("GET", kMaps);
  ask("GET", std::string(kMaps) +
                 "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                 "&allowWatchBookmarks=true");
  merge(std::string(kMaps) + "/a", R"({"data":{"k":"v"}})");
  EXPECT_EQ(next(), "ADDED a");
  const auto line = loop.run(watch->read(here.in(1s)));
  ASSERT_TRUE(line && *line);
  EXPECT_THAT(**line, HasSubstr("k8s.io/initial-events-end"));
  EXPECT_THAT(**line, HasSubstr(fmt::format("\"resourceVersion\":\"{}\"",
                                            begun.text("/metadata/resourceVersion"))));
  EXPECT_EQ(next(), "MODIFIED a");
}

TEST_F(ServerTest, ServicesGetAddressesAndGiveThemBack) {
  const std::string services = "/api/v1/namespaces/default/services";
  const auto made =
      ask("POST", services, R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}})");
  const std::string address(made.text("/spec/clusterIP"));
  EXPECT_THAT(address, ::testing::StartsWith("198.19."));
  const auto wanted = fmt::format(
      R"({{"metadata":{{"name":"b"}},"spec":{{"clusterIP":"{}","ports":[{{"port":80}}]}}}})",
      address);
  EXPECT_EQ(ask("POST", services, wanted).status, 422);
  ask("DELETE", services + "/a");
  EXPECT_EQ(ask("POST", services, wanted).text("/spec/clusterIP"), address);
}

TEST_F(ServerTest, EventsAreOneKindUnderTwoNames) {
  const auto made = ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
                        R"({"metadata":{"name":"e"},"regarding":{"kind":"Pod","name":"p",
                            "namespace":"default"},"reason":"R","note":"hello","action":"a",
                            "type":"Normal","eventTime":"2020-01-02T03:04:05.000000Z",
                            "reportingController":"x.io/y","reportingInstance":"i"})");
  EXPECT_EQ(made.status, 201) << json::render(made.body);
  const auto core = ask("GET", "/api/v1/namespaces/default/events/e");
  EXPECT_EQ(core.text("/message"), "hello");
  EXPECT_EQ(core.text("/involvedObject/name"), "p");
  EXPECT_EQ(ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e").text("/note"),
            "hello");
}

TEST_F(ServerTest, SaysWhatItServes) {
  EXPECT_EQ(ask("GET", "/version").text("/gitVersion"), "v1.34.4");
  EXPECT_EQ(ask("GET", "/apis/policy/v1").text("/groupVersion"), "policy/v1");
  EXPECT_EQ(ask("GET", "/apis/nothing/v1").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/nonsense").text("/reason"), "NotFound");
  EXPECT_EQ(ask("POST", std::string(kMaps) + "/a", "{}").status, 405);
  EXPECT_EQ(ask("PATCH", std::string(kMaps) + "/a", "{}").status, 415);
}

}  // namespace
}  // namespace quorate::apiserver
