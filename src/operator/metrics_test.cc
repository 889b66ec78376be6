#include "operator/metrics.h"

#include <gtest/gtest.h>

#include "operator/counted_api.h"
#include "operator/metrics_page.h"
#include "operator/process_figures.h"
#include "rt/virtual_loop.h"

namespace quorate::op {
namespace {

using namespace std::chrono_literals;

TEST(MetricsPage, IsPrometheusText) {
  MetricsPage page;
  page.one("quorate_leader", "gauge", "1 if it leads.", 1);
  page.family("quorate_waits", "gauge", "Waits.");
  page.sample(3, {{"rule", "ensure"}, {"reason", "a \"b\" \\ c\nd"}});
  EXPECT_EQ(page.take(),
            "# HELP quorate_leader 1 if it leads.\n"
            "# TYPE quorate_leader gauge\n"
            "quorate_leader 1\n"
            "# HELP quorate_waits Waits.\n"
            "# TYPE quorate_waits gauge\n"
            "quorate_waits{rule=\"ensure\",reason=\"a \\\"b\\\" \\\\ c\\nd\"} 3\n");
}

TEST(MetricsPage, CountsInBucketsUpToEachBound) {
  Histogram took;
  for (auto time : {1ms, 2ms, 60ms, 20000ms}) took.add(time);
  MetricsPage page;
  page.family("quorate_time_seconds", "histogram", "Time.");
  page.histogram(took, {{"verb", "get"}});
  const auto text = page.take();
  for (const char* line : {"quorate_time_seconds_bucket{verb=\"get\",le=\"0.001\"} 1\n",
                           "quorate_time_seconds_bucket{verb=\"get\",le=\"0.0025\"} 2\n",
                           "quorate_time_seconds_bucket{verb=\"get\",le=\"0.1\"} 3\n",
                           "quorate_time_seconds_bucket{verb=\"get\",le=\"10\"} 3\n",
                           "quorate_time_seconds_bucket{verb=\"get\",le=\"+Inf\"} 4\n",
                           "quorate_time_seconds_sum{verb=\"get\"} 20.063\n",
                           "quorate_time_seconds_count{verb=\"get\"} 4\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(RequestCounts, NameResourcesWithoutNamesOfObjects) {
  for (const auto& [path, resource] : std::vector<std::pair<std::string, std::string>>{
           {"/api/v1/namespaces/n/pods/c-0", "pods"},
           {"/api/v1/namespaces/n/pods/c-0?fieldManager=quorate", "pods"},
           {"/api/v1/pods?watch=1", "pods"},
           {"/apis/quorate.io/v1alpha1/namespaces/n/etcdclusters/c/status", "etcdclusters/status"},
           {"/apis/policy/v1/poddisruptionbudgets", "poddisruptionbudgets"},
           {"/api/v1/namespaces/n", "namespaces"},
           {"/version", ""},
           {"/api/v1", ""},
           {"/", ""},
           {"", ""},
       })
    EXPECT_EQ(resource_in(path), resource) << path;
}

TEST(RequestCounts, NameVerbsAsRightsDo) {
  EXPECT_EQ(verb_of({.method = "GET", .path = "/api/v1/pods/c-0"}, false), "get");
  EXPECT_EQ(verb_of({.method = "GET", .path = "/api/v1/pods?limit=500"}, true), "list");
  EXPECT_EQ(verb_of({.method = "GET", .path = "/api/v1/pods?a=b&watch=1"}, true), "watch");
  EXPECT_EQ(verb_of({.method = "POST", .path = "/api/v1/pods"}, false), "create");
  EXPECT_EQ(verb_of({.method = "PUT", .path = "/api/v1/pods/c-0/status"}, false), "update");
  EXPECT_EQ(verb_of({.method = "PATCH", .path = "/api/v1/pods/c-0"}, false), "patch");
  EXPECT_EQ(verb_of({.method = "DELETE", .path = "/api/v1/pods/c-0"}, false), "delete");
}

// Answers every call with the same.
class OneAnswer : public kube::Api {
 public:
  explicit OneAnswer(net::Response answer) : answer_(std::move(answer)) {}
  Task<Result<net::Response>> call(net::Request, rt::Deadline, std::size_t) override {
    co_return answer_;
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request, rt::Deadline) override {
    co_return fail(Code::kUnavailable, "no server");
  }

 private:
  net::Response answer_;
};

std::string counted_code(int status, std::string body) {
  rt::VirtualLoop loop{1};
  const auto here = loop.actor("main");
  OneAnswer server({status, {{"content-type", "application/json"}}, std::move(body)});
  RequestCounts counts;
  CountedApi api(here, server, counts);
  EXPECT_TRUE(loop.run(api.call({"POST", "/api/v1/namespaces/n/pods", {}, ""}, here.in(1s), 1000)));
  EXPECT_EQ(counts.by_kind().size(), 1U);
  return counts.by_kind().begin()->first.code;
}

TEST(RequestCounts, TellANamespaceThatIsGoingFromALackOfRights) {
  EXPECT_EQ(counted_code(201, "{}"), "201");
  EXPECT_EQ(counted_code(403, R"({"reason":"Forbidden","message":"no right"})"), "403");
  EXPECT_EQ(counted_code(403, R"({"reason":"Forbidden","message":"going","details":{"causes":[
      {"reason":"NamespaceTerminating","field":"metadata.namespace"}]}})"),
            "terminating");
}

TEST(ProcessFigures, AreThoseOfThisProcess) {
  const auto figures = read_process_figures();
  EXPECT_GT(figures.cpu_seconds, 0);
  ASSERT_TRUE(figures.resident_bytes && figures.open_files && figures.max_files);
  EXPECT_GT(*figures.resident_bytes, 1U << 20);
  EXPECT_GE(*figures.open_files, 3U);
  EXPECT_LE(*figures.open_files, *figures.max_files);
}

}  // namespace
}  // namespace quorate::op
