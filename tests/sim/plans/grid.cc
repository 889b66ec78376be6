#include "tests/sim/plans/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;
using Kinds = std::vector<FaultKind>;
using Activities = std::vector<Activity>;
using Names = std::vector<std::string_view>;
using Reached = std::function<bool(const Trial&, const Outcome&)>;
using K = FaultKind;
using A = Activity;

template <class List, class T>
bool has(const List& list, const T& what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

// ---- What a run may have to show ----

// One of these befell the cluster while one of these went on (none given: whatever went on), and
// lasted at least so long.
Reached during(Kinds kinds, Activities activities = {}, Duration least = {}) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::any_of(outcome.injections.begin(), outcome.injections.end(), [&](const auto& one) {
      return has(kinds, one.fault.kind) && one.fault.duration >= least &&
             (activities.empty() || has(activities, one.activity));
    });
  };
}

// One of these hit this side effect: `POST pods`, `add learner`.
Reached at(Kinds kinds, std::string operation, std::optional<Moment> moment = {}) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::any_of(outcome.injections.begin(), outcome.injections.end(), [&](const auto& one) {
      return has(kinds, one.fault.kind) && one.operation == operation &&
             (!moment || one.fault.moment == *moment);
    });
  };
}

// Two or more of these.
Reached twice(Kinds kinds) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::count_if(outcome.injections.begin(), outcome.injections.end(),
                         [&](const auto& one) { return has(kinds, one.fault.kind); }) >= 2;
  };
}

Reached in_story(Names names) {
  return [=](const Trial& trial, const Outcome&) { return has(names, trial.scenario->name); };
}

// The user did this, word for word, while one of these went on.
Reached while_doing(std::string deed, Activities activities) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::any_of(outcome.deeds.begin(), outcome.deeds.end(), [&](const auto& one) {
      return one.first == deed && has(activities, one.second);
    });
  };
}

// An operator made so many Pods go, and asked for no other member.
Reached only_restarts(int pods) {
  return [=](const Trial&, const Outcome& outcome) {
    int gone = 0;
    for (const auto& [what, count] : outcome.counts)
      if (what.starts_with("DELETE pods")) gone += count;
    return gone >= pods &&
           std::none_of(outcome.effects.begin(), outcome.effects.end(),
                        [](const auto& effect) { return effect.method == "add learner"; });
  };
}

// An operator asked this of members.
Reached did(std::string operation) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::any_of(outcome.effects.begin(), outcome.effects.end(),
                       [&](const auto& effect) { return effect.method == operation; });
  };
}

// It asked for one of these, and later for another.
Reached did_then(std::string first, std::string then) {
  return [=](const Trial&, const Outcome& outcome) {
    const auto is = [](const std::string& operation) {
      return [&operation](const auto& effect) { return effect.method == operation; };
    };
    const auto& effects = outcome.effects;
    const auto begun = std::find_if(effects.begin(), effects.end(), is(first));
    return std::any_of(begun, effects.end(), is(then));
  };
}

// Not once, of anybody.
Reached never_did(std::string operation) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::none_of(outcome.effects.begin(), outcome.effects.end(),
                        [&](const auto& effect) { return effect.method == operation; });
  };
}

// A side effect of which this is true.
Reached with_effect(std::function<bool(const Fate::Effect&)> is_so) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::any_of(outcome.effects.begin(), outcome.effects.end(), is_so);
  };
}

// The user asked for a version of which this is true.
Reached asked_for(std::function<bool(const etcdsim::Version&)> is_so) {
  return [=](const Trial& trial, const Outcome&) {
    return std::any_of(trial.edits.begin(), trial.edits.end(), [&](const Edit& edit) {
      const auto version = etcdsim::Version::parse(json::text_or(edit.spec, "/version", ""));
      return version && is_so(*version);
    });
  };
}

// The invariant was asked for, and held.
Reached held(std::string id) {
  return [=](const Trial&, const Outcome& outcome) {
    return outcome.evaluations.contains(id) && !outcome.violates(id);
  };
}

// What had clients was to go to a version that is this many minors above: between the two.
Reached moved(int least, int most) {
  return [=](const Trial&, const Outcome& outcome) {
    return std::any_of(outcome.versions.begin(), outcome.versions.end(), [&](const auto& move) {
      const auto from = etcdsim::Version::parse(move.first);
      const auto to = etcdsim::Version::parse(move.second);
      return from && to && to->minor - from->minor >= least && to->minor - from->minor <= most;
    });
  };
}

