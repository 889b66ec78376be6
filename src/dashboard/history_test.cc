#include "dashboard/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dashboard/objects_test.h"

namespace quorate::dashboard {
namespace {

using ::testing::ElementsAre;

const ObjectKey kKey{"n", "c"};

std::vector<std::string> texts(const History& history) {
  std::vector<std::string> out;
  for (const auto& change : history.of(kKey)) out.push_back(change.text);
  return out;
}

op::ClusterView cluster(const std::string& patch = "{}") {
  return make_cluster<op::ClusterView>(patch);
}

TEST(History, BeginsWithWhatTheConditionsTell) {
  History history;
  const auto seen = cluster();
  history.note(kKey, nullptr, &seen, at("2026-05-01T12:00:00Z"));
  EXPECT_THAT(texts(history), ElementsAre("Ready became true: AsDeclared", "declared"));
  EXPECT_EQ(history.of(kKey)[0].at, at("2026-05-01T10:00:00Z"));
}

TEST(History, TellsWhatBecameOtherwiseTheLatestFirst) {
  History history;
  const auto first = cluster();
  const auto second = cluster(R"({"status": {"phase": "0/1 members are ready", "leader": null}})");
  const auto third = cluster(R"({"metadata": {"generation": 2}, "status": {"leader": "c-1",
      "version": {"current": "3.6.17"},
      "intent": {"epoch": 1, "step": "DeletePod", "targets": ["c-0"], "since": "2026-05-01T12:00:00Z"}}})");
  history.note(kKey, nullptr, &first, at("2026-05-01T12:00:00Z"));
  history.note(kKey, &first, &second, at("2026-05-01T12:00:01Z"));
  history.note(kKey, &second, &second, at("2026-05-01T12:00:02Z"));
  history.note(kKey, &second, &third, at("2026-05-01T12:00:03Z"));
  EXPECT_THAT(texts(history),
              ElementsAre("Ready", "etcd 3.6.17", "c-1 leads", "a step begins: DeletePod of c-0",
                          "generation 2 was declared", "0/1 members are ready",
                          "there is no leader", "Ready became true: AsDeclared", "declared"));
  EXPECT_EQ(history.of(kKey)[0].at, at("2026-05-01T12:00:03Z"));
  EXPECT_EQ(history.of(kKey)[0].mark, cli::Mark::kWarning) << "of an older generation";
}

TEST(History, EndsWithItsClusterAndBeginsAnewWithAnotherOfTheSameName) {
  History history;
  const auto first = cluster();
  const auto another = cluster(R"({"metadata": {"uid": "v"}, "status": {"conditions": []}})");
  history.note(kKey, nullptr, &first, at("2026-05-01T12:00:00Z"));
  history.note(kKey, &first, &another, at("2026-05-01T12:00:01Z"));
  EXPECT_THAT(texts(history), ElementsAre("declared"));
  history.note(kKey, &another, nullptr, at("2026-05-01T12:00:02Z"));
  EXPECT_THAT(texts(history), ElementsAre());
}

TEST(History, KeepsTheNewestHundred) {
  History history;
  auto before = cluster();
  for (int i = 0; i < 300; ++i) {
    const auto after = cluster(R"({"status": {"leader": "c-)" + std::to_string(i) + R"("}})");
    history.note(kKey, &before, &after, at("2026-05-01T12:00:00Z"));
    before = after;
  }
  EXPECT_EQ(history.of(kKey).size(), 100u);
  EXPECT_EQ(history.of(kKey)[0].text, "c-299 leads");
}

}  // namespace
}  // namespace quorate::dashboard
