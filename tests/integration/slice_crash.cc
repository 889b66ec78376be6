#include "tests/integration/slice_crash.h"

#include <gmock/gmock.h>

#include "api/names.h"

namespace quorate::slice {
namespace {

// A busy machine must not look like a lost lease, which would be another fault than the one meant.
constexpr kube::LeaseTimings kPatient{60s, 45s, 500ms};
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

// As its holder would have done in the end.
Task<Result<void>> release_lease(World& world, ObjectKey lease) {
  auto held = co_await world.get(kube::kLeases, lease);
  if (!held && held.error() == Code::kNotFound) co_return Result<void>();  // it died before
  if (!held) co_return fail(held.error());
  const auto epoch = json::integer_at(*held, "/spec/leaseTransitions").value_or(0);
  CO_TRY(co_await world.patch(
      kube::kLeases, lease,
      fmt::format(R"({{"metadata": {{"annotations": {{"quorate.io/released-epoch": "{}"}}}},
                       "spec": {{"holderIdentity": ""}}}})",
                  epoch)));
  co_return Result<void>();
}

Task<Result<void>> run_operators(World& world, ClusterKey key, CrashPlan plan, Ledger& ledger,
                                 int& processes) {
  const auto deadline = world.runtime().in(kPatience);
  auto setup = world.setup(key.ns, kPatient);
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
    CO_TRY(co_await release_lease(world, setup.options.lease));
  }
}

struct Tally {
  int effects = 0;
  int unanswered = 0;
};

bool varies(const std::string& what, Patches patches) {
  return what.find("/status ") != std::string::npos ||
         (patches == Patches::kVary && what.starts_with("PATCH "));
}

std::map<std::string, Tally> count_writes(const std::vector<Write>& writes, Patches patches) {
  std::map<std::string, Tally> out;
  for (const auto& write : writes) {
    if (varies(write.what, patches)) continue;
    out[write.what].effects += write.took_effect();
    out[write.what].unanswered += write.unanswered();
  }
  return out;
}

void expect_same_way(const Outcome& reference, const Outcome& outcome, Patches patches) {
  const auto expected = count_writes(reference.writes, patches);
  auto found = count_writes(outcome.writes, patches);
  for (const auto& [what, tally] : found) EXPECT_TRUE(expected.contains(what)) << what;
  for (const auto& [what, tally] : expected) {
    const auto& [effects, unanswered] = found[what];
    // Where the server itself fell silent, as on a busy machine, nobody can count.
    EXPECT_LE(effects, tally.effects) << what;
    EXPECT_GE(effects + unanswered, tally.effects) << what;
  }
}

// What stands in the end is what was made, not something made in its place.
void expect_first_made_stands(const Outcome& outcome) {
  for (const auto& write : outcome.writes) {
    if (!write.creates() || !write.took_effect()) continue;
    const auto name = fmt::format("{} {}", json::text_or(write.body, "/kind", ""),
                                  json::text_or(write.body, "/metadata/name", ""));
    const auto live = outcome.all.find(name);
    ASSERT_NE(live, outcome.all.end()) << name;
    EXPECT_EQ(json::text_or(live->second, "/metadata/uid", ""), write.uid) << name;
  }
}

}  // namespace

Task<Result<Outcome>> run_case(World& world, CrashPlan plan, std::optional<Fault> fault) {
  Outcome out;
  out.fault = fault;
  CO_TRY(auto ns, co_await world.make_namespace("crash"));
  CO_TRY(co_await world.create(kube::kEtcdClusters, ns, make_cluster("c", plan.spec)));
  Ledger ledger;
  if (fault) ledger.arm(*fault);
  const ClusterKey key{{ns, "c"}};
  auto done = co_await run_operators(world, key, plan, ledger, out.processes);
  if (!done) co_return fail(done.error().in(fault ? fault->text() : "no fault"));
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

void expect_no_trace(const Outcome& reference, const std::vector<Outcome>& outcomes,
                     Patches patches) {
  int struck = 0;
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome.fault);
    const auto& fault = *outcome.fault;
    SCOPED_TRACE(fault.text());
    struck += outcome.struck;
    // Everything is sure to come once.
    EXPECT_TRUE(outcome.struck || (varies(fault.what, patches) && fault.occurrence > 0));
    if (fault.kind == Fault::Kind::kLoseAnswer || !outcome.struck)
      EXPECT_EQ(outcome.processes, 1);  // nobody had to come back
    else if (!varies(fault.what, patches))
      EXPECT_EQ(outcome.processes, 2);  // after the last status nobody needs to
    EXPECT_EQ(find_difference(essence(reference.all), essence(outcome.all)), "");
    expect_same_way(reference, outcome, patches);
    expect_first_made_stands(outcome);
    EXPECT_THAT(outcome.denied, ::testing::IsEmpty());
  }
  ::testing::Test::RecordProperty("cases", static_cast<int>(outcomes.size()));
  ::testing::Test::RecordProperty("struck", struck);
}

}  // namespace quorate::slice