Reached edited(std::string property) {
  return [=](const Trial&, const Outcome& outcome) {
    for (const auto* edits : {&outcome.edits, &outcome.refused})
      for (const auto& [what, count] : *edits)
        if (what.starts_with(property)) return true;
    return false;
  };
}

Reached was_not_answered(int status) {
  return [=](const Trial&, const Outcome& outcome) { return !outcome.answers.contains(status); };
}
Reached was_answered(int status) {
  return [=](const Trial&, const Outcome& outcome) { return outcome.answers.contains(status); };
}

Reached all_of(std::vector<Reached> parts) {
  return [=](const Trial& trial, const Outcome& outcome) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return part(trial, outcome); });
  };
}
Reached any_of(std::vector<Reached> parts) {
  return [=](const Trial& trial, const Outcome& outcome) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return part(trial, outcome); });
  };
}

const Kinds kLosesLeader{K::kCrash, K::kPause, K::kHandOver};
const Kinds kDown{K::kKill, K::kStop, K::kPowerOff, K::kReboot, K::kDeletePod, K::kCutNode};
const Kinds kStale{K::kFreezeWatches, K::kHalfOpen};

// ---- The catalogue ----

std::vector<Cell> bootstrap() {
  return {
      {"B01", "crash between the first writes", during({K::kCrash}, {A::kForming})},
      {"B02", "several Pods start first, each seeing other peers",
       during({K::kBreakNames, K::kCutMember, K::kCutOneWay, K::kDeletePod}, {A::kForming})},
      {"B03", "replicas are edited before all initial members exist", in_story({"hasty"})},
      {"B04", "0, 1, 0 and 3 replicas in the first minutes", in_story({"hesitant"})},
      {"B05", "the second member's Pod takes minutes",
       during({K::kForbidCreates, K::kPowerOff, K::kStallDisk}, {A::kGrowing}, 30s)},
      {"B06", "deleted and declared again, old Pods not collected yet",
       any_of({in_story({"recreate"}), during({K::kRecreateCluster})})},
      {"B07", "names are not resolved for a while", during({K::kBreakNames}, {A::kForming})},
      {"B08", "etcd is killed before it has applied anything", during({K::kKill}, {A::kForming})},
      {"B09", "a member's volume returns empty, or older than it was",
       during({K::kWipeAndKill, K::kWipe, K::kRollBack}, {A::kSteady})},
      {"B10", "Pod-bound storage, all Pods restart", in_story({"lost-pods"})},
      {"B11", "the image does not exist", in_story({"edits"})},
      {"B12", "a quota refuses one create", during({K::kForbidCreates}, {A::kForming})},
      {"B13", "leadership moves during formation", during(kLosesLeader, {A::kForming})},
      {"B14", "readiness needs a quorum, peers resolve before it",
       all_of({during({K::kStop, K::kStallDisk, K::kCutMember, K::kCutPair, K::kPowerOff},
                      {A::kForming}, 3s),
               held("S18")})},
      {"B15", "the first status is written, and nothing that it requires is missing",
       all_of({with_effect([](const auto& effect) {
                 return effect.path.find("/etcdclusters/") != std::string::npos &&
                        effect.path.ends_with("/status");
               }),
               was_not_answered(422)})},
  };
}

std::vector<Cell> scale_up() {
  return {
      {"U01", "crash after MemberAdd", at({K::kCrash}, "add learner", Moment::kAfterApply)},
      {"U02", "MemberAdd's reply is lost",
       any_of({at({K::kLoseReply}, "add learner"), during({K::kLoseEtcdReplies}, {A::kGrowing})})},
      {"U03", "MemberAdd is tried again", at({K::kLoseRequest, K::kLoseReply}, "add learner")},
      {"U04", "the membership changes while a learner boots",
       all_of({while_doing("edits c", {A::kGrowing}), did_then("add learner", "remove member")})},
      {"U05", "crash between the addition and the Pod", during({K::kCrash}, {A::kGrowing})},
      {"U06", "a learner on a slow link or disk",
       during({K::kSlowNetwork, K::kStallDisk}, {A::kGrowing})},
      {"U07", "the last learner is promoted", did("promote learner")},
      {"U08", "only voters are asked while there is a learner", did("promote learner")},
      {"U09", "promotion by way of a follower, with auth", {}, "auth is not managed"},
      {"U10", "a voter is down when more are wanted", during(kDown, {A::kGrowing})},
      {"U11", "the leader is killed after the addition", during({K::kKill}, {A::kGrowing})},
      {"U12", "the user reverts in the middle", in_story({"resize", "nap"})},
      {"U13", "a member restarts at size 2",
       all_of({in_story({"grow", "sizes", "resize"}), during(kDown, {A::kGrowing})})},
      {"U14", "a restart is not taken for growth", all_of({in_story({"roll"}), only_restarts(3)})},
      {"U15", "TLS is switched on or off in an edit", edited("tls.")},
      {"U16", "a new Pod finds no node, then the user reverts",
       all_of({in_story({"no-room"}), did_then("add learner", "remove member")})},
      {"U17", "no learner is updated", all_of({did("add learner"), never_did("update member")})},
      {"U18", "names are never used again", did_then("remove member", "add learner")},
  };
}

