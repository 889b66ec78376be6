#include <gmock/gmock.h>

#include "api/names.h"
#include "tests/integration/slice_compare.h"
#include "tests/integration/slice_world.h"

// The operator dies between any two of its writes, or is never told the answer to one: what comes
// out is what an undisturbed run makes, and nothing was made twice.
//
// Every case has a namespace, a lease and operators of its own; they run side by side, because most
// of the time of a case is the new leader's wait for the old one's lease to end.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;

constexpr std::size_t kSideBySide = 12;
// A busy machine must not look like a lost lease; if it does, the next process takes over, as in
// life.
constexpr kube::LeaseTimings kQuick{4s, 3s, 500ms};

struct Outcome {
  std::string fault;
  bool struck = false;
  int processes = 0;
  std::vector<Write> writes;
  std::vector<std::string> denied;
  std::string cluster_uid;
  Snapshot all;
};

// Ends when the cluster has settled (true) or the process is over.
Task<Result<bool>> settle_or_die(World& world, OperatorProcess& process, ClusterKey key,
                                 rt::Deadline deadline) {
  for (;;) {
    CO_TRY(auto cluster, co_await world.get(kube::kEtcdClusters, key));
    const auto settled = is_settled(cluster);
    if (settled.holds) co_return true;
    if (process.over()) co_return false;
    if (deadline.passed(*world.runtime().clock))
      co_return fail(Code::kTimeout, key.text() + " has not settled: " + settled.seen);
    auto over = co_await process.wait_until_over(world.runtime().in(200ms).sooner(deadline));
    if (!over && over.error() != Code::kTimeout) co_return fail(over.error());
  }
}

// Starts operators one after the other, as a Deployment would, until the cluster has settled.
Task<Result<void>> run_operators(World& world, ClusterKey key, std::size_t at_once, Ledger& ledger,
                                 int& processes) {
  const auto deadline = world.runtime().in(180s);
  auto setup = world.setup(key.ns, kQuick);
  setup.options.executor.call_timeout = 2s;
  setup.options.executor.at_once = at_once;
  for (;;) {
    ++processes;
    setup.options.replica = fmt::format("process-{}", processes);
    OperatorProcess process(world.runtime(), setup, ledger);
    auto started = process.start();
    auto settled = Result<bool>(false);
    if (started) settled = co_await settle_or_die(world, process, key, deadline);
    co_await process.kill();
    CO_TRY(std::move(started));
    CO_TRY(const bool done, std::move(settled));
    if (done) co_return Result<void>();
  }
}

// `at_once` 1: the order of writes is the same every time, so that a crash is between two of them.
Task<Result<Outcome>> run_case(World& world, std::optional<Fault> fault, std::size_t at_once) {
  Outcome out;
  if (fault) out.fault = fault->text();
  CO_TRY(auto ns, co_await world.make_namespace("crash"));
  CO_TRY(auto cluster, co_await world.create(kube::kEtcdClusters, ns, make_cluster("c")));
  out.cluster_uid = json::text_or(cluster, "/metadata/uid", "");
  Ledger ledger;
  if (fault) ledger.arm(*fault);
  const ClusterKey key{{ns, "c"}};
  auto settled = co_await run_operators(world, key, at_once, ledger, out.processes);
  if (!settled) co_return fail(settled.error().in(out.fault));
  out.struck = ledger.struck();
  out.writes = ledger.writes();
  out.denied = ledger.denied();
  CO_TRY(out.all, co_await world.look(ns));
  co_return out;
}

Task<Result<std::vector<Outcome>>> run_cases(World& world, std::vector<Fault> faults,
                                             std::size_t at_once) {
  std::vector<Task<Result<Outcome>>> cases;
  for (auto& fault : faults) cases.push_back(run_case(world, std::move(fault), at_once));
  auto results = co_await rt::all(world.runtime(), std::move(cases), kSideBySide);
  std::vector<Outcome> out;
  for (auto& result : results) {
    CO_TRY(auto outcome, std::move(result));
    out.push_back(std::move(outcome));
  }
  co_return out;
}

// The fault at each write of an undisturbed run.
std::vector<Fault> faults_at(const std::vector<Write>& writes, Fault::Kind kind) {
  std::vector<Fault> faults;
  std::map<std::string, int> seen;
  for (const auto& write : writes) faults.push_back({kind, write.what, seen[write.what]++});
  return faults;
}

