#include "plan/any_world_test.h"

#include <rapidcheck.h>

#include "api/generators_test.h"
#include "api/names.h"

namespace quorate::plan {
namespace {

using api::any_flag;
using api::any_number;
using api::maybe;

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

// ---- Hostile observations ----

api::Identity any_identity(Ordinal ordinal) {
  api::Identity identity;
  identity.cluster_uid = Uid(pick<std::string>({"cluster-uid", "cluster-uid", "old"}));
  identity.ordinal = any_flag() ? ordinal : Ordinal(any_number(-1, 9));
  identity.incarnation = pick({1, 1, 1, 2});
  identity.formation = {pick({1, 1, 2, 0, 2147483647}), Ordinal(pick({0, 0, 3, 2147483647, -5})),
                        pick({3, 3, 1, 0, -7, 2147483647})};
  identity.cluster_id = maybe([] {
    return ClusterId(pick<std::uint64_t>({0xcafe, 0xcafe, 0xbeef}));
  });
  identity.member_id = maybe([] { return MemberId(pick<std::uint64_t>({0x100, 0x101, 0})); });
  identity.started = any_flag();
  identity.removed = pick({false, false, false, true});
  return identity;
}

Ordinal any_ordinal() { return Ordinal(pick({0, 1, 2, 3, 4, 5, 1'000'000'000, 2147483647})); }

RecordFacts any_record() {
  RecordFacts record;
  auto ordinal = any_ordinal();
  record.name = api::member_name("c", ordinal);
  record.uid = Uid(api::any_word());
  record.controller = maybe([] { return Uid(pick<std::string>({"cluster-uid", "old"})); });
  record.deleting = pick({false, false, true});
  record.created = api::any_time();
  record.spec = api::any_member_spec();
  record.spec.identity = any_identity(ordinal);
  return record;
}

ClaimFacts any_claim() {
  ClaimFacts claim;
  claim.ordinal = any_ordinal();
  claim.name = api::claim_name("c", claim.ordinal);
  claim.uid = Uid(api::any_word());
  if (any_flag()) claim.owners = {Uid("old")};
  claim.deleting = pick({false, false, true});
  claim.identity = maybe([&] { return any_identity(claim.ordinal); });
  claim.phase = pick({ClaimPhase::kBound, ClaimPhase::kPending, ClaimPhase::kLost});
  claim.requested = maybe(api::any_quantity);
  claim.capacity = maybe(api::any_quantity);
  return claim;
}

Terminated any_end() {
  return {pick({0, 1, 2, 64, 65, 66, 67, 68, 69, 137}), api::any_word(),
          pick<std::string>({"", R"({"reason":"x","data":false})", R"({"data":true})", "junk"})};
}

PodFacts any_pod() {
  PodFacts pod;
  pod.ordinal = any_ordinal();
  pod.name = api::member_name("c", pod.ordinal);
  pod.uid = Uid(api::any_word());
  pod.controller = maybe([] {
    return Uid(pick<std::string>({"cluster-uid", "cluster-uid", "old"}));
  });
  pod.deleting = pick({false, false, true});
  pod.identity = maybe([&] { return any_identity(pod.ordinal); });
  pod.first_pod = any_flag();
  pod.formation_open = any_flag();
  pod.held = any_flag();
  pod.rendered = pick<std::string>({api::any_word(), "3.6.15-0-0-0", "3.6.16-1-1-1", "---"});
  pod.reimaged_at = maybe([] { return std::int64_t{any_number(-1, 3)}; });
  pod.serving = any_flag();
  pod.voter = any_flag();
  if (any_flag()) pod.ip = "10.0.0.1";
  pod.phase = pick({PodPhase::kPending, PodPhase::kRunning, PodPhase::kFailed});
  pod.ready = any_flag();
  pod.ready_since = maybe(api::any_time);
  pod.node_silent_since = maybe(api::any_time);
  if (any_flag()) pod.etcd.waiting = pick<std::string>({"CrashLoopBackOff", "ErrImagePull"});
  pod.etcd.running = any_flag();
  pod.etcd.last = maybe(any_end);
  return pod;
}

MemberAnswer any_answer(const World& world) {
  MemberAnswer answer;
  answer.ordinal = any_ordinal();
  if (!world.seen.pods.empty()) {
    const auto& pod = *rc::gen::elementOf(world.seen.pods);
    answer.pod = pod.uid;
    answer.ordinal = pod.ordinal;
  }
  answer.asked_at = world.seen.now.monotonic - std::chrono::seconds(pick({0, 0, 30, 90}));
  answer.answered = pick({true, true, false});
  answer.alike_since = maybe([&] {
    return world.seen.now.monotonic - std::chrono::seconds(pick({0, 5, 3600}));
  });
  answer.revision = Revision(pick({0, 7, 7}));
  answer.cluster_id = ClusterId(pick<std::uint64_t>({0xcafe, 0xcafe, 0xbeef}));
  answer.member_id = MemberId(pick<std::uint64_t>({0x100, 0x101, 0x102}));
  answer.leader = maybe([] { return MemberId(0x100); });
  answer.learner = pick({false, false, true});
  answer.applied = RaftIndex(pick<std::uint64_t>({0, 0, 100'000}));
  answer.corrupt = pick({false, false, false, true});
  answer.version = pick<std::string>({"3.6.16", "", "junk"});
  answer.keys = maybe([] { return std::int64_t{any_number(0, 2)}; });
  if (any_flag()) {
    answer.members.emplace();
    for (int i = 0; i < any_number(0, 4); ++i)
      answer.members->push_back({MemberId(0x100 + static_cast<std::uint64_t>(i)),
                                 api::any_word(),
                                 {api::peer_url(world.seen.cluster.key, Ordinal(i), true)},
                                 pick({false, false, true}),
                                 any_flag()});
  }
  return answer;
}

SharedFacts any_shared(Shared which) {
  SharedFacts shared{.which = which, .uid = Uid(api::any_word())};
  shared.controller = maybe([] { return Uid(pick<std::string>({"cluster-uid", "old"})); });
  shared.deleting = pick({false, false, true});
  shared.drifted = any_flag();
  shared.certificate = maybe([] {
    return CertificateFacts{api::any_time(), api::any_time(), api::any_word()};
  });
  return shared;
}

HashRound any_hash_round(const World& world) {
  HashRound round{world.seen.now.monotonic - std::chrono::seconds(pick({0, 30, 7200})),
                  Revision(pick({0, 7})),
                  {}};
  for (int i = any_number(0, 3); i > 0; --i)
    round.hashes.push_back({any_ordinal(), MemberId(pick<std::uint64_t>({0x100, 0x101, 0x102})),
                            api::EtcdVersion{3, pick({5, 6, 6}), 16}, Revision(pick({0, 3})),
                            pick<std::uint32_t>({1, 1, 2})});
  return round;
}

}  // namespace

World hostile_world() {
  World world(api::any_cluster_spec());
  auto& seen = world.seen;
  seen.cluster.deleting = pick({false, false, false, true});
  seen.cluster.generation = any_number(0, 5);
  seen.cluster.status = maybe(api::any_cluster_status);
  if (pick({true, true, true, false})) {
    if (!seen.cluster.status) seen.cluster.status.emplace();
    seen.cluster.status->operator_identity = seen.op.identity;
  }
  if (pick({false, false, false, true})) seen.cluster.declared.reset();
  if (pick({false, false, false, true})) seen.cluster.key.name = api::any_word();
  for (int i = any_number(0, 5); i > 0; --i) seen.records.push_back(any_record());
  for (int i = any_number(0, 5); i > 0; --i) seen.claims.push_back(any_claim());
  for (int i = any_number(0, 5); i > 0; --i) seen.pods.push_back(any_pod());
  for (auto which : kAllShared)
    if (any_flag()) seen.shared.push_back(any_shared(which));
  for (int i = any_number(0, 4); i > 0; --i) seen.answers.push_back(any_answer(world));
  for (int i = any_number(0, 2); i > 0; --i) seen.hash_rounds.push_back(any_hash_round(world));
  seen.nudged_at = maybe([&] { return seen.now.monotonic - std::chrono::seconds(5); });
  if (pick({false, false, false, true})) seen.namespace_going_at = seen.now.monotonic;
  if (any_flag()) seen.endpoints = std::vector<std::string>{"10.0.0.1"};
  if (any_flag()) seen.taken_names = {"Pod c-0"};
  if (pick({false, false, false, true})) seen.unreadable = {"EtcdMember c-1 cannot be read"};
  if (any_flag()) seen.refusals = {{"Pod c-1", "create", "no", false, {}}};
  return world;
}

// ---- Reachable observations ----

namespace {

// What people, kubelets and bad luck do to a cluster.
void disturb(World& world) {
  auto ordinal = std::to_string(any_number(0, 5));
  auto name = "c-" + ordinal;
  switch (any_number(0, 21)) {
    case 0:
      world.delete_pod(name);
      break;
    case 1:
      world.delete_record(name);
      break;
    case 2:
      world.delete_claim("data-" + name);
      break;
    case 3:
      world.lose_status();
      break;
    case 4:
      if (world.pod(name))
        world.end_container(name, pick({1, 2, 64, 65, 67, 69, 137}),
                            pick<std::string>({R"({"data":false})", R"({"data":true})", ""}));
      break;
    case 5:
      world.silence();
      break;
    case 6:
      world.set_keys(any_number(0, 3));
      break;
    case 7:
      world.edit([](api::ClusterSpec& spec) { spec = api::any_cluster_spec(); });
      break;
    case 8:
      world.advance(std::chrono::seconds(any_number(1, 100000)));
      break;
    case 9:
      if (auto* pod = world.pod(name)) pod->deleting = true;
      break;
    case 10:
      if (auto* pod = world.pod(name)) pod->phase = PodPhase::kFailed;
      break;
    case 11:
      std::erase_if(world.seen.shared,
                    [which = pick({Shared::kPeerCa, Shared::kServerTls, Shared::kPeerService})](
                        const SharedFacts& one) { return one.which == which; });
      break;
    case 12:
      if (auto* claim = world.claim("data-" + name)) claim->uid = Uid("swapped");
      break;
    case 13:
      world.edit([](api::ClusterSpec& spec) {
        spec.image.tag = api::any_word();
        spec.additional_metadata = api::any_metadata();
        spec.disruption_budget.enabled = any_flag();
      });
      break;
    case 14:
    case 15:
      world.edit([](api::ClusterSpec& spec) { spec.replicas = any_number(0, 5); });
      break;
    case 16: {
      auto& list = world.list();
      if (list.size() > 1) list.pop_back();
      break;
    }
    case 17:
      if (world.seen.cluster.status) world.leave_intent("remove member 1 (c-1)");
      break;
    case 18:
      world.edit([](api::ClusterSpec& spec) {
        spec.version = api::EtcdVersion{3, 6, pick({15, 16})};
      });
      break;
    case 19:
      world.edit([](api::ClusterSpec& spec) {
        spec.resources.requests.memory =
            *api::Quantity::parse(pick<std::string>({"128Mi", "256Mi"}));
      });
      break;
    case 20:
      if (auto* pod = world.pod(name)) pod->etcd = {.waiting = "ImagePullBackOff"};
      break;
    default:
      world.run_pods();
      world.answer();
  }
}

}  // namespace

World disturbed_world() {
  api::ClusterSpec spec;
  spec.replicas = pick({1, 2, 3, 5});
  if (any_flag()) spec.storage = {std::nullopt, api::EmptyDirStorage{}, {}};
  World world(spec);
  for (int i = any_number(0, 12); i > 0; --i) {
    if (pick({true, true, false})) {
      world.run_pods();
      world.answer();
    }
    world.pass(pick({1000, 1000, 1, 2, 3}));
    if (pick({false, false, true})) disturb(world);
  }
  return world;
}

World any_world() { return any_flag() ? hostile_world() : disturbed_world(); }

}  // namespace quorate::plan