std::vector<Cell> scale_down() {
  return {
      {"D01", "the Pod goes after the member", did("remove member")},
      {"D02", "crash after MemberRemove", at({K::kCrash}, "remove member", Moment::kAfterApply)},
      {"D03", "a member is down already", during(kDown, {A::kShrinking})},
      {"D04", "two removals decided on one view",
       all_of({in_story({"shrink", "plunge"}), during(kStale, {A::kShrinking})})},
      {"D05", "the victim leads", did("move leader")},
      {"D06", "later growth finds the old volume",
       all_of({did_then("remove member", "add learner"), held("S9")})},
      {"D07", "growth while an old claim is still going",
       with_effect([](const auto& effect) { return effect.beside_leaving_claim; })},
      {"D08", "a Pod is gone and nothing shrinks", during({K::kDeletePod}, {A::kSteady})},
      {"D09", "no member can be asked", during({K::kCutFromEtcd}, {A::kShrinking})},
      {"D10", "5 to 1 in one edit, with crashes",
       all_of({in_story({"plunge"}), during({K::kCrash})})},
      {"D11", "3, 0 and 3 with stale caches",
       all_of({in_story({"sleep-three", "sleep-one", "sleep-five"}), during(kStale)})},
      {"D12", "removal during a roll",
       all_of({in_story({"recede"}), while_doing("edits c", {A::kRolling}), did("remove member")})},
      {"D13", "an operator finds a member without a name",
       any_of({at({K::kCrash}, "add learner", Moment::kAfterApply),
               at({K::kLoseReply}, "add learner")})},
      {"D14", "one of two is dead, one is wanted", in_story({"lost-of-two"})},
  };
}

std::vector<Cell> heal() {
  return {
      {"R01", "a Pod is deleted", during({K::kDeletePod}, {A::kSteady})},
      {"R02", "a volume is lost", during({K::kLoseVolume})},
      {"R03", "a directory is emptied", during({K::kWipe, K::kWipeAndKill}, {A::kSteady})},
      {"R04", "a log or a database is damaged", during({K::kCorruptLog, K::kCorruptDatabase})},
      {"R05", "the logs of a majority are damaged", twice({K::kCorruptLog, K::kCorruptDatabase})},
      {"R06", "a member is killed again and again", twice({K::kKill})},
      {"R07", "unready for long", during({K::kStop, K::kCutMember}, {}, 30s)},
      {"R08", "one endpoint hangs", during({K::kStop}, {A::kSteady})},
      {"R09", "a partitioned member answers", during({K::kCutPeers}, {A::kSteady})},
      {"R10", "a CORRUPT alarm", all_of({during({K::kRaiseCorrupt}), held("L7"), held("S29")})},
      {"R11", "hashes differ without an alarm",
       all_of({during({K::kTamper}), held("L7"), held("S29")})},
      {"R12", "a node is lost, its Pod never ends",
       any_of({during({K::kLoseNode}), during({K::kPowerOff, K::kCutNode}, {}, 70s)})},
      {"R13", "addresses change", during({K::kReboot})},
      {"R14", "the first member breaks, later", in_story({"lost-data", "heal"})},
      {"R15", "two of five break at once", in_story({"lost-two"})},
      {"R16", "everything off and on", in_story({"restart", "blackout"})},
      {"R17", "two of three Pods are deleted", twice({K::kDeletePod})},
      {"R18", "a removed member's process runs on",
       during({K::kCutNode, K::kStop, K::kPowerOff}, {A::kShrinking})},
      {"R19", "a crash loop beside a stale view",
       all_of({during({K::kCorruptLog, K::kCorruptDatabase}), during(kStale)})},
  };
}

