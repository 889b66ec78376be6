// Objects as each release stored them (tests/golden). Whatever is changed since, a cluster that is
// as declared is taken over without a step: an upgrade of the operator rolls no fleet.
//
// QUORATE_REGENERATE=1 writes those of this build, when a release is made. A test that fails here
// says that the change would roll every cluster at the upgrade: that needs a better reason than the
// change itself, and a line in CHANGELOG.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/version.h"
#include "json/document.h"
#include "operator/facts.h"
#include "plan/decide.h"
#include "tests/sim/kube_link.h"
#include "tests/sim/world.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const auto kFolder = std::filesystem::path(QUORATE_SOURCE_DIR) / "tests/golden";
constexpr const char* kRelease = "0.1.0";  // of which objects are written
constexpr std::pair<const char*, const char*> kCollections[] = {
    {"etcdclusters", "/apis/quorate.io/v1alpha1"},
    {"etcdmembers", "/apis/quorate.io/v1alpha1"},
    {"pods", "/api/v1"},
    {"persistentvolumeclaims", "/api/v1"},
    {"services", "/api/v1"},
    {"secrets", "/api/v1"},
    {"poddisruptionbudgets", "/apis/policy/v1"},
};

// ---- Written ----

// Keys are no part of a repository.
void leave_out_keys(json::Value& secret) {
  if (auto* data = json::find(secret, "/data"))
    for (const char* key : {"tls.key", "ca.key", "next.key"}) data->as_object().erase(key);
}

json::Value objects_of(World& world) {
  auto here = world.loop().actor("reader");
  KubeLink link(here, world.api());
  json::Object out{{"at", here.clock->wall().time_since_epoch().count()}};
  for (const auto& [plural, group] : kCollections) {
    net::Request request;
    request.method = "GET";
    request.path = std::string(group) + "/namespaces/default/" + plural;
    const auto answer = world.loop().run(link.call(std::move(request), here.in(1min), 1 << 24));
    auto list = json::parse(answer.value().body).value();
    auto& items = json::find(list, "/items")->as_array();
    for (auto& item : items) {
      json::find(item, "/metadata")->as_object().erase("managedFields");
      leave_out_keys(item);
    }
    out[plural] = items;
  }
  return out;
}

void write_golden() {
  WorldOptions options;
  options.clients = 0;
  World world(options);
  world.start();
  ASSERT_TRUE(world.declare("c", json::Object()).has_value());
  ASSERT_TRUE(world.run_until([&] { return world.converged("c"); }, 5min));
  world.run_for(5min);
  const auto folder = kFolder / kRelease;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "cluster.json") << json::render_sorted(objects_of(world)) << "\n";
}

// ---- Read ----

template <class View>
std::vector<View> views(const json::Value& stored, const char* plural) {
  std::vector<View> out;
  json::Projector projector;
  for (const auto& item : json::find(stored, std::string("/") + plural)->as_array()) {
    auto view = json::project<View>(projector, json::render(item));
    EXPECT_TRUE(view.has_value()) << plural << ": " << view.error().text();
    if (view) out.push_back(std::move(*view));
  }
  return out;
}

void add_shared(const json::Value& stored, const char* plural, std::string_view kind,
                plan::Observation& seen) {
  for (const auto& view : views<op::SecretView>(stored, plural))
    for (auto which : plan::kAllShared)
      if (plan::kind_of(which) == kind &&
          plan::name_of(which, seen.cluster.key.name) == view.meta.key.name)
        seen.shared.push_back(op::shared_facts(which, view));
}

// Each Pod's member answers as the one that its record names, and all follow the first.
void add_answers(plan::Observation& seen) {
  std::vector<plan::ListedMember> listed;
  for (const auto& record : seen.records)
    listed.push_back(
        {*record.spec.identity.member_id, record.name, {record.spec.peer_url}, false, true});
  for (const auto& record : seen.records)
    for (const auto& pod : seen.pods) {
      const auto& identity = record.spec.identity;
      if (pod.ordinal != identity.ordinal) continue;
      plan::MemberAnswer answer;
      answer.ordinal = pod.ordinal;
      answer.pod = pod.uid;
      answer.asked_at = seen.now.monotonic;
      answer.answered = true;
      answer.cluster_id = *identity.cluster_id;
      answer.member_id = *identity.member_id;
      answer.leader = listed.front().id;
      answer.version = *record.status.version;
      answer.applied = RaftIndex(
          identity.raft_floor ? static_cast<std::uint64_t>(identity.raft_floor->index) : 1);
      answer.members = listed;
      seen.answers.push_back(std::move(answer));
    }
}

plan::Observation observation_of(const json::Value& stored) {
  plan::Observation seen;
  seen.now = {Monotonic(std::chrono::hours(1)),
              WallTime(std::chrono::milliseconds(*json::integer_at(stored, "/at")))};
  seen.op.identity = "quorate";
  seen.op.default_version = api::parse_etcd_version(std::string(api::kDefaultEtcdVersion)).value();
  seen.op.default_repository = api::kDefaultEtcdRepository;
  seen.op.launch_image = "quorate:of-another-release";
  seen.cluster = op::cluster_facts(views<op::ClusterView>(stored, "etcdclusters").front());
  for (const auto& view : views<op::RecordView>(stored, "etcdmembers"))
    seen.records.push_back(op::record_facts(view).value());
  for (const auto& view : views<op::ClaimView>(stored, "persistentvolumeclaims"))
    seen.claims.push_back(op::claim_facts(view, "c").value());
  for (const auto& view : views<op::PodView>(stored, "pods"))
    seen.pods.push_back(op::pod_facts(view, "c").value());
  add_shared(stored, "services", "Service", seen);
  add_shared(stored, "secrets", "Secret", seen);
  add_shared(stored, "poddisruptionbudgets", "PodDisruptionBudget", seen);
  add_answers(seen);
  return seen;
}

std::vector<std::string> steps_of(const plan::Decision& decision) {
  std::vector<std::string> out;
  for (const auto& stage : decision.stages)
    for (const auto& step : stage.steps) out.push_back(plan::describe(step, "c"));
  return out;
}

// ---- The tests ----

class Golden : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] plan::Observation seen() const {
    std::stringstream text;
    text << std::ifstream(kFolder / GetParam() / "cluster.json").rdbuf();
    return observation_of(json::parse(text.str()).value());
  }
};

TEST_P(Golden, ClusterIsTakenOverWithoutAStep) {
  if (GetParam() == kRelease && std::getenv("QUORATE_REGENERATE")) write_golden();
  const auto observed = seen();
  ASSERT_EQ(observed.pods.size(), 3U);
  const auto decision = plan::decide(observed);
  EXPECT_THAT(steps_of(decision), IsEmpty());
  ASSERT_TRUE(decision.status.has_value());
  EXPECT_EQ(decision.status->phase, "Ready");
}

// Or the test above would show nothing.
TEST_P(Golden, ClusterIsRolledWhereAPodIsNotAsDeclared) {
  auto observed = seen();
  observed.pods.back().rendered = "another";
  const auto decision = plan::decide(observed);
  ASSERT_NE(plan::disruptive_step(decision), nullptr) << testing::PrintToString(steps_of(decision));
  EXPECT_THAT(plan::describe(*plan::disruptive_step(decision), "c"), HasSubstr("restart c-2"));
}

std::vector<std::string> releases() {
  std::vector<std::string> out;
  for (const auto& folder : std::filesystem::directory_iterator(kFolder))
    out.push_back(folder.path().filename());
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(Of, Golden, testing::ValuesIn(releases()), [](const auto& release) {
  auto name = "Release" + release.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace quorate::sim
