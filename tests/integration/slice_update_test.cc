#include <fmt/chrono.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "api/names.h"
#include "json/timestamp.h"
#include "tests/integration/slice_clients.h"

// spec.update on real Pods: who is restarted when.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;

class Update : public SliceOnNodes {
 protected:
  // In a merge patch: more memory, and when it may be given.
  static std::string wish(const std::string& memory, const std::string& update) {
    return fmt::format(
        R"({{"spec": {{"resources": {{"requests": {{"memory": "{}"}}}}, "update": {}}}}})", memory,
        update);
  }
  // A window that opens so long from now.
  std::string opening_in(std::chrono::minutes wait, const std::string& duration) {
    const auto opens = world().runtime().clock->wall() + wait;
    return fmt::format(R"({{"start": "{:%H:%M}", "duration": "{}"}})",
                       std::chrono::floor<std::chrono::seconds>(opens), duration);
  }
  void wait_for(const std::string& reason, const std::vector<std::string>& texts) {
    world().run(
        world().until(kube::kEtcdClusters, key("c"), 60s, "it says " + reason,
                      [=](const json::Value& live) { return waits_for(live, reason, texts); }));
  }
  std::vector<std::string> stopped() {
    std::vector<std::string> out;
    for (const auto& write : ledger_.writes())
      if (write.what.starts_with("DELETE pods ")) out.push_back(write.what.substr(12));
    return out;
  }

  // When each Pod was made, and since when it is ready, the oldest first.
  struct Times {
    WallTime made;
    WallTime ready;
  };
  std::vector<Times> times() {
    std::vector<Times> out;
    for (const char* name : {"c-0", "c-1", "c-2"}) {
      const auto pod = get(kube::kPods, name);
      Times one;
      one.made = json::parse_time(json::text_or(pod, "/metadata/creationTimestamp", "")).value();
      for (const auto& condition : json::find(pod, "/status/conditions")->as_array())
        if (json::text_or(condition, "/type", "") == "Ready")
          one.ready = json::parse_time(json::text_or(condition, "/lastTransitionTime", "")).value();
      out.push_back(one);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.made < b.made; });
    return out;
  }
  std::string memory_of(const std::string& pod) {
    const auto live = get(kube::kPods, pod);
    return std::string(json::text_or(live, "/spec/containers/0/resources/requests/memory", ""));
  }
};

TEST_F(Update, WaitsForItsWindowAndPausesBetweenMembers) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  edit(wish("160Mi", R"({"window": )" + opening_in(std::chrono::hours(12), "10m") + "}"));
  wait_for("WindowClosed", {"3 of 3 members are not as declared (c-0, c-1, c-2)"});
  wait_for_looks(*process_, 3);
  EXPECT_THAT(stopped(), IsEmpty());

  constexpr auto kPause = 5s;
  clients.during("roll with pauses", [&] {
    edit(wish("160Mi", R"({"pauseBetween": "5s", "window": )" +
                           opening_in(-std::chrono::minutes(1), "2h") + "}"));
    wait_until_ready("c", 240s);
  });
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  const auto all = times();
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_GE(all[i].made, all[i - 1].ready + kPause) << "the pause before number " << i;
  for (const char* name : {"c-0", "c-1", "c-2"}) EXPECT_EQ(memory_of(name), "160Mi") << name;
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Update, OnDeleteIsLeftToPeople) {
  declare("c", R"({"update": {"strategy": "OnDelete"}})");
  wait_until_ready("c");
  edit(R"({"spec": {"resources": {"requests": {"memory": "160Mi"}}}})");
  wait_for("WaitsForDeletion", {"(c-0, c-1, c-2)"});
  world().run(world().remove(kube::kPods, {ns_, "c-1"}));
  wait_for("WaitsForDeletion", {"(c-0, c-2)"});
  world().run(world().until_all(ns_, 60s, "c-1 is as declared", [](const Snapshot& all) {
    const auto pod = all.find("Pod c-1");
    if (pod == all.end()) return Look(false, "it is not there");
    const std::string memory(
        json::text_or(pod->second, "/spec/containers/0/resources/requests/memory", ""));
    return Look(memory == "160Mi", memory);
  }));
  EXPECT_EQ(memory_of("c-0"), "128Mi");
  EXPECT_THAT(stopped(), IsEmpty()) << "by us";
  edit(R"({"spec": {"update": null}})");
  wait_until_ready("c", 240s);
  EXPECT_EQ(memory_of("c-0"), "160Mi");
}

}  // namespace
}  // namespace quorate::slice
