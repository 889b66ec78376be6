// Our controllers held to the real kube-controller-manager: the same requests, and the same to be
// found once everybody has come to rest.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "apiserver/controllers.h"
#include "conform_kube_known.h"
#include "conform_kube_servers.h"
#include "conform_kube_settle.h"
#include "rt/group.h"

namespace quorate::conform {
namespace {

using Played = std::vector<Result<Snapshots>>;

constexpr std::size_t kSideBySide = 100;  // nearly all of it is waiting
constexpr std::chrono::hours kLong(1);    // the node says nothing, and is not missed

Task<Result<Played>> play_all(rt::Runtime runtime, kube::Api& api,
                              const std::vector<Script>& scripts) {
  CO_TRY(co_await lay_ground(runtime, api));
  std::vector<Task<Result<Snapshots>>> work;
  for (const auto& script : scripts) work.push_back(play_to_rest(runtime, api, script));
  co_return co_await rt::all(runtime, std::move(work), kSideBySide);
}

Task<Result<Played>> play_beside(rt::Runtime runtime, OurKube& ours,
                                 const std::vector<Script>& scripts) {
  apiserver::Controllers controllers(runtime, ours.server().verbs(),
                                     {.nodes = {.grace = kLong}, .schedules = false});
  rt::TaskGroup group(runtime);
  group.spawn("controllers", controllers.run());
  auto played = co_await play_all(runtime, ours.api(), scripts);
  group.cancel();
  co_await group.join();
  co_return played;
}

Played play_on_real(const std::vector<Script>& scripts) {
  rt::Loop loop;
  RealKube real(loop);
  // Started when our kinds are there, so that its garbage collector knows them.
  real.cluster().controller_manager().add_flag("--node-monitor-grace-period=3600s");
  real.cluster().controller_manager().start();
  real.cluster().controller_manager().wait_ready();
  return loop.run(play_all(loop.runtime(), real.api(), scripts)).value();
}

Played play_on_ours(const std::vector<Script>& scripts) {
  rt::Loop loop;
  OurKube ours(loop);
  return loop.run(play_beside(loop.runtime(), ours, scripts)).value();
}

std::string describe(const json::Value& real, const json::Value& ours) {
  std::string text;
  for (const auto& pointer : differences(real, ours, 8)) {
    const auto show = [&](const json::Value& value) {
      const auto* found = json::find(value, pointer);
      return found ? json::render(*found).substr(0, 1500) : std::string("(absent)");
    };
    text += fmt::format("  {}\n    real {}\n    ours {}\n", pointer, show(real), show(ours));
  }
  return text;
}

TEST(KubeConformance, ControllersComeToTheSameRest) {
  const auto& scripts = controller_scripts();
  auto known = known_differences(kOfControllers);
  const auto theirs = play_on_real(scripts);
  const auto ours = play_on_ours(scripts);
  ASSERT_EQ(theirs.size(), scripts.size());
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const auto& name = scripts[i].name;
    EXPECT_TRUE(theirs[i]) << name << ": real: " << theirs[i].error().text();
    EXPECT_TRUE(ours[i]) << name << ": ours: " << ours[i].error().text();
    if (!theirs[i] || !ours[i]) continue;
    for (std::size_t phase = 0; phase < theirs[i]->size(); ++phase) {
      const auto &real = (*theirs[i])[phase], &own = (*ours[i])[phase];
      EXPECT_NE(compare_replies(name, real, own, known), Agreement::kDifferent)
          << name << ", phase " << phase << ":\n"
          << describe(real, own);
    }
  }
  for (const auto& difference : known)
    EXPECT_GT(difference.used, 0) << difference.id << " is listed but was not seen: is it so?";
}

}  // namespace
}  // namespace quorate::conform
