#include <gtest/gtest.h>

#include "tests/sim/museum/decorators.h"
#include "tests/sim/world.h"

// A cluster that is broken costs its neighbours nothing.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kGood = "good";
constexpr auto kPatience = 5min;

// Members whose name begins so take every question, and never answer it.
constexpr std::string_view kSilent = "silent";
// No Pod is allowed for clusters whose name begins so, as by a quota or a webhook.
constexpr std::string_view kUnwanted = "unwanted";

class SilentMembers final : public ForwardingEtcd {
 public:
  SilentMembers(rt::Runtime here, etcd::Api& inner) : ForwardingEtcd(inner), here_(here) {}

  Task<Result<etcd::Status>> status(etcd::Target target, rt::Deadline deadline) override {
    if (!target.server_name.starts_with(kSilent))
      co_return co_await inner_.status(std::move(target), deadline);
    CO_TRY(co_await here_.clock->sleep_until(deadline.at));
    co_return fail(Code::kUnavailable, "no answer");
  }

 private:
  rt::Runtime here_;
};

bool creates_unwanted_pod(const net::Request& request) {
  return request.method == "POST" && request.path.find("/pods") != std::string::npos &&
         request.body.find(fmt::format("\"name\":\"{}", kUnwanted)) != std::string::npos;
}

net::Response forbid(const net::Request&) {
  return {
      403,
      {{"content-type", "application/json"}},
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,)"
      R"("message":"pods is forbidden: exceeded quota"})"};
}

WorldOptions make_options(int workers) {
  WorldOptions options;
  options.clients = 0;
  options.op.workers = workers;
  answers_itself(creates_unwanted_pod, forbid)(options);
  options.wrap_etcd = [](rt::Runtime here, etcd::Api& inner, etcdsim::SimEtcd&) {
    return std::make_unique<SilentMembers>(here, inner);
  };
  return options;
}

std::string waits_of(World& world, const std::string& name) {
  const auto cluster = world.cluster(name);
  const auto* waiting = cluster ? json::find(*cluster, "/status/waiting") : nullptr;
  return waiting ? json::render(*waiting) : "";
}

// Broken ones of each kind, and time for the operator to meet what is wrong with them.
void break_clusters(World& world, int of_each) {
  for (int i = 0; i < of_each; ++i) {
    const json::Object plain;
    const json::Object no_image{{"image", json::Object{{"repository", "example.org/nowhere"}}}};
    for (const auto& [kind, spec] : {std::pair<std::string, json::Object>{"no-image", no_image},
                                     {std::string(kUnwanted), plain},
                                     {std::string(kSilent), plain}})
      ASSERT_TRUE(world.declare(fmt::format("{}-{}", kind, i), spec).has_value());
  }
  world.run_for(1min);
  for (int i = 0; i < of_each; ++i) {
    EXPECT_NE(waits_of(world, fmt::format("no-image-{}", i)).find("ImagePull"), std::string::npos);
    EXPECT_NE(waits_of(world, fmt::format("{}-{}", kUnwanted, i)).find("exceeded quota"),
              std::string::npos);
    EXPECT_NE(waits_of(world, fmt::format("{}-{}", kSilent, i)).find("0 of 3 members answer"),
              std::string::npos);
  }
}

struct Times {
  Duration first_pod{};
  Duration ready{};
};

// From its declaration.
Times bring_up(World& world) {
  Times times;
  const auto began = world.now();
  EXPECT_TRUE(world.declare(kGood, json::Object()).has_value());
  const ObjectKey pod{World::kNamespace, fmt::format("{}-0", kGood)};
  const auto& pods = *world.api().registry().built_in().pods;
  EXPECT_TRUE(world.run_until([&] { return world.find(pods, pod) != nullptr; }, kPatience));
  times.first_pod = world.now() - began;
  EXPECT_TRUE(world.run_until([&] { return world.converged(kGood); }, kPatience));
  times.ready = world.now() - began;
  return times;
}

Times measure(int broken_of_each, int workers) {
  World world(make_options(workers));
  world.start();
  world.run_for(1min);  // somebody leads
  if (broken_of_each > 0) break_clusters(world, broken_of_each);
  return bring_up(world);
}

TEST(Neighbours, OfBrokenClustersAreBroughtUpAsIfTheyWereAlone) {
  const int workers = op::OperatorOptions().workers;
  const auto alone = measure(0, workers);
  const auto among_broken = measure(2, workers);
  // What differs is chance: which member is asked first, who becomes leader.
  constexpr auto kChance = 1s;
  EXPECT_LT(among_broken.first_pod, alone.first_pod + kChance);
  EXPECT_LT(among_broken.ready, alone.ready + 3 * kChance);
  // And it would be seen: with one worker, every look at silent members is in the way, for a
  // second.
  EXPECT_GT(measure(4, 1).ready, among_broken.ready + 3 * kChance);
}

}  // namespace
}  // namespace quorate::sim
