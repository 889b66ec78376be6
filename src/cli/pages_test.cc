#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/ages.h"
#include "cli/facts_test.h"
#include "cli/status_page.h"
#include "cli/why_page.h"
#include "json/patch.h"
#include "json/timestamp.h"

namespace quorate::cli {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

WallTime now() { return json::parse_time(kNow).value(); }

namespace {

template <class View>
View read_as(const std::string& text) {
  auto view = kube::Object(text).as<View>();
  if (!view) throw std::runtime_error(view.error().text());
  return std::move(*view);
}

json::Value merged(const char* base, const std::string& patch) {
  auto value = json::parse(base).value();
  value = json::apply_merge_patch(std::move(value), json::parse(patch).value());
  return value;
}

constexpr const char* kStatus = R"({
  "observedGeneration": 3, "phase": "Ready", "ready": "3/3", "replicas": 3, "readyReplicas": 3,
  "clusterID": "cafe", "leader": "c-1", "storage": {"dbSize": "20Mi"}, "version": {"current": "3.6.16", "target": "3.6.16"},
  "operator": "quorate",
  "members": [
    {"name": "c-0", "id": "100", "role": "Voter", "ready": true, "version": "3.6.16"},
    {"name": "c-1", "id": "101", "role": "Voter", "ready": true, "version": "3.6.16"},
    {"name": "c-2", "id": "102", "role": "Learner", "ready": false}],
  "conditions": [
    {"type": "Ready", "status": "True", "reason": "AsDeclared", "message": "",
     "lastTransitionTime": "2026-05-01T10:00:00Z"},
    {"type": "CertificatesValid", "status": "True", "reason": "AsExpected",
     "message": "valid until 2026-08-01", "lastTransitionTime": "2026-05-01T10:00:00Z"}]})";

std::string metadata(const std::string& name) {
  return fmt::format(R"("metadata": {{"name": "{}", "namespace": "n", "uid": "u-{}",
      "creationTimestamp": "2026-05-01T09:00:00Z", "labels": {{"quorate.io/cluster": "c"}}}})",
                     name, name);
}

PageOptions plain(bool wide = false) { return {now(), wide, Paint(false)}; }

}  // namespace

op::ClusterView make_cluster(const std::string& spec, const std::string& status) {
  const json::Value object =
      json::Object{{"metadata",
                    {{"name", "c"},
                     {"namespace", "n"},
                     {"uid", "u-c"},
                     {"generation", 3},
                     {"creationTimestamp", "2026-05-01T09:00:00Z"}}},
                   {"spec", merged(R"({"replicas": 3, "version": "3.6.16"})", spec)},
                   {"status", merged(kStatus, status)}};
  return read_as<op::ClusterView>(json::render(object));
}

ClusterFacts make_facts(const std::string& spec, const std::string& status) {
  ClusterFacts facts;
  facts.cluster = make_cluster(spec, status);
  for (int i = 0; i < 3; ++i) {
    const auto name = fmt::format("c-{}", i);
    facts.records.push_back(read_as<op::RecordView>(
        fmt::format(R"({{{}, "status": {{"version": "3.6.16", "dbSize": "20Mi", "raftLag": 0}}}})",
                    metadata(name))));
    facts.pods.push_back(read_as<op::PodView>(fmt::format(
        R"({{{}, "spec": {{"nodeName": "node-{}"}}, "status": {{"phase": "Running", "podIP": "10.0.0.{}"}}}})",
        metadata(name), i + 1, i + 1)));
    facts.claims.push_back(read_as<op::ClaimView>(fmt::format(
        R"({{{}, "spec": {{"resources": {{"requests": {{"storage": "1Gi"}}}}}},
            "status": {{"phase": "Bound", "capacity": {{"storage": "1Gi"}}}}}})",
        metadata("data-" + name))));
  }
  return facts;
}

TEST(Ages, AreAsPeopleReadThem) {
  EXPECT_EQ(age(-5s), "0s");
  EXPECT_EQ(age(59s), "59s");
  EXPECT_EQ(age(60s), "1m");
  EXPECT_EQ(age(310s), "5m10s");
  EXPECT_EQ(age(12min + 30s), "12m");
  EXPECT_EQ(age(3h + 12min), "3h12m");
  EXPECT_EQ(age(53h), "2d5h");
  EXPECT_EQ(age(24h * 41), "41d");
}

