#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

class JobTest : public ControllersTest {
 protected:
  void add_job(json::Object more) {
    json::Object spec{{"template",
                       {{"spec",
                         {{"restartPolicy", "Never"},
                          {"containers", json::Array{{{"name", "c"}, {"image", "i"}}}}}}}}};
    for (auto& [key, value] : more) spec[key] = value;
    create(*kinds().jobs, "default", {{"metadata", {{"name", "j"}}}, {"spec", std::move(spec)}});
    settle();
  }
  std::vector<std::string> running() {
    std::vector<std::string> out;
    for (const auto& name : names(pods(), "default")) {
      const auto found = get(pods(), "default", name);
      const auto phase = json::text_or(found, "/status/phase", "");
      if (phase == "Pending" || phase == "Running") out.push_back(name);
    }
    return out;
  }
  std::string condition(std::string_view type) {
    const auto job = get(*kinds().jobs, "default", "j");
    const auto list = json::array_at(job, "/status/conditions");
    for (const auto& one : list ? **list : json::Array{})
      if (json::text_or(one, "/type", "") == type)
        return std::string(json::text_or(one, "/reason", ""));
    return "";
  }
};

TEST_F(JobTest, RunsUntilEnoughHaveSucceeded) {
  add_job({{"completions", 2}, {"parallelism", 1}});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(running().size(), 1U);
    finish(running().front(), "Succeeded");
    settle();
  }
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(condition("Complete"), "CompletionsReached");
  EXPECT_EQ(json::integer_at(get(*kinds().jobs, "default", "j"), "/status/succeeded").value_or(0),
            2);
}

TEST_F(JobTest, TriesAgainWithPausesAndGivesUp) {
  add_job({{"backoffLimit", 1}});
  ASSERT_EQ(running().size(), 1U);
  finish(running().front(), "Failed");
  settle();
  EXPECT_TRUE(running().empty());
  pass(15s);
  ASSERT_EQ(running().size(), 1U);
  finish(running().front(), "Failed");
  settle();
  EXPECT_EQ(condition("Failed"), "BackoffLimitExceeded");
}

TEST_F(JobTest, EndsAtItsDeadlineAndGoesAfterItsTimeToLive) {
  add_job({{"activeDeadlineSeconds", 30}, {"ttlSecondsAfterFinished", 60}});
  pass(40s);
  EXPECT_EQ(condition("Failed"), "DeadlineExceeded");
  EXPECT_TRUE(running().empty());
  pass(70s);
  EXPECT_FALSE(there(*kinds().jobs, "default", "j"));
}

TEST_F(JobTest, ItsPodsGoWithItThoughNobodyCountedThem) {
  add_job({});
  ASSERT_EQ(running().size(), 1U);
  remove(*kinds().jobs, "default", "j", Propagation::kForeground);
  settle();
  EXPECT_TRUE(names(pods(), "default").empty());
  EXPECT_FALSE(there(*kinds().jobs, "default", "j"));
}

}  // namespace
}  // namespace quorate::apiserver
