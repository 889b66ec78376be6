#include "tests/integration/slice_crash.h"

#include <gmock/gmock.h>

#include "api/names.h"

namespace quorate::slice {
namespace {

// A busy machine must not look like a lost lease; if it does, the next process takes over, as in
// life.
constexpr kube::LeaseTimings kQuick{4s, 3s, 500ms};
constexpr auto kPatience = 180s;

// Ends when the cluster is done (true) or the process is over.
Task<Result<bool>> wait_until_done(World& world, OperatorProcess& process, ClusterKey key,
                                   CrashPlan plan, rt::Deadline deadline) {
  for (;;) {
    CO_TRY(auto cluster, co_await world.get(kube::kEtcdClusters, key));
    const auto done = plan.done(cluster);
    if (done.holds) co_return true;
    if (process.over()) co_return false;
    if (deadline.passed(*world.runtime().clock))
      co_return fail(Code::kTimeout, key.text() + " is not done: " + done.seen);
    auto over = co_await process.wait_until_over(world.runtime().in(200ms).sooner(deadline));
    if (!over && over.error() != Code::kTimeout) co_return fail(over.error());
  }
}

Task<Result<void>> run_operators(World& world, ClusterKey key, CrashPlan plan, Ledger& ledger,
                                 int& processes) {
  const auto deadline = world.runtime().in(kPatience);
  auto setup = world.setup(key.ns, kQuick);
  setup.options.executor.call_timeout = 2s;
  setup.options.executor.at_once = plan.at_once;
  setup.options.observer.ask_every = 2s;
  for (;;) {
    ++processes;
    setup.options.replica = fmt::format("process-{}", processes);
    OperatorProcess process(world.runtime(), setup, ledger);
    auto started = process.start();
    auto done = Result<bool>(false);
    if (started) done = co_await wait_until_done(world, process, key, plan, deadline);
    co_await process.kill();
    CO_TRY(std::move(started));
    CO_TRY(const bool ended, std::move(done));
    if (ended) co_return Result<void>();
  }
}

// An answer that did not come in time leaves open whether its write took effect.
void expect_made_once(const Outcome& outcome) {
  std::map<std::string, int> made;
  std::map<std::string, int> unanswered;
  for (const auto& write : outcome.writes) {
    EXPECT_FALSE(write.what.starts_with("DELETE ")) << write.what;
    if (!write.creates()) continue;
    const auto name = fmt::format("{} {}", json::text_or(write.body, "/kind", ""),
                                  json::text_or(write.body, "/metadata/name", ""));
    unanswered[name] += write.status == 0;
    if (!write.took_effect()) continue;
    ++made[name];
    const auto live = outcome.all.find(name);
    ASSERT_NE(live, outcome.all.end()) << name;
    EXPECT_EQ(json::text_or(live->second, "/metadata/uid", ""), write.uid) << name;
  }
  for (const auto& [name, object] : outcome.all) {
    if (name == "EtcdCluster c") continue;
    EXPECT_LE(made[name], 1) << name;
    EXPECT_GE(made[name] + unanswered[name], 1) << name;
  }
}

}  // namespace

Task<Result<Outcome>> run_case(World& world, CrashPlan plan, std::optional<Fault> fault) {
  Outcome out;
  if (fault) out.fault = fault->text();
  CO_TRY(auto ns, co_await world.make_namespace("crash"));
  CO_TRY(co_await world.create(kube::kEtcdClusters, ns, make_cluster("c", plan.spec)));
  Ledger ledger;
  if (fault) ledger.arm(*fault);
  const ClusterKey key{{ns, "c"}};
  auto done = co_await run_operators(world, key, plan, ledger, out.processes);
  if (!done) co_return fail(done.error().in(out.fault));
  out.struck = ledger.struck();
  out.writes = ledger.writes();
  out.denied = ledger.denied();
  CO_TRY(out.all, co_await world.look(ns));
  CO_TRY(co_await world.remove(kube::kEtcdClusters, key));
  co_return out;
}

Task<Result<std::vector<Outcome>>> run_cases(World& world, CrashPlan plan,
                                             std::vector<Fault> faults) {
  std::vector<Task<Result<Outcome>>> cases;
  for (auto& fault : faults) cases.push_back(run_case(world, plan, std::move(fault)));
  auto results = co_await rt::all(world.runtime(), std::move(cases), plan.side_by_side);
  std::vector<Outcome> out;
  for (auto& result : results) {
    CO_TRY(auto outcome, std::move(result));
    out.push_back(std::move(outcome));
  }
  co_return out;
}

std::vector<Fault> faults_at(const std::vector<Write>& writes, Fault::Kind kind) {
  std::vector<Fault> faults;
  std::map<std::string, int> seen;
  for (const auto& write : writes) faults.push_back({kind, write.what, seen[write.what]++});
  return faults;
}

// A Pod that is made after a crash cannot be known to be the first of its volume, and says so by
// this annotation's absence; all else must be the same.
std::map<std::string, std::string> comparable(const Outcome& outcome) {
  auto all = outcome.all;
  for (auto& [name, object] : all)
    json::remove(object, "/metadata/annotations/" + json::escape_pointer(api::kAnnotationFirstPod));
  return essence(all);
}

void expect_no_trace(const Outcome& reference, const std::vector<Fault>& faults,
                     const std::vector<Outcome>& outcomes) {
  const auto expected = comparable(reference);
  ASSERT_EQ(outcomes.size(), faults.size());
  int struck = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto& outcome = outcomes[i];
    SCOPED_TRACE(outcome.fault);
    struck += outcome.struck;
    // How often status is written depends on what watches show first; all else is sure to come.
    const bool of_status = faults[i].what.find("/status ") != std::string::npos;
    if (!of_status) EXPECT_TRUE(outcome.struck);
    // After the last status nobody needs to come back.
    if (outcome.struck && !of_status && faults[i].kind != Fault::Kind::kLoseAnswer)
      EXPECT_GT(outcome.processes, 1);
    EXPECT_EQ(find_difference(expected, comparable(outcome)), "");
    expect_made_once(outcome);
    EXPECT_THAT(outcome.denied, ::testing::IsEmpty());
  }
  ::testing::Test::RecordProperty("cases", static_cast<int>(outcomes.size()));
  ::testing::Test::RecordProperty("struck", struck);
}

}  // namespace quorate::slice