std::vector<Cell> roll() {
  return {
      {"V01", "crash between restarts", during({K::kCrash}, {A::kRolling})},
      {"V02", "a member is unhealthy when a roll is wanted",
       all_of({in_story({"roll"}), while_doing("edits c", {A::kBroken})})},
      {"V03", "the first upgraded member crashes",
       all_of({in_story({"roll", "overhaul"}), during({K::kKill}, {A::kRolling})})},
      {"V04", "a stuck roll is reverted", while_doing("goes back to 3.6.15", {A::kRolling})},
      {"V05", "a minor is skipped", moved(2, 99)},
      {"V06", "a version below its minor's floor is asked for",
       all_of(
           {asked_for([](const auto& version) { return version.minor == 5 && version.patch < 26; }),
            held("S16")})},
      {"V07", "a downgrade is refused", all_of({moved(-99, -1), held("S16")})},
      {"V08", "followers first, leader last", all_of({in_story({"roll"}), did("move leader")})},
      {"V09", "the next restart waits for the last",
       during({K::kStop, K::kStallDisk, K::kSlowNetwork, K::kCutMember}, {A::kRolling})},
      {"V10", "an option of another version", edited("options")},
      {"V11", "an image is missing on one node", in_story({"absent-image"})},
      {"V12", "everything in one edit",
       all_of({in_story({"overhaul"}), did("add learner"), did("promote learner")})},
      {"V13", "a newer operator renders otherwise",
       all_of({in_story({"newer-operator"}), only_restarts(1)})},
      {"V14", "an immutable field changes", {}, "there is no StatefulSet"},
      {"V15", "certificates are renewed during a roll",
       with_effect([](const auto& effect) { return effect.activity == A::kRolling; })},
      {"V16", "a backup before a minor upgrade", {}, "there are no backups yet"},
      {"V17", "an eviction during a roll", during({K::kEvictPod}, {A::kRolling})},
      {"V18", "a webhook changes the Pod", all_of({in_story({"webhook"}), only_restarts(3)})},
      {"V19", "one restart for one change", all_of({in_story({"roll"}), held("L3")})},
  };
}

std::vector<Cell> deletion() {
  const Kinds unreachable{K::kCutFromEtcd, K::kPowerOff, K::kStop, K::kCutMember};
  return {
      {"G01", "deleted while etcd cannot be reached",
       all_of({in_story({"delete"}), during(unreachable)})},
      {"G02", "its namespace is deleted", {}, "all live in the namespace that cannot be deleted"},
      {"G03", "the CRD is deleted", {}, "definitions are installed for good"},
      {"G04", "no operator for long", in_story({"blackout"})},
      {"G05", "declared again, old news arrive late",
       any_of({in_story({"recreate"}), during({K::kRecreateCluster})})},
      {"G06", "orphaned, then declared again", {}, "orphans are not simulated"},
      {"G07", "deleted while it forms or changes",
       during({K::kDeleteCluster}, {A::kForming, A::kGrowing, A::kShrinking})},
      {"G08", "owners stay in their namespace", all_of({in_story({"two"}), held("S27")})},
      {"G09", "volumes were kept, the name is declared again",
       any_of({in_story({"recreate"}), during({K::kRecreateCluster})})},
      {"G10", "a finalizer is removed by hand", {}, "there are no finalizers"},
  };
}

std::vector<Cell> api() {
  return {
      {"P01", "the cache lags", during({K::kFreezeWatches})},
      {"P02", "a write conflicts", was_answered(409)},
      {"P03", "410", during({K::kForgetHistory})},
      {"P04", "half-open streams", during({K::kHalfOpen})},
      {"P05", "a version that the server does not have yet", {}, "tests of kube::WatchMachine"},
      {"P06", "429, 500, refused connections",
       during({K::kThrottle, K::kRefuseWrites, K::kRefuseReads, K::kOutage})},
      {"P07", "carried out, reply lost", during({K::kLoseReply})},
      {"P08", "a start before the caches are there",
       all_of({during({K::kCrash, K::kHandOver}), during({K::kDelayCalls, K::kOutage})})},
      {"P09", "lists in another order", {}, "the API lists by name"},
      {"P10", "status is wiped or rewound", during({K::kWipeStatus, K::kRewindStatus})},
      {"P11", "a webhook is down", {}, "there is no webhook of ours"},
      {"P12", "a webhook matches status", {}, "there is no webhook of ours"},
      {"P13", "one verb is forbidden", during({K::kForbidWrites})},
      {"P14", "others edit children", during({K::kDropServing})},
      {"P15", "ten idle minutes",
       [](const Trial&, const Outcome& outcome) { return outcome.quiet; }},
      {"P16", "a continue token expires", {}, "tests of kube::Client"},
      {"P17", "generateName and a lost reply", {}, "names are never generated"},
      {"P18", "the token is renewed", {}, "below the seam"},
      {"P19", "events come twice", during({K::kDuplicateEvents})},
      {"P20", "versions go back", {}, "the simulated storage is never restored"},
      {"P21", "two stored versions", {}, "there is one version"},
      {"P22", "one of two API servers is stale",
       all_of({during({K::kFreezeWatches}), during(kLosesLeader)})},
  };
}

