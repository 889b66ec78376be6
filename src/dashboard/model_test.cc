#include "dashboard/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dashboard/objects_test.h"

namespace quorate::dashboard {
namespace {

using ::testing::HasSubstr;

std::string text_at(const json::Value& value, std::string_view pointer) {
  return std::string(json::text_or(value, pointer, "(none)"));
}

cli::ClusterFacts make_facts(const std::string& patch = "{}") {
  cli::ClusterFacts facts;
  facts.cluster = make_cluster<op::ClusterView>(patch);
  facts.records.push_back(read_as<op::RecordView>(
      R"({"metadata": {"name": "c-0", "namespace": "n", "creationTimestamp": "2026-05-01T09:00:01Z"},
          "status": {"version": "3.6.16", "dbSize": "20Mi", "raftLag": 7}})"));
  facts.pods.push_back(read_as<op::PodView>(
      R"({"metadata": {"name": "c-0", "namespace": "n"}, "spec": {"nodeName": "node-1"},
          "status": {"phase": "Running"}})"));
  return facts;
}

TEST(Row, SaysHowAClusterIs) {
  const json::Value row = make_row(make_cluster<op::ClusterView>());
  EXPECT_EQ(json::render(row),
            R"({"namespace":"n","name":"c","mark":"good","health":"Ready","ready":"1/1",)"
            R"("version":"3.6.16","leader":"c-0","created":"2026-05-01T09:00:00Z"})");
}

TEST(Row, SaysWhatIsBadAndWhatIsNotKnownYet) {
  const json::Value frozen = make_row(make_cluster<op::ClusterView>(R"({"status": {
      "phase": "Frozen: quorum is lost", "conditions": [{"type": "Frozen", "status": "True", "reason": "NoQuorum",
        "message": "", "lastTransitionTime": "2026-05-01T10:00:00Z"}]}})"));
  EXPECT_EQ(text_at(frozen, "/mark"), "bad");
  EXPECT_EQ(text_at(frozen, "/health"), "Frozen: quorum is lost");
  const json::Value fresh = make_row(make_cluster<op::ClusterView>(R"({"status": null})"));
  EXPECT_EQ(text_at(fresh, "/mark"), "warning");
  EXPECT_EQ(text_at(fresh, "/health"), "No operator has looked at it yet");
  EXPECT_EQ(text_at(fresh, "/leader"), "");
}

TEST(Page, HasMembersAsTheStatusPageHasThem) {
  const json::Value page = make_page(make_facts(), {});
  EXPECT_EQ(json::render(*json::find(page, "/members/0")),
            R"({"name":"c-0","role":"leader","ready":true,"version":"3.6.16","node":"node-1",)"
            R"("pod":"Running","volume":"","db":"20Mi","lag":"7","restarts":"0",)"
            R"("created":"2026-05-01T09:00:01Z"})");
  EXPECT_EQ(text_at(page, "/remarks/0/text"), "Every rule is content: there is nothing to do.");
}

TEST(Page, ExplainsVerdictsInTheWordsOfWhy) {
  const json::Value page = make_page(make_facts(R"({"status": {"waiting": [
        {"rule": "pause", "verdict": "blocked", "reason": "Paused", "message": "spec.paused is set",
         "since": "2026-05-01T11:58:00Z", "deadline": "2026-05-01T11:59:00Z"}]}})"),
                                     {});
  EXPECT_EQ(json::render(*json::find(page, "/verdicts/0")),
            R"({"mark":"bad","rule":"pause","verb":"is blocked","reason":"Paused",)"
            R"("message":"spec.paused is set","since":"2026-05-01T11:58:00Z",)"
            R"("deadline":"2026-05-01T11:59:00Z","advice":"quorate resume -n n c"})");
}

TEST(Page, HasEventsAndHistory) {
  auto facts = make_facts();
  for (int i = 0; i < 60; ++i)
    facts.events.push_back(read_as<cli::EventView>(
        R"({"metadata": {"name": "e", "namespace": "n"}, "type": "Warning", "reason": "R",
            "regarding": {"kind": "Pod", "name": "c-0"}, "note": "<b>m</b>",
            "series": {"count": 3, "lastObservedTime": "2026-05-01T11:00:00Z"}})"));
  const json::Value page =
      make_page(facts, {{at("2026-05-01T11:30:00Z"), cli::Mark::kBad, "there is no leader"}});
  EXPECT_EQ(json::render(*json::find(page, "/events/0")),
            R"({"mark":"warning","last":"2026-05-01T11:00:00Z","count":3,"reason":"R",)"
            R"("about":"Pod c-0","message":"<b>m</b>"})");
  EXPECT_EQ(json::find(page, "/events")->as_array().size(), 50u);
  EXPECT_EQ(json::render(*json::find(page, "/history")),
            R"([{"mark":"bad","at":"2026-05-01T11:30:00Z","text":"there is no leader"}])");
}

TEST(Page, NamesWhatElseIsToBeKnown) {
  const json::Value page = make_page(make_facts(R"({"status": {"operator": "quorate",
      "version": {"current": "3.6.16", "target": "3.6.17"},
      "conditions": [{"type": "CertificatesValid", "status": "True", "reason": "AsExpected",
        "message": "valid until 2026-08-01", "lastTransitionTime": "2026-05-01T10:00:00Z"}]}})"),
                                     {});
  EXPECT_EQ(json::render(*json::find(page, "/about")),
            R"([{"name":"etcd to come","value":"3.6.17"},{"name":"cluster ID","value":"cafe"},)"
            R"({"name":"operator","value":"quorate"},)"
            R"({"name":"certificates","value":"valid until 2026-08-01"}])");
}

}  // namespace
}  // namespace quorate::dashboard