TEST(Tables, AlignTheirColumnsAlsoBehindLettersOfSeveralBytes) {
  Table table({"A", "B"});
  table.add({"ü", "1"});
  table.add({"long", ""});
  EXPECT_EQ(table.render(Paint(false)), "A      B\nü      1\nlong   -\n");
}

TEST(Tables, ColourOnlyWhatIsMarkedAndOnlyWhereItIsWanted) {
  Table table({"A"});
  table.add({{"x", Mark::kBad}});
  EXPECT_EQ(table.render(Paint(false)), "A\nx\n");
  EXPECT_THAT(table.render(Paint(true)), HasSubstr("\x1b[31mx\x1b[0m\n"));
}

TEST(StatusPage, ShowsMembersWithRoleNodeAndVolume) {
  const auto page = render_status(make_facts(), plain());
  EXPECT_THAT(
      page,
      StartsWith("n/c  Ready\n  3/3 ready · etcd 3.6.16 · DB 20Mi · cluster ID cafe · operator "
                 "quorate · 3h old\n"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "  MEMBER   ROLE      READY   VERSION   NODE     POD       VOLUME   DB     LAG   AGE\n"
          "  c-0      voter     yes     3.6.16    node-1   Running   1Gi      20Mi   0     3h\n"
          "  c-1      leader    yes     3.6.16    node-2   Running   1Gi      20Mi   0     3h\n"
          "  c-2      learner   no      3.6.16    node-3   Running   1Gi      20Mi   0     3h\n"));
  EXPECT_THAT(page, HasSubstr("certificates: valid until 2026-08-01"));
  EXPECT_THAT(page, Not(HasSubstr("10.0.0.1")));
  EXPECT_THAT(render_status(make_facts(), plain(true)), HasSubstr("10.0.0.1"));
}

TEST(StatusPage, ShowsSizesOfVolumesByValueAndWhatIsWantedWhereItIsMore) {
  auto facts = make_facts();
  facts.claims[0].capacity = "1073741824";  // what was asked for, as some drivers say it
  facts.claims[1].capacity = "5G";          // more than that
  facts.claims[2].requested = "2Gi";        // on its way to more
  const auto page = render_status(facts, plain());
  EXPECT_THAT(page, HasSubstr("Running   1Gi "));
  EXPECT_THAT(page, HasSubstr("Running   5G "));
  EXPECT_THAT(page, HasSubstr("Running   1Gi, 2Gi wanted "));
  EXPECT_THAT(page, Not(HasSubstr("1073741824")));
}

TEST(StatusPage, ShowsWhatIsWaitedForAndWhatIsOverdue) {
  const auto page = render_status(make_facts("{}", R"({"phase": "2/3 members are ready",
      "waiting": [
        {"rule": "heal", "verdict": "waiting", "reason": "NodeGone", "message": "c-0's node is gone",
         "since": "2026-05-01T11:58:00Z", "deadline": "2026-05-01T12:03:00Z"},
        {"rule": "roll", "verdict": "blocked", "reason": "VotersUnhealthy", "message": "c-0 is not back",
         "since": "2026-05-01T11:00:00Z", "deadline": "2026-05-01T11:30:00Z"}]})"),
                                  plain());
  EXPECT_THAT(page,
              HasSubstr("heal   waiting   NodeGone          2m      in 3m     c-0's node is gone"));
  EXPECT_THAT(page,
              HasSubstr("roll   blocked   VotersUnhealthy   1h      30m ago   c-0 is not back"));
}

TEST(StatusPage, SaysWhatCouldNotBeRead) {
  auto facts = make_facts();
  facts.pods.clear();
  facts.unknown.push_back("Pods: forbidden");
  const auto page = render_status(facts, plain());
  EXPECT_THAT(page, HasSubstr("not known: Pods: forbidden"));
  EXPECT_THAT(page, HasSubstr("c-0      voter"));
}

