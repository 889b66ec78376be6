// What the client says when members hang, die, lose answers or show the wrong certificate.

#include "etcd/witness.h"
#include "net/grpc.h"
#include "rt/group.h"
#include "tests/integration/etcd_harness.h"
#include "tests/support/fault_proxy.h"

namespace quorate::etcd {
namespace {

using support::FaultProxy;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;

// A network that is noticed to be dead within a second and a half.
PoolOptions watchful() {
  PoolOptions options;
  options.connect_timeout = 1s;
  options.ping_after = 1s;
  options.ping_timeout = 500ms;
  return options;
}

class EtcdFaults : public OnEachVersion {
 protected:
  rt::Deadline soon() { return caller.within(10s); }
  static Target through(const FaultProxy& proxy) {
    return {.endpoint = "http://" + proxy.endpoint().text()};
  }
};

TEST_P(EtcdFaults, ALostAnswerToMemberAddIsUnknownAndTheMemberIsThere) {
  EtcdCluster cluster(options(1));
  auto direct = target_of(cluster, cluster[0]);
  FaultProxy proxy(cluster[0].client());
  must(caller.status(through(proxy)));  // connected

  const std::string url = "http://127.0.0.1:9";
  proxy.reset_at_next_answer();
  auto lost = caller.run(caller.api().add_learner(through(proxy), {url}, soon()));
  EXPECT_EQ(code_of(lost), Code::kUnknownOutcome);

  const Member* found = nullptr;
  MemberList list;
  eventually(10s, "the member is in the list", [&] {
    list = must(caller.list(direct));
    found = list.find_by_peer_urls({url});
    return Look(found != nullptr, "not yet");
  });
  EXPECT_TRUE(found->learner);
  EXPECT_FALSE(found->started());
  must(caller.run(caller.api().remove_member(direct, found->id, soon())));
}

TEST_P(EtcdFaults, ALostAnswerIsUnknownForWritesAndUnavailableForReads) {
  EtcdCluster& cluster = shared_cluster(version(), 1, EtcdSecurity::kPlain);
  auto direct = target_of(cluster, cluster[0]);
  FaultProxy proxy(cluster[0].client());
  Api& api = caller.api();
  auto self = must(caller.status(through(proxy))).header.member;

  proxy.reset_at_next_answer();
  EXPECT_EQ(code_of(caller.put(through(proxy), "lost", "v")), Code::kUnknownOutcome);
  EXPECT_EQ(must(caller.get(direct, "lost")), "v") << "it was done all the same";

  for (auto* fail : {+[](FaultProxy& p) { p.reset_at_next_answer(); },
                     +[](FaultProxy& p) { p.lose_answers(); }}) {
    auto again = [&] {
      proxy.heal();
      proxy.cut();
      must(caller.status(through(proxy)));
      fail(proxy);
    };
    auto quick = [&] { return caller.within(300ms); };
    again();
    EXPECT_EQ(code_of(caller.run(api.status(through(proxy), quick()))), Code::kUnavailable);
    again();
    EXPECT_EQ(
        code_of(caller.run(api.range(through(proxy), {.range = KeyRange::one("k")}, quick()))),
        Code::kUnavailable);
    again();
    EXPECT_EQ(code_of(caller.run(api.member_list(through(proxy), quick()))), Code::kUnavailable);
    again();
    EXPECT_EQ(code_of(caller.run(api.hash_kv(through(proxy), {}, quick()))), Code::kUnavailable);
    again();
    EXPECT_EQ(code_of(caller.run(api.defragment(through(proxy), quick()))), Code::kUnknownOutcome);
    again();
    EXPECT_EQ(code_of(caller.run(api.grant(through(proxy), {60s, {}}, quick()))),
              Code::kUnknownOutcome);
    again();
    EXPECT_EQ(code_of(caller.run(api.disarm(through(proxy), {self, AlarmKind::kNoSpace}, quick()))),
              Code::kUnknownOutcome);
    again();
    EXPECT_EQ(code_of(caller.run(api.remove_member(through(proxy), MemberId(1), quick()))),
              Code::kUnknownOutcome);
  }
}

TEST_P(EtcdFaults, WhatWasNeverSentIsUnavailableForWritesToo) {
  EtcdCluster& cluster = shared_cluster(version(), 1, EtcdSecurity::kPlain);
  FaultProxy proxy(cluster[0].client());
  proxy.refuse();
  EXPECT_EQ(code_of(caller.put(through(proxy), "refused", "v")), Code::kUnavailable);
  EXPECT_EQ(must(caller.get(target_of(cluster, cluster[0]), "refused")), std::nullopt);
  proxy.heal();
  must(caller.put(through(proxy), "refused", "now"));
}

TEST_P(EtcdFaults, AStoppedMemberHangsNobodyBeyondTheDeadline) {
  EtcdCluster cluster(options(3));
  auto victim = (leader_of(caller, cluster) + 1) % 3;
  auto stopped = target_of(cluster, cluster[victim]);
  auto other = target_of(cluster, cluster[(victim + 1) % 3]);
  must(caller.status(stopped));
  cluster[victim].pause();

  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(caller.run(
                caller.api().put(stopped, {"k", "stopped", {}, false}, caller.within(500ms)))),
            Code::kUnknownOutcome);
  // The connection is under suspicion now; on a new one nobody says hello, so nothing is sent.
  EXPECT_THAT(code_of(caller.run(caller.api().status(stopped, caller.within(500ms)))),
              AnyOf(Eq(Code::kUnavailable), Eq(Code::kTimeout)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  must(caller.put(other, "other", "v"));  // the others go on

  cluster[victim].resume();
  eventually(20s, "the member is back", [&] {
    auto read = caller.get(stopped, "other");
    return Look(read && *read == "v", read ? "not caught up" : read.error().text());
  });
}

TEST_P(EtcdFaults, AWatchOnAVanishedMemberEndsByPing) {
  EtcdCluster& cluster = shared_cluster(version(), 1, EtcdSecurity::kPlain);
  FaultProxy proxy(cluster[0].client());
  Caller watchful_caller(watchful());
  auto watch = must(watchful_caller.run(watchful_caller.api().watch(
      through(proxy), {KeyRange::one("k"), {}, false, false}, watchful_caller.within(5s))));
  proxy.freeze();
  auto ended = watchful_caller.run(watch->read(watchful_caller.within(30s)));
  EXPECT_EQ(code_of(ended), Code::kUnavailable);
  proxy.cut();
}

TEST_P(EtcdFaults, AKilledMemberIsUnavailableAndServesAgainWhenItIsBack) {
  EtcdCluster cluster(options(3));
  auto victim = (leader_of(caller, cluster) + 1) % 3;
  auto killed = target_of(cluster, cluster[victim]);
  auto before = must(caller.status(killed));
  auto watch =
      must(caller.run(caller.api().watch(killed, {KeyRange::one("k"), {}, false, false}, soon())));
  cluster[victim].kill();
  EXPECT_EQ(code_of(caller.run(watch->read(soon()))), Code::kUnavailable);
  EXPECT_EQ(code_of(caller.status(killed)), Code::kUnavailable);
  EXPECT_EQ(code_of(caller.put(killed, "k", "v")), Code::kUnavailable) << "nothing was sent";
  watch.reset();

  cluster[victim].start();
  cluster[victim].wait_healthy();
  EXPECT_EQ(must(caller.status(killed)).header.member, before.header.member);
}

TEST_P(EtcdFaults, WithoutALeaderNothingIsSentIntoTheUnknown) {
  EtcdCluster cluster(options(3));
  auto left = target_of(cluster, cluster[0]);
  auto id = must(caller.status(left)).header.member;
  must(caller.put(left, "k", "v"));
  cluster[1].kill();
  cluster[2].kill();
  eventually(20s, "it knows of no leader",
             [&] { return Look(!must(caller.status(left)).leader, "it still names one"); });

  Api& api = caller.api();
  auto expect_no_leader = [](const auto& result, const char* what) {
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code(), Code::kUnavailable) << what << result.error().text();
    EXPECT_EQ(reason(result.error()), Reason::kNoLeader) << what << result.error().text();
  };
  expect_no_leader(caller.put(left, "k", "w"), "put");
  expect_no_leader(caller.get(left, "k"), "linearizable get");
  expect_no_leader(caller.list(left), "member list");
  expect_no_leader(caller.run(api.remove_member(left, id, soon())), "remove");
  expect_no_leader(caller.run(api.add_learner(left, {"http://127.0.0.1:9"}, soon())), "add");
  expect_no_leader(caller.run(api.watch(left, {KeyRange::one("k"), {}, false, false}, soon())),
                   "watch");
  expect_no_leader(caller.run(witness(api, left, soon())), "witness");
  // What needs no leader is still answered.
  EXPECT_EQ(must(caller.get(left, "k", Consistency::kSerializable)), "v");
  must(caller.run(api.hash_kv(left, {}, soon())));
}

TEST_P(EtcdFaults, AWriteThatEtcdGivesUpOnIsUnknown) {
  EtcdCluster cluster(options(3));
  auto leader = leader_of(caller, cluster);
  for (std::size_t i = 0; i < 3; ++i)
    if (i != leader) cluster[i].pause();
  // The leader takes it in, cannot commit it, and says so after a while.
  auto result = caller.run(caller.api().put(target_of(cluster, cluster[leader]),
                                            {"k", "v", {}, false}, caller.within(20s)));
  EXPECT_EQ(code_of(result), Code::kUnknownOutcome);
  EXPECT_THAT(reason(result.error()), AnyOf(Eq(Reason::kTimeout), Eq(Reason::kTimeoutLeaderFailure),
                                            Eq(Reason::kTimeoutConnectionLost)))
      << result.error().text();
  for (std::size_t i = 0; i < 3; ++i)
    if (i != leader) cluster[i].resume();
}

TEST_P(EtcdFaults, TheWrongCertificateIsForbiddenAndNeverUnknown) {
  EtcdCluster& cluster = shared_cluster(version(), 3, EtcdSecurity::kMutualTls);
  const auto& files = cluster.credentials();
  auto right = target_of(cluster, cluster[0]);
  must(caller.status(right));

  auto with = [&](std::shared_ptr<const Identity> identity) {
    Target target = right;
    target.identity = std::move(identity);
    return caller.run(caller.api().status(target, caller.within(5s)));
  };
  // We do not trust the server: the peers' authority signed nothing that it shows.
  auto distrusted = with(identity_of(files.peer_ca, files.client));
  EXPECT_EQ(code_of(distrusted), Code::kForbidden) << distrusted.error().text();
  // The server does not trust us.
  auto stranger = with(identity_of(files.client_ca, files.peer));
  EXPECT_EQ(code_of(stranger), Code::kForbidden) << stranger.error().text();
  // We show nothing.
  auto nobody = with(make_identity({support::read_file(files.client_ca), "", Secret()}));
  EXPECT_EQ(code_of(nobody), Code::kForbidden) << nobody.error().text();
  // Plain text to a TLS port.
  Target plain{.endpoint = "http://" + cluster[0].client().text()};
  auto in_the_clear = caller.run(caller.api().status(plain, caller.within(5s)));
  EXPECT_EQ(code_of(in_the_clear), Code::kUnavailable) << in_the_clear.error().text();
  must(caller.status(right));
}

TEST_P(EtcdFaults, AFullDatabaseRefusesWritesUntilItIsTidiedAndDisarmed) {
  auto small = options(1);
  small.flags.push_back("--quota-backend-bytes=8388608");
  EtcdCluster cluster(small);
  auto target = target_of(cluster, cluster[0]);
  Api& api = caller.api();
  Result<Header> written = Header{};
  for (int i = 0; i < 40 && written; ++i)
    written = caller.put(target, "fill", std::string(500'000, 'x'));
  EXPECT_EQ(refused(written, Code::kUnavailable), Reason::kNoSpace);

  auto status = must(caller.status(target));
  EXPECT_FALSE(status.errors.empty());
  Alarm alarm{status.header.member, AlarmKind::kNoSpace};
  EXPECT_THAT(must(caller.run(api.alarms(target, soon()))), ElementsAre(alarm));

  must(caller.run(api.compact(target, {status.header.revision, true}, soon())));
  must(caller.run(api.defragment(target, soon())));
  must(caller.run(api.disarm(target, alarm, soon())));
  EXPECT_THAT(must(caller.run(api.alarms(target, soon()))), IsEmpty());
  must(caller.put(target, "fill", "v"));
}

TEST_P(EtcdFaults, WithAuthenticationOnStrangersAreForbidden) {
  EtcdCluster cluster(options(1));
  auto target = target_of(cluster, cluster[0]);
  for (const std::vector<std::string>& step :
       std::vector<std::vector<std::string>>{{"user", "add", "root:secret"},
                                             {"user", "grant-role", "root", "root"},
                                             {"auth", "enable"}}) {
    auto done = cluster.etcdctl(step);
    ASSERT_TRUE(done.ok()) << done.err;
  }
  EXPECT_EQ(refused(caller.put(target, "k", "v"), Code::kForbidden), Reason::kAuthUserEmpty);
  EXPECT_EQ(refused(caller.get(target, "k"), Code::kForbidden), Reason::kAuthUserEmpty);
  EXPECT_EQ(code_of(caller.list(target)), Code::kForbidden);
  EXPECT_EQ(refused(caller.run(caller.api().defragment(target, soon())), Code::kForbidden),
            Reason::kAuthUserEmpty);
}

Task<Result<Status>> status_of(Api& api, Target target, rt::Deadline deadline) {
  co_return co_await api.status(std::move(target), deadline);
}

TEST_P(EtcdFaults, ThePoolStaysBelowItsCeilingWhileEverybodyIsServed) {
  EtcdCluster& cluster = shared_cluster(version(), 3, EtcdSecurity::kMutualTls);
  PoolOptions small;
  small.max_connections = 2;
  Caller crowded(small);
  std::vector<Task<Result<Status>>> calls;
  for (int round = 0; round < 10; ++round)
    for (std::size_t i = 0; i < 3; ++i)
      calls.push_back(
          status_of(crowded.api(), target_of(cluster, cluster[i]), crowded.within(30s)));
  auto answers = crowded.run(rt::all(crowded.runtime(), std::move(calls)));
  for (auto& answer : answers) must(std::move(answer));
  auto counters = crowded.pool().counters();
  EXPECT_LE(counters.open, 2u);
  EXPECT_GE(counters.evicted, 1u);
  EXPECT_GE(counters.waits, 1u);
  EXPECT_EQ(counters.contexts, 1u) << "one identity, one TLS context";
}

INSTANTIATE_TEST_SUITE_P(Each, EtcdFaults, ::testing::ValuesIn(versions()),
                         [](const auto& info) { return label(info.param); });

}  // namespace
}  // namespace quorate::etcd
