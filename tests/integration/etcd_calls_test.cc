// Every call of etcd::Api against every version: one plain member, and three with mutual TLS.

#include "etcd/snapshot_check.h"
#include "etcd/witness.h"
#include "tests/integration/etcd_harness.h"
#include "tests/support/temp_dir.h"

namespace quorate::etcd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct World {
  std::string version;
  int members;
  EtcdSecurity security;
};

std::vector<World> worlds() {
  std::vector<World> all;
  for (const auto& version : versions()) {
    all.push_back({version, 1, EtcdSecurity::kPlain});
    all.push_back({version, 3, EtcdSecurity::kMutualTls});
  }
  return all;
}

std::string world_label(const ::testing::TestParamInfo<World>& info) {
  return label(info.param.version) + (info.param.members == 1 ? "_alone" : "_three_tls");
}

void PrintTo(const World& world, std::ostream* out) { *out << world.version; }

// Keys begin with the name of the test: the clusters are shared.
class EtcdCalls : public ::testing::TestWithParam<World> {
 protected:
  EtcdCalls()
      : cluster(shared_cluster(GetParam().version, GetParam().members, GetParam().security)),
        target(target_of(cluster, cluster[0])),
        prefix(::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    prefix = prefix.substr(0, prefix.find('/')) + "/";
  }

  rt::Deadline soon() { return caller.within(10s); }
  Api& api() { return caller.api(); }
  template <class T>
  Result<T> call(Task<Result<T>> task) {
    return caller.run(std::move(task));
  }
  Header put(const std::string& key, const std::string& value) {
    return must(caller.put(target, prefix + key, value));
  }
  std::vector<std::string> keys_of(const RangeAnswer& answer) {
    std::vector<std::string> keys;
    for (const auto& kv : answer.kvs) keys.push_back(kv.key.substr(prefix.size()));
    return keys;
  }
  std::vector<Target> all_targets() {
    std::vector<Target> all;
    for (std::size_t i = 0; i < cluster.size(); ++i) all.push_back(target_of(cluster, cluster[i]));
    return all;
  }

  EtcdCluster& cluster;
  Caller caller;
  Target target;
  std::string prefix;
};

TEST_P(EtcdCalls, PutRangeAndDelete) {
  put("a", "1");
  auto second = put("b", "2");
  put("c", std::string("\0\xff", 2));

  auto all = must(call(api().range(target, {.range = KeyRange::prefix(prefix)}, soon())));
  EXPECT_THAT(keys_of(all), ElementsAre("a", "b", "c"));
  EXPECT_EQ(all.kvs[2].value, std::string("\0\xff", 2));
  EXPECT_EQ(all.kvs[1].mod_revision, second.revision);
  EXPECT_EQ(all.kvs[1].version, 1);
  EXPECT_EQ(all.count, 3);
  EXPECT_FALSE(all.more);

  auto first = must(call(api().range(
      target, {.range = KeyRange::prefix(prefix), .limit = 1, .keys_only = true}, soon())));
  EXPECT_THAT(keys_of(first), ElementsAre("a"));
  EXPECT_EQ(first.kvs[0].value, "");
  EXPECT_TRUE(first.more);
  EXPECT_EQ(first.count, 3);

  auto counted = must(
      call(api().range(target, {.range = KeyRange::prefix(prefix), .count_only = true}, soon())));
  EXPECT_EQ(counted.count, 3);
  EXPECT_THAT(counted.kvs, IsEmpty());

  auto then = must(call(api().range(
      target, {.range = KeyRange::prefix(prefix), .revision = second.revision}, soon())));
  EXPECT_THAT(keys_of(then), ElementsAre("a", "b"));

  auto overwritten = must(call(api().put(target, {prefix + "a", "one", {}, true}, soon())));
  ASSERT_TRUE(overwritten.previous);
  EXPECT_EQ(overwritten.previous->value, "1");

  auto deleted = must(call(api().delete_range(target, {KeyRange::prefix(prefix), true}, soon())));
  EXPECT_EQ(deleted.deleted, 3);
  EXPECT_EQ(deleted.previous.size(), 3u);
  EXPECT_EQ(must(caller.get(target, prefix + "a")), std::nullopt);
}