TEST(Health, IsBadOnlyWhereSomethingIs) {
  EXPECT_EQ(health_of(make_cluster()).mark, Mark::kGood);
  EXPECT_EQ(health_of(make_cluster("{}", R"({"observedGeneration": 2})")).mark, Mark::kWarning);
  EXPECT_EQ(health_of(make_cluster("{}", R"({"phase": ""})")).text,
            "No operator has looked at it yet");
  const auto with = [](const char* type, const char* value) {
    return make_cluster(
        "{}", fmt::format(R"({{"conditions": [{{"type": "{}", "status": "{}", "reason": "R",
        "message": "", "lastTransitionTime": "2026-05-01T10:00:00Z"}}]}})",
                          type, value));
  };
  EXPECT_EQ(health_of(with("Frozen", "True")).mark, Mark::kBad);
  EXPECT_EQ(health_of(with("Available", "False")).mark, Mark::kBad);
  EXPECT_EQ(health_of(with("Available", "True")).mark, Mark::kWarning) << "not ready";
}

TEST(WhyPage, SaysThatNothingIsToBeDone) {
  EXPECT_EQ(render_why(make_cluster(), plain()),
            "n/c  Ready\n\nEvery rule is content: there is nothing to do.\n");
}

TEST(WhyPage, SaysHowAClusterWakes) {
  EXPECT_THAT(render_why(make_cluster("{}", R"({"target": {"replicas": 0}})"), plain()),
              AllOf(HasSubstr("It hibernates: no member is wanted to run"),
                    HasSubstr("\n  you can: quorate wake -n n c\n")));
}

TEST(WhyPage, ExplainsEachVerdictAndWhatAPersonCanDo) {
  const auto page = render_why(make_cluster("{}", R"({"observedGeneration": 2, "phase": "Paused",
      "waiting": [{"rule": "pause", "verdict": "waiting", "reason": "Paused", "message": "spec.paused is set",
                   "since": "2026-05-01T11:58:00Z", "deadline": "2026-05-01T11:59:00Z"}],
      "intent": {"epoch": 7, "step": "RemoveMember", "targets": ["c-2"], "since": "2026-05-01T11:59:30Z"}})"),
                               plain());
  EXPECT_THAT(page, HasSubstr("generation 3 is declared; 2 was the last that was wholly in place"));
  EXPECT_THAT(
      page,
      HasSubstr("a step is under way: RemoveMember of c-2, since 2026-05-01T11:59:30Z (30s ago)"));
  EXPECT_THAT(
      page,
      HasSubstr("pause waits: Paused\n  spec.paused is set\n  since 2026-05-01T11:58:00Z (2m ago), "
                "until 2026-05-01T11:59:00Z (1m ago: it is overdue)\n"
                "  you can: quorate resume -n n c\n"));
}

TEST(CutLine, CountsLettersAndNeitherBytesNorMarks) {
  EXPECT_EQ(cut_line("déjà vu", 7), "déjà vu");
  EXPECT_EQ(cut_line("déjà vu", 6), "déjà …");
  EXPECT_EQ(cut_line("déjà vu", 1), "…");
  EXPECT_EQ(cut_line("", 1), "");
  const auto red = Paint(true)(Mark::kBad, "frozen");
  EXPECT_EQ(cut_line("a " + red, 8), "a " + red);
  EXPECT_EQ(cut_line("a " + red + " b", 6), "a \x1b[31mfro…\x1b[0m");
  EXPECT_EQ(cut_line("a " + red + " b", 8), "a \x1b[31mfroze…\x1b[0m");
}

TEST(FleetPage, HasALineForEachCluster) {
  std::vector<ListedCluster> all{{"", make_cluster()},
                                 {"", make_cluster("{}", R"({"phase": "Frozen: x"})")}};
  EXPECT_EQ(render_fleet(all, plain()),
            "NAMESPACE   NAME   READY   VERSION   DB     AGE   HEALTH\n"
            "n           c      3/3     3.6.16    20Mi   3h    Ready\n"
            "n           c      3/3     3.6.16    20Mi   3h    Frozen: x\n");
  EXPECT_THAT(render_fleet(all, plain(true)), HasSubstr("c-1      cafe"));
}

}  // namespace quorate::cli
