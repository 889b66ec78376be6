// Election on a real kube-apiserver: two candidates, a crash, a clean hand-over, a server that goes
// away.

#include "kube/events.h"
#include "kube/lease.h"
#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

constexpr LeaseTimings kQuick{4s, 3s, 500ms};

class KubeLease : public KubeTest {
 protected:
  // A replica with a connection of its own.
  struct Replica {
    Replica(KubeLease& in, const std::string& name, const std::filesystem::path& config)
        : connection(in.loop_, config),
          election(in.here_, connection.client(), {in.key("leader"), name, kQuick, Log()}),
          clock(in.here_.clock),
          group(in.here_) {
      group.spawn("election", run());
    }
    Task<void> run() {
      outcome = co_await election.run([this](Leadership got) { return lead(got); });
    }
    Task<void> lead(Leadership got) {
      leadership = got;
      working = true;
      (void)co_await clock->sleep_until(Monotonic::max());
      working = false;
    }
    Connection connection;
    Election election;
    rt::Clock* clock;
    rt::TaskGroup group;
    std::optional<Leadership> leadership;
    bool working = false;
    std::optional<Result<void>> outcome;
  };

  KubeLease() : proxy_(kube_.api_server().endpoint()) {
    kube_.apply(fmt::format(R"(
apiVersion: v1
kind: ServiceAccount
metadata: {{name: operator, namespace: {0}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: operator, namespace: {0}}}
rules:
- {{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, patch]}}
- {{apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: operator, namespace: {0}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}}
subjects: [{{kind: ServiceAccount, name: operator, namespace: {0}}}]
)",
                            ns_));
    token_ = kube_.service_account_token(ns_, "operator");
    direct_ = kube_.kubeconfig(ns_ + "-direct", {.token = token_});
    proxied_ = kube_.kubeconfig(ns_ + "-proxied", {.token = token_, .server = proxy_.endpoint()});
  }
  void end(std::unique_ptr<Replica>& replica) {
    replica->group.cancel();
    run(replica->group.join());
    replica.reset();
  }
  std::unique_ptr<Replica> start(const std::string& name, bool through_proxy = false) {
    return std::make_unique<Replica>(*this, name, through_proxy ? proxied_ : direct_);
  }

  FaultProxy proxy_;
  std::string token_;
  std::filesystem::path direct_, proxied_;
};

TEST_F(KubeLease, OneOfTwoLeadsAndTheOtherFollowsACleanStop) {
  auto a = start("a");
  await("a leads", [&] { return a->working; });
  EXPECT_EQ(a->leadership->handover, Handover::kCreated);
  auto b = start("b");
  await("b has seen a", [&] { return b->election.holder() == a->election.identity(); });
  EXPECT_FALSE(b->election.leading());
  a->election.stop();
  await("b leads", [&] { return b->working; });
  ASSERT_TRUE(a->outcome);
  EXPECT_TRUE(*a->outcome);
  EXPECT_FALSE(a->working);
  EXPECT_EQ(b->leadership->handover, Handover::kReleased);
  EXPECT_GT(b->leadership->epoch, a->leadership->epoch);
  EXPECT_EQ(b->leadership->quiet_from(1h), b->leadership->elected_at);
  end(a);
  end(b);
}

TEST_F(KubeLease, ACrashedLeaderIsFollowedAfterItsLease) {
  auto a = start("a");
  await("a leads", [&] { return a->working; });
  auto b = start("b");
  await("b has seen a", [&] { return b->election.holder() == a->election.identity(); });
  const auto crashed_at = here_.clock->now();
  const auto epoch = a->leadership->epoch;
  end(a);  // cancelled: nothing is released
  await("b leads", [&] { return b->working; });
  EXPECT_GE(here_.clock->now() - crashed_at, 3s);
  EXPECT_EQ(b->leadership->handover, Handover::kExpired);
  EXPECT_GT(b->leadership->epoch, epoch);
  end(b);
}

TEST_F(KubeLease, ALeaderThatIsCutOffStopsBeforeAnotherLeads) {
  auto a = start("a", true);
  await("a leads", [&] { return a->working; });
  auto b = start("b");
  await("b has seen a", [&] { return b->election.holder() == a->election.identity(); });
  proxy_.freeze();
  bool overlap = false;
  await("b leads", [&] {
    overlap |= a->election.leading() && b->election.leading();
    return b->working;
  });
  EXPECT_FALSE(overlap);
  await("a has noticed", [&] { return a->outcome.has_value(); });
  EXPECT_FALSE(*a->outcome);
  EXPECT_FALSE(a->working);
  proxy_.heal();
  end(a);
  end(b);
}

TEST_F(KubeLease, ALeaderOutlivesAShortAbsenceOfTheServer) {
  auto a = start("a", true);
  await("a leads", [&] { return a->working; });
  proxy_.refuse();
  proxy_.cut();
  const auto until = a->election.valid_until();
  await("a renewal is overdue", [&] { return here_.clock->now() > until - 2s; });
  proxy_.heal();
  await("it is renewed", [&] { return a->election.valid_until() > until; });
  EXPECT_TRUE(a->working);
  EXPECT_FALSE(a->outcome);
  end(a);
}

TEST_F(KubeLease, ADeletedLeaseEndsTheLeader) {
  auto a = start("a");
  await("a leads", [&] { return a->working; });
  must(run(client().remove(kLeases, key("leader"), soon())));
  await("a has noticed", [&] { return a->outcome.has_value(); });
  EXPECT_FALSE(*a->outcome);
  end(a);
  auto b = start("b");
  await("b leads", [&] { return b->working; });
  EXPECT_EQ(b->leadership->handover, Handover::kCreated);
  end(b);
}

// --- events, under the same account

TEST_F(KubeLease, EventsAreWrittenAndCounted) {
  const auto about = must(must(create(kConfigMaps, config_map("c"))).meta());
  Connection connection(loop_, direct_);
  Recorder recorder(here_, connection.client(), {.instance = "replica-1"});
  rt::TaskGroup group(here_);
  group.spawn("events", recorder.run());
  const Notice notice{make_reference(kConfigMaps, about), Notice::Type::kWarning, "MemberReplaced",
                      "Replace", "member 8e9e05c52164694d was lost"};
  for (int i = 0; i < 5; ++i) {
    recorder.publish(notice);
    must(run(recorder.flush(soon())));
  }
  EXPECT_EQ(recorder.counters().created, 1u);
  EXPECT_EQ(recorder.counters().counted, 4u);
  EXPECT_EQ(recorder.counters().failed, 0u);

  std::vector<json::Value> events;
  EachItem each = [&](json::PaddedView item) -> Result<void> {
    TRY(auto event, json::parse(item.text()));
    events.push_back(std::move(event));
    return {};
  };
  must(run(client().list(kEvents, {.ns = ns_}, 30s, each)));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(must(json::integer_at(events[0], "/series/count")), 5);
  EXPECT_EQ(json::text_or(events[0], "/regarding/uid", ""), about.uid.value());
  const auto shown = kube_.kubectl({"events", "--namespace=" + ns_, "--for=configmap/c"});
  EXPECT_THAT(shown.out, ::testing::HasSubstr("MemberReplaced")) << shown.err;
  EXPECT_THAT(shown.out, ::testing::HasSubstr("member 8e9e05c52164694d was lost"));
  group.cancel();
  run(group.join());
}

}  // namespace
}  // namespace quorate::kube