// Everything that was created, was created once, and is what there is now.
void expect_created_once(const Outcome& outcome) {
  std::map<std::string, int> creations;
  for (const auto& write : outcome.writes) {
    EXPECT_FALSE(write.what.starts_with("DELETE ")) << write.what;
    if (!write.creates() || !write.took_effect()) continue;
    EXPECT_EQ(++creations[write.what], 1) << write.what;
    const auto name = fmt::format("{} {}", json::text_or(write.body, "/kind", ""),
                                  json::text_or(write.body, "/metadata/name", ""));
    const auto live = outcome.all.find(name);
    ASSERT_NE(live, outcome.all.end()) << name;
    EXPECT_EQ(json::text_or(live->second, "/metadata/uid", ""), write.uid) << name;
  }
  EXPECT_EQ(creations.size(), 18U);
}

// A Pod that is made after a crash cannot be known to be the first of its volume, and says so by
// this annotation's absence; all else must be the same.
std::map<std::string, std::string> comparable(Snapshot all) {
  for (auto& [name, object] : all)
    json::remove(object, "/metadata/annotations/" + json::escape_pointer(api::kAnnotationFirstPod));
  return essence(all);
}

class Crash : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto& world = World::shared();
    reference_ = new Outcome(world.run(run_case(world, std::nullopt, 1)));
  }
  static void TearDownTestSuite() {
    delete reference_;
    reference_ = nullptr;
  }

  // Runs a case for every write of the reference and compares what came out.
  void try_everywhere(Fault::Kind kind, std::size_t at_once) {
    const auto outcomes =
        world_.run(run_cases(world_, faults_at(reference_->writes, kind), at_once));
    const auto expected = comparable(reference_->all);
    int struck = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const auto& outcome = outcomes[i];
      SCOPED_TRACE(outcome.fault);
      struck += outcome.struck;
      // How often status is written depends on what watches show first; all else is sure to come.
      if (!reference_->writes[i].is_status()) EXPECT_TRUE(outcome.struck);
      if (outcome.struck && kind != Fault::Kind::kLoseAnswer && !is_last_status(i))
        EXPECT_GT(outcome.processes, 1);
      EXPECT_EQ(find_difference(expected, comparable(outcome.all)), "");
      expect_created_once(outcome);
      EXPECT_THAT(outcome.denied, IsEmpty());
    }
    RecordProperty("cases", static_cast<int>(outcomes.size()));
    RecordProperty("struck", struck);
  }

  World& world_ = World::shared();
  static Outcome* reference_;

 private:
  // After it the cluster has settled, so that nobody needs to come back.
  static bool is_last_status(std::size_t write) { return write + 1 == reference_->writes.size(); }
};

Outcome* Crash::reference_ = nullptr;

TEST_F(Crash, BeforeAnyWriteIsSentLeavesNoTrace) { try_everywhere(Fault::Kind::kCrashBefore, 1); }

TEST_F(Crash, AfterAnyWriteWasTakenLeavesNoTrace) { try_everywhere(Fault::Kind::kCrashAfter, 1); }

TEST_F(Crash, TheAnswerToAnyWriteMayBeLost) { try_everywhere(Fault::Kind::kLoseAnswer, 8); }

// The comparison above sees what it is meant to see.
TEST_F(Crash, TheComparisonNoticesADifference) {
  const auto expected = comparable(reference_->all);
  EXPECT_EQ(find_difference(expected, comparable(reference_->all)), "");
  for (const auto* path : {"/metadata/labels/quorate.io~1ordinal", "/spec/formation/number",
                           "/spec/volumeUID", "/spec/run"}) {
    auto changed = reference_->all;
    auto& record = changed.at("EtcdMember c-1");
    ASSERT_NE(json::find(record, path), nullptr) << path << json::render(record);
    ASSERT_TRUE(json::put(record, path, "else"));
    EXPECT_NE(find_difference(expected, comparable(changed)), "") << path;
  }
  auto changed = reference_->all;
  changed.at("Secret c-peer-tls").as_object()["data"] =
      changed.at("Secret c-server-tls").at("data");
  EXPECT_NE(find_difference(expected, comparable(changed)), "");
  changed = reference_->all;
  changed.erase("Pod c-2");
  EXPECT_NE(find_difference(expected, comparable(changed)), "");
  changed = reference_->all;
  changed["Pod c-3"] = changed.at("Pod c-2");
  EXPECT_NE(find_difference(expected, comparable(changed)), "");
}

}  // namespace
}  // namespace quorate::slice
