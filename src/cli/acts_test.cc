#include "cli/acts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec.h"
#include "api/validate.h"
#include "cli/facts_test.h"
#include "json/patch.h"

namespace quorate::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text(const Act& act) { return json::render_sorted(act.patch); }

TEST(Acts, ScaleChangesReplicasOfThisVeryCluster) {
  const auto act = scale(make_cluster(), 5).value();
  EXPECT_EQ(act.doing, "scale n/c from 3 to 5 members");
  EXPECT_EQ(text(act), R"({"metadata":{"uid":"u-c"},"spec":{"replicas":5}})");
  EXPECT_EQ(act.kubectl,
            R"(kubectl patch etcdcluster -n n c --type merge -p '{"spec":{"replicas":5}}')");
}

TEST(Acts, AskForNothingThatIsThereAlready) {
  for (const auto& act :
       {scale(make_cluster(), 3), resume(make_cluster()),
        pause(make_cluster(R"({"paused": true})")), hibernate(make_cluster(R"({"replicas": 0})")),
        wake(make_facts(), std::nullopt)}) {
    ASSERT_TRUE(act) << act.error().text();
    EXPECT_FALSE(act->needed()) << act->doing;
    EXPECT_NE(act->doing, "");
  }
}

TEST(Acts, RefuseWhatMakesNoSenseAndSayWhatDoes) {
  const auto why = [](const Result<Act>& act) { return act ? "nothing" : act.error().text(); };
  EXPECT_THAT(why(scale(make_cluster(), 0)), HasSubstr("quorate hibernate"));
  EXPECT_THAT(why(scale(make_cluster(), 10)), HasSubstr("from 1 to 9"));
  EXPECT_THAT(why(scale(make_cluster(R"({"replicas": 0})"), 3)),
              HasSubstr("quorate wake --replicas 3 c"));
  EXPECT_THAT(why(hibernate(make_cluster(R"({"storage": {"claim": null, "emptyDir": {}}})"))),
              HasSubstr("emptyDir"));
  auto nobody = make_facts(R"({"replicas": 0})");
  nobody.records.clear();
  EXPECT_THAT(why(wake(nobody, std::nullopt)), HasSubstr("--replicas"));
  EXPECT_THAT(why(restart(make_cluster(R"({"replicas": 0})"), now())), HasSubstr("hibernates"));
}

TEST(Acts, WakeGoesBackToTheSizeOfBeforeOrToTheOneGiven) {
  const auto asleep = make_facts(R"({"replicas": 0})");
  EXPECT_THAT(text(wake(asleep, std::nullopt).value()), HasSubstr(R"("replicas":3)"))
      << "as many as have kept their records";
  EXPECT_THAT(text(wake(asleep, 1).value()), HasSubstr(R"("replicas":1)"));
}

// Three members are there, and five were wanted.
TEST(Acts, WakeKnowsTheSizeThatWasDeclaredWhileAScalingWasUnderWay) {
  const auto note = hibernate(make_cluster(R"({"replicas": 5})")).value();
  auto asleep = make_facts(R"({"replicas": 0})");
  asleep.text = json::render(note.patch);
  const auto act = wake(asleep, std::nullopt).value();
  EXPECT_THAT(text(act), HasSubstr(R"("replicas":5)"));
  EXPECT_THAT(text(act), HasSubstr(R"("quorate.io/size-before-hibernation":null)"));
}

TEST(Acts, RestartSaysWhenItBeginsAndIsLeftToPeopleWhereThatIsDeclared) {
  const auto with = [](const char* update) {
    return restart(make_cluster(std::string(R"({"update": )") + update + "}"), now());
  };
  EXPECT_THAT(with(R"({"window": {"start": "22:00", "duration": "1h"}})").value().doing,
              HasSubstr(", when the window of spec.update opens at 2026-05-01T22:00:00Z"));
  EXPECT_THAT(with(R"({"window": {"start": "00:00", "duration": "24h"}})").value().doing,
              Not(HasSubstr("window")));
  const auto refused = with(R"({"strategy": "OnDelete"})");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("when their Pods are deleted"));
}

// What a restart writes must be a spec that is accepted, and another one than before.
TEST(Acts, RestartWritesAnAnnotationOfThePodThatIsAllowed) {
  const auto act = restart(make_cluster(), now()).value();
  auto spec = json::parse(R"({"replicas": 3, "version": "3.6.16"})").value();
  const auto before = api::decode_cluster_spec(spec).value();
  spec = json::apply_merge_patch(std::move(spec), *json::find(act.patch, "/spec"));
  const auto after = api::decode_cluster_spec(spec).value();
  EXPECT_FALSE(before == after);
  EXPECT_THAT(api::validate(after), ::testing::IsEmpty());
}

TEST(Acts, TellWhatBecomesOfVolumes) {
  EXPECT_THAT(fate_of_volumes(make_cluster()), HasSubstr("stay"));
  EXPECT_THAT(fate_of_volumes(make_cluster(
                  R"({"storage": {"claim": {}, "retention": {"whenDeleted": "Delete"}}})")),
              HasSubstr("deleted"));
  EXPECT_THAT(fate_of_volumes(make_cluster(R"({"storage": {"claim": null, "emptyDir": {}}})")),
              HasSubstr("with its Pods"));
}

}  // namespace
}  // namespace quorate::cli