TEST_P(EtcdCalls, EveryMemberAnswersWithItsOwnId) {
  auto members = must(caller.list(target));
  put("k", "v");
  std::set<MemberId> answered;
  for (const auto& each : all_targets()) {
    auto range = must(call(api().range(each, {.range = KeyRange::one(prefix + "k")}, soon())));
    EXPECT_EQ(range.kvs.size(), 1u);
    EXPECT_EQ(range.header.cluster, members.header.cluster);
    EXPECT_TRUE(members.find(range.header.member));
    answered.insert(range.header.member);
    auto local = must(call(api().range(
        each, {.range = KeyRange::one(prefix + "k"), .consistency = Consistency::kSerializable},
        soon())));
    EXPECT_EQ(local.header.member, range.header.member);
  }
  EXPECT_EQ(answered.size(), cluster.size());
}

TEST_P(EtcdCalls, TransactionsTakeOneOfTheirBranches) {
  const std::string key = prefix + "t";
  must(call(api().delete_range(target, {KeyRange::one(key), false}, soon())));
  TxnRequest create;
  create.compares = {Compare::absent(key)};
  create.success = {PutRequest{key, "made", {}, false}};
  create.failure = {RangeRequest{.range = KeyRange::one(key)}};

  auto made = must(call(api().txn(target, create, soon())));
  EXPECT_TRUE(made.succeeded);
  ASSERT_EQ(made.answers.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<PutAnswer>(made.answers[0]));

  auto kept = must(call(api().txn(target, create, soon())));
  EXPECT_FALSE(kept.succeeded);
  const auto& found = std::get<RangeAnswer>(kept.answers.at(0));
  EXPECT_EQ(found.kvs.at(0).value, "made");

  using T = Compare::Target;
  using R = Compare::Relation;
  auto revision = found.kvs[0].mod_revision.value();
  for (const auto& holds : std::vector<Compare>{{key, T::kValue, R::kEqual, 0, "made"},
                                                {key, T::kValue, R::kNotEqual, 0, "other"},
                                                {key, T::kModRevision, R::kEqual, revision, ""},
                                                {key, T::kModRevision, R::kLess, revision + 1, ""},
                                                {key, T::kCreateRevision, R::kGreater, 0, ""},
                                                {key, T::kLease, R::kEqual, 0, ""}}) {
    auto answer = must(call(api().txn(target, {{holds}, {}, {}}, soon())));
    EXPECT_TRUE(answer.succeeded) << static_cast<int>(holds.target);
  }

  TxnRequest remove{{}, {DeleteRequest{KeyRange::one(key), true}}, {}};
  auto removed = must(call(api().txn(target, remove, soon())));
  EXPECT_EQ(std::get<DeleteAnswer>(removed.answers.at(0)).previous.at(0).value, "made");
}

TEST_P(EtcdCalls, RequestsThatAreWrongAreRefusedByName) {
  EXPECT_EQ(refused(call(api().put(target, {"", "v", {}, false}, soon())), Code::kInvalid),
            Reason::kEmptyKey);
  for (std::size_t size :
       {std::size_t{1'600'000}, std::size_t{3'000'000}}) {  // etcd's, gRPC's limit
    PutRequest big{prefix + "big", std::string(size, 'x'), {}, false};
    EXPECT_EQ(refused(call(api().put(target, big, soon())), Code::kInvalid),
              Reason::kRequestTooLarge);
  }
  EXPECT_EQ(refused(call(api().put(target, {prefix + "k", "v", LeaseId(99), false}, soon())),
                    Code::kNotFound),
            Reason::kLeaseNotFound);
  TxnRequest twice{{}, {PutRequest{prefix + "k", "1", {}, false}}, {}};
  twice.success.push_back(twice.success[0]);
  EXPECT_EQ(refused(call(api().txn(target, twice, soon())), Code::kInvalid), Reason::kDuplicateKey);
  TxnRequest many;
  for (int i = 0; i < 200; ++i)
    many.success.push_back(PutRequest{prefix + std::to_string(i), "", {}, false});
  EXPECT_EQ(refused(call(api().txn(target, many, soon())), Code::kInvalid), Reason::kTooManyOps);
}

