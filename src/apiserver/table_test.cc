#include "apiserver/table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/table_cells.h"
#include "json/timestamp.h"

namespace quorate::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const WallTime kNow = *json::parse_time("2026-01-02T03:04:05Z");

std::string cells(const Printer& printer, std::string_view text) {
  return json::render(printer.print(json::parse(text).value(), kNow).cells);
}

TEST(Table, TellsDurationsInTheWordsOfKubernetes) {
  using Case = std::pair<Duration, const char*>;
  for (const auto& [duration, text] :
       {Case{-2s, "<invalid>"}, Case{-1s, "0s"}, Case{0s, "0s"}, Case{119s, "119s"},
        Case{2min, "2m"}, Case{2min + 5s, "2m5s"}, Case{10min + 5s, "10m"}, Case{179min, "179m"},
        Case{3h, "3h"}, Case{7h + 59min, "7h59m"}, Case{8h + 1min, "8h"}, Case{47h, "47h"},
        Case{48h, "2d"}, Case{49h, "2d1h"}, Case{8 * 24h + 1h, "8d"}, Case{729 * 24h, "729d"},
        Case{730 * 24h, "2y"}, Case{740 * 24h, "2y10d"}, Case{9 * 365 * 24h, "9y"}})
    EXPECT_EQ(human_duration(duration), text);
}

TEST(Table, EveryPrinterGivesACellForEachColumnAlsoOfAnEmptyObject) {
  for (const auto* kind : {"Pod", "Job", "PodDisruptionBudget", "Service", "EndpointSlice",
                           "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Namespace",
                           "Node", "Event", "Secret", "ConfigMap", "ServiceAccount", "Lease"}) {
    const auto* printer = find_builtin_printer(kind);
    ASSERT_TRUE(printer) << kind;
    EXPECT_EQ(printer->print(json::Object(), kNow).cells.size(), printer->columns.size()) << kind;
  }
  EXPECT_EQ(find_builtin_printer("Nonsense"), nullptr);
}

TEST(Table, TellsWhatAPodWaitsFor) {
  const auto& pods = *find_builtin_printer("Pod");
  const auto shown =
      cells(pods, R"({"metadata":{"name":"p","creationTimestamp":"2026-01-02T03:04:00Z"},
      "spec":{"containers":[{},{}]},"status":{"phase":"Running","containerStatuses":[
        {"ready":true,"restartCount":3,"state":{"running":{}},
         "lastState":{"terminated":{"finishedAt":"2026-01-02T03:02:05Z"}}},
        {"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})");
  EXPECT_THAT(shown, HasSubstr(R"x(["p","1/2","CrashLoopBackOff","3 (2m ago)","5s","<none>")x"));
}

TEST(Table, ShowsOfACustomKindWhatItsColumnsName) {
  const auto version = json::parse(R"({"additionalPrinterColumns":[
      {"name":"Ready","type":"string","jsonPath":".status.ready"},
      {"name":"Lag","type":"integer","jsonPath":".status.lag","priority":1},
      {"name":"On","type":"boolean","jsonPath":".spec.on"},
      {"name":"Share","type":"number","jsonPath":".status.share"},
      {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]})")
                           .value();
  const auto printer = make_custom_printer(version).value();
  EXPECT_EQ(printer.columns[2].priority, 1);
  EXPECT_EQ(cells(printer, R"({"metadata":{"name":"c","creationTimestamp":"2026-01-01T03:04:05Z"},
                               "spec":{"on":true},"status":{"ready":3,"lag":2.7,"share":1}})"),
            R"(["c","3",2,true,1.0,"24h"])");
  EXPECT_EQ(cells(printer, R"({"metadata":{"name":"c"},"spec":{"on":"yes"}})"),
            R"(["c",null,null,null,null,null])");
}

TEST(Table, ShowsTheAgeOfACustomKindThatNamesNoColumns) {
  const auto printer = make_custom_printer(json::Object()).value();
  EXPECT_EQ(
      cells(printer, R"({"metadata":{"name":"c","creationTimestamp":"2026-01-02T03:04:05Z"}})"),
      R"(["c","0s"])");
}

TEST(Table, RefusesAColumnThatItCannotShow) {
  const auto refused = make_custom_printer(
      json::parse(
          R"({"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".a[0].b"}]})")
          .value());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr(".a[0].b is more than a row of fields"));
}

TEST(Table, TellsSelectorsAsTheyAreTyped) {
  const auto object = json::parse(R"({"labels":{"b":"c","a":"d"},"selector":{
      "matchLabels":{"m":"n"},"matchExpressions":[
        {"key":"z","operator":"NotIn","values":["y","x"]},{"key":"k","operator":"Exists"},
        {"key":"g","operator":"DoesNotExist"}]}})")
                          .value();
  EXPECT_EQ(labels_text(object, "/labels"), "a=d,b=c");
  EXPECT_EQ(labels_text(object, "/none"), "<none>");
  EXPECT_EQ(selector_text(object, "/selector"), "!g,k,m=n,z notin (x,y)");
}

}  // namespace
}  // namespace quorate::apiserver