std::vector<Cell> process() {
  return {
      {"O01", "killed at a side effect",
       [](const Trial&, const Outcome& outcome) {
         return std::any_of(
             outcome.injections.begin(), outcome.injections.end(),
             [](const auto& one) { return one.fault.kind == K::kCrash && !one.operation.empty(); });
       }},
      {"O02", "stopped for longer than its lease", during({K::kPause}, {}, 30s)},
      {"O03", "its clock jumps", during({K::kWallJump})},
      {"O04", "the Lease is deleted", during({K::kDeleteLease})},
      {"O05", "others cannot be reached",
       all_of({in_story({"two"}), during({K::kCutMember, K::kStop, K::kCutNode}, {}, 30s)})},
      {"O06", "a poisonous declaration", all_of({held("L12"), held("L7")})},
      {"O07", "no API for minutes", during({K::kOutage}, {}, 120s)},
      {"O08", "old and new operators overlap", during({K::kHandOver})},
      {"O09", "out of memory or files", {}, "neither is simulated"},
      {"O10", "an error repeats for days", {}, "lines of the log are not counted"},
  };
}

std::vector<Cell> platform() {
  return {
      {"N01", "partitions among members",
       during({K::kCutMember, K::kCutPeers, K::kCutOneWay, K::kCutPair, K::kCutNode})},
      {"N02", "cut from etcd, or from the API, alone", during({K::kCutFromEtcd, K::kOutage})},
      {"N03", "the client port is open, the peer port shut", during({K::kCutPeers})},
      {"N04", "200 ms", during({K::kSlowNetwork})},
      {"N05", "disks stall, are full or take no writes",
       during({K::kStallDisk, K::kFullDisk, K::kReadOnly})},
      {"N06", "two evictions", twice({K::kEvictPod})},
      {"N07", "members share a node that dies",
       all_of({in_story({"five", "sleep-five", "lost-two", "sizes"}), during({K::kPowerOff})})},
      {"N08", "crash while a volume grows",
       all_of({edited("storage.claim.size"), during({K::kCrash})})},
      {"N09", "the quorum is lost, nobody is killed for it", twice({K::kPowerOff, K::kStop})},
      {"N10", "IPv6", {}, "addresses are names here"},
      {"N11", "the leader is stopped for long", during({K::kStop}, {}, 15s)},
      {"N12", "a container starts again with what its Pod says",
       during({K::kKill, K::kReboot}, {A::kSteady, A::kBroken})},
  };
}

}  // namespace

const std::vector<Cell>& grid() {
  static const std::vector<Cell> kAll = [] {
    std::vector<Cell> out;
    for (auto&& part : {bootstrap(), scale_up(), scale_down(), heal(), roll(), deletion(), api(),
                        process(), platform()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return kAll;
}

void GridCoverage::add(const Trial& trial, const Outcome& outcome) {
  for (const auto& cell : grid())
    if (cell.reached && !reached_.contains(cell.id) && cell.reached(trial, outcome))
      reached_.insert(cell.id);
}

std::string GridCoverage::text() const {
  std::string unreached;
  std::size_t apply = 0;
  for (const auto& cell : grid()) {
    if (!cell.reached) continue;
    ++apply;
    if (!reached_.contains(cell.id))
      unreached += fmt::format("{}{}", unreached.empty() ? "" : ", ", cell.id);
  }
  return fmt::format("{} of {}; not reached: {}; beyond the simulator: {}", reached_.size(), apply,
                     unreached.empty() ? "none" : unreached, grid().size() - apply);
}

}  // namespace quorate::sim