TEST_P(EtcdCalls, CompactionForgetsOldRevisions) {
  auto old = put("k", "1").revision;
  auto now = put("k", "2").revision;
  must(call(api().compact(target, {now, true}, soon())));
  EXPECT_EQ(refused(call(api().range(
                        target, {.range = KeyRange::one(prefix + "k"), .revision = old}, soon())),
                    Code::kGone),
            Reason::kCompacted);
  EXPECT_EQ(refused(call(api().range(target,
                                     {.range = KeyRange::one(prefix + "k"),
                                      .revision = Revision(now.value() + 1'000'000)},
                                     soon())),
                    Code::kUnavailable),
            Reason::kFutureRevision);
  EXPECT_EQ(refused(call(api().compact(target, {old, false}, soon())), Code::kGone),
            Reason::kCompacted);
}

TEST_P(EtcdCalls, StatusSaysWhatTheMemberIs) {
  auto written = put("k", "v");
  std::set<MemberId> leaders;
  for (const auto& each : all_targets()) {
    must(caller.get(each, prefix + "k"));  // it has applied the write
    auto status = must(caller.status(each));
    EXPECT_EQ(status.version, GetParam().version);
    EXPECT_EQ(status.header.cluster, written.cluster);
    EXPECT_FALSE(status.learner);
    EXPECT_THAT(status.errors, IsEmpty());
    EXPECT_GT(status.db_size, Bytes(0));
    EXPECT_LE(status.db_in_use, status.db_size);
    EXPECT_GT(status.applied_index, RaftIndex(0));
    EXPECT_LE(status.applied_index, status.raft_index);
    EXPECT_GT(status.term, RaftTerm(0));
    ASSERT_TRUE(status.leader);
    leaders.insert(*status.leader);
    bool modern = at_least(GetParam().version, "3.6");
    EXPECT_EQ(status.db_quota.has_value(), modern);
    // A new database is of the version before, until a monitor has looked at it.
    support::eventually(30s, "the storage has its version", [&] {
      const auto version = must(caller.status(each)).storage_version.substr(0, 3);
      return support::Look(version == (modern ? GetParam().version.substr(0, 3) : ""), version);
    });
  }
  EXPECT_EQ(leaders.size(), 1u);
}

TEST_P(EtcdCalls, MemberListNamesEveryMember) {
  for (const auto& each : all_targets()) {
    auto list = must(caller.list(each));
    EXPECT_EQ(list.members.size(), cluster.size());
    EXPECT_EQ(list.voters(), cluster.size());
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      const Member* member = list.find_by_peer_urls({cluster[i].peer_url()});
      ASSERT_TRUE(member);
      EXPECT_EQ(member->name, cluster[i].name());
      EXPECT_THAT(member->client_urls, ElementsAre(cluster[i].client_url()));
      EXPECT_TRUE(member->started());
      EXPECT_EQ(must(caller.status(target_of(cluster, cluster[i]))).header.member, member->id);
    }
  }
}

TEST_P(EtcdCalls, DefragmentationGivesSpaceBack) {
  for (int i = 0; i < 40; ++i) put(std::to_string(i), std::string(100'000, 'x'));
  auto last = must(call(api().delete_range(target, {KeyRange::prefix(prefix), false}, soon())));
  must(call(api().compact(target, {last.header.revision, true}, soon())));
  auto before = must(caller.status(target));
  must(call(api().defragment(target, caller.within(60s))));
  auto after = must(caller.status(target));
  EXPECT_LT(after.db_size.value() + 2'000'000, before.db_size.value());
}

TEST_P(EtcdCalls, HashesAreEqualAtOneRevision) {
  auto old = put("k", "1").revision;
  auto revision = put("k", "2").revision;
  std::set<std::uint32_t> hashes;
  std::set<Revision> compacted;
  for (const auto& each : all_targets()) {
    must(caller.get(each, prefix + "k"));
    auto hash = must(call(api().hash_kv(each, revision, soon())));
    EXPECT_EQ(hash.revision, revision);
    hashes.insert(hash.hash);
    compacted.insert(hash.compacted);
  }
  EXPECT_EQ(hashes.size(), 1u);
  EXPECT_EQ(compacted.size(), 1u);
  EXPECT_NE(must(call(api().hash_kv(target, old, soon()))).hash, *hashes.begin());

  auto newest = must(call(api().hash_kv(target, Revision(0), soon())));
  EXPECT_EQ(newest.revision.value() > 0, at_least(GetParam().version, "3.6"));
  EXPECT_EQ(refused(call(api().hash_kv(target, Revision(revision.value() + 1'000'000), soon())),
                    Code::kUnavailable),
            Reason::kFutureRevision);
}

TEST_P(EtcdCalls, NoAlarmsAndDisarmingNoneIsHarmless) {
  EXPECT_THAT(must(call(api().alarms(target, soon()))), IsEmpty());
  auto id = must(caller.status(target)).header.member;
  must(call(api().disarm(target, {id, AlarmKind::kNoSpace}, soon())));
  EXPECT_EQ(refused(call(api().disarm(target, {id, AlarmKind::kOther}, soon())), Code::kInvalid),
            Reason::kNone);
}

TEST_P(EtcdCalls, LeadershipMovesWhereItIsToldTo) {
  if (cluster.size() == 1) {
    auto self = must(caller.status(target)).header.member;
    EXPECT_EQ(refused(call(api().move_leader(target, MemberId(1), soon())), Code::kConflict),
              Reason::kBadLeaderTransferee);
    must(call(api().move_leader(target, self, soon())));
    return;
  }
  auto from = leader_of(caller, cluster);
  auto to = (from + 1) % cluster.size();
  auto heir = must(caller.status(target_of(cluster, cluster[to]))).header.member;
  EXPECT_EQ(refused(call(api().move_leader(target_of(cluster, cluster[to]), heir, soon())),
                    Code::kConflict),
            Reason::kNotLeader);
  must(call(api().move_leader(target_of(cluster, cluster[from]), heir, soon())));
  EXPECT_EQ(must(caller.status(target_of(cluster, cluster[to]))).leader, heir);
  EXPECT_EQ(leader_of(caller, cluster), to);
}

TEST_P(EtcdCalls, LeasesAreGrantedKeptAndRevoked) {
  auto lease = must(call(api().grant(target, {60s, LeaseId()}, soon())));
  EXPECT_NE(lease.id, LeaseId());
  EXPECT_EQ(lease.granted, 60s);
  must(call(api().put(target, {prefix + "k", "v", lease.id, false}, soon())));

  auto kept = must(call(api().keep_alive(target, lease.id, soon())));
  EXPECT_EQ(kept.id, lease.id);
  EXPECT_EQ(kept.ttl, 60s);
  auto left = must(call(api().time_to_live(target, lease.id, true, soon())));
  EXPECT_EQ(left.granted, 60s);
  EXPECT_GT(left.ttl, 50s);
  EXPECT_THAT(left.keys, ElementsAre(prefix + "k"));
  EXPECT_EQ(refused(call(api().grant(target, {60s, lease.id}, soon())), Code::kConflict),
            Reason::kLeaseExists);

  must(call(api().revoke(target, lease.id, soon())));
  EXPECT_EQ(must(caller.get(target, prefix + "k")), std::nullopt);
  EXPECT_EQ(refused(call(api().keep_alive(target, lease.id, soon())), Code::kNotFound),
            Reason::kLeaseNotFound);
  EXPECT_EQ(refused(call(api().time_to_live(target, lease.id, false, soon())), Code::kNotFound),
            Reason::kLeaseNotFound);
  EXPECT_EQ(refused(call(api().revoke(target, lease.id, soon())), Code::kNotFound),
            Reason::kLeaseNotFound);
}

TEST_P(EtcdCalls, AWatchSeesEveryChangeInOrder) {
  auto start = put("k", "0").revision;
  auto watch = must(call(api().watch(
      target, {KeyRange::prefix(prefix), Revision(start.value() + 1), false, true}, soon())));
  put("k", "1");
  put("other", "2");
  must(call(api().delete_range(target, {KeyRange::one(prefix + "k"), false}, soon())));

  std::vector<Event> events;
  while (events.size() < 3) {
    auto batch = must(call(watch->read(soon())));
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  }
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, Event::Kind::kPut);
  EXPECT_EQ(events[0].kv.value, "1");
  EXPECT_EQ(events[0].previous.value().value, "0");
  EXPECT_EQ(events[1].kv.key, prefix + "other");
  EXPECT_EQ(events[2].kind, Event::Kind::kDelete);
  EXPECT_EQ(events[2].previous.value().value, "1");
  EXPECT_LT(events[1].kv.mod_revision, events[2].kv.mod_revision);

  must(call(watch->request_progress(soon())));
  auto progress = must(call(watch->read(soon())));
  EXPECT_THAT(progress.events, IsEmpty());
  EXPECT_GE(progress.header.revision, events[2].kv.mod_revision);
}

TEST_P(EtcdCalls, AWatchFromACompactedRevisionIsGone) {
  auto old = put("k", "1").revision;
  auto now = put("k", "2").revision;
  must(call(api().compact(target, {now, true}, soon())));
  auto watch =
      must(call(api().watch(target, {KeyRange::prefix(prefix), old, false, false}, soon())));
  EXPECT_EQ(refused(call(watch->read(soon())), Code::kGone), Reason::kCompacted);
}

TEST_P(EtcdCalls, ASnapshotIsWholeAndEtcdsOwnToolAgrees) {
  for (int i = 0; i < 20; ++i) put(std::to_string(i), std::string(50'000, 'x'));
  auto stream = must(call(api().snapshot(target, soon())));
  std::string bytes;
  while (auto chunk = must(call(stream->read(soon())))) {
    bytes += chunk->bytes;
    EXPECT_GE(chunk->remaining, Bytes(0));
  }
  const auto& trailer = stream->trailer();
  EXPECT_EQ(trailer.size, Bytes(static_cast<std::int64_t>(bytes.size())));
  EXPECT_EQ(trailer.digest, bytes.substr(bytes.size() - 32));
  EXPECT_EQ(trailer.version.empty(), !at_least(GetParam().version, "3.6"));

  support::TempDir folder;
  auto file = folder.path() / "snapshot.db";
  support::write_file(file, bytes);
  bool has_tool = at_least(GetParam().version, "3.5");
  auto status = has_tool ? cluster.etcdutl({"snapshot", "status", file, "-w", "json"})
                         : cluster.etcdctl({"snapshot", "status", file, "-w", "json"});
  EXPECT_TRUE(status.ok()) << status.err;
  EXPECT_THAT(status.out, HasSubstr("totalKey"));
}

TEST_P(EtcdCalls, AnswersFromSomebodyElseAreRefused) {
  auto status = must(caller.status(target));
  Target right = target;
  right.cluster = status.header.cluster;
  right.member = status.header.member;
  must(caller.put(right, prefix + "right", "v"));
  must(call(api().defragment(right, caller.within(60s))));
  must(call(api().snapshot(right, soon())));
  must(call(api().watch(right, {KeyRange::prefix(prefix), {}, false, false}, soon())));

  Target other_cluster = right;
  other_cluster.cluster = ClusterId(1);
  EXPECT_EQ(refused(caller.status(other_cluster), Code::kConflict), Reason::kWrongCluster);
  EXPECT_EQ(refused(caller.list(other_cluster), Code::kConflict), Reason::kWrongCluster);
  EXPECT_EQ(refused(call(api().snapshot(other_cluster, soon())), Code::kConflict),
            Reason::kWrongCluster);
  Target other_member = right;
  other_member.member = MemberId(1);
  EXPECT_EQ(refused(call(api().watch(other_member, {KeyRange::one("k"), {}, false, false}, soon())),
                    Code::kConflict),
            Reason::kWrongMember);

  // A call that changes something is not even sent.
  EXPECT_EQ(refused(caller.put(other_member, prefix + "wrong", "v"), Code::kConflict),
            Reason::kWrongMember);
  EXPECT_EQ(must(caller.get(target, prefix + "wrong")), std::nullopt);
}

TEST_P(EtcdCalls, EveryVoterIsAWitnessOfTheSameLeader) {
  auto written = put("k", "v");
  std::set<MemberId> leaders, members;
  for (const auto& each : all_targets()) {
    auto seen = must(call(witness(api(), each, soon())));
    EXPECT_GE(seen.header.revision, written.revision);
    EXPECT_FALSE(seen.learner);
    leaders.insert(seen.leader);
    members.insert(seen.header.member);
  }
  EXPECT_EQ(leaders.size(), 1u);
  EXPECT_EQ(members.size(), cluster.size());
}

INSTANTIATE_TEST_SUITE_P(Each, EtcdCalls, ::testing::ValuesIn(worlds()), world_label);

}  // namespace
}  // namespace quorate::etcd
