#include <memory>

#include "api/cluster.h"
#include "api/names.h"
#include "tests/sim/museum/broken_rules.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/museum/mutant.h"
#include "tests/sim/museum/parts.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// ---- Formation and identity ----

// The first members lose their disks and their Pods after the cluster has formed.
Plan emptied(int members) {
  Plan plan;
  for (int i = 0; i < members; ++i) {
    plan.faults.push_back(fault(FaultKind::kBlankDisk, 60s, i));
    plan.faults.push_back(fault(FaultKind::kDeletePod, 61s, i));
  }
  return plan;
}

void tell_it_is_alone(json::Value& pod) {
  const auto name = name_in(pod);
  set(pod, "/metadata/annotations/quorate.io~1initial-cluster",
      json::Value(name + "=http://" + name + ".c-peer.default.svc:2380"));
}

void mount_the_first_volume(json::Value& pod) {
  auto* volumes = json::find(pod, "/spec/volumes");
  if (!volumes || !volumes->is_array()) return;
  for (auto& volume : volumes->as_array())
    if (json::find(volume, "/persistentVolumeClaim"))
      set(volume, "/persistentVolumeClaim/claimName", "data-c-0");
}

// However its number of voters changes, the guard is not told how far the member's log went.
void tell_no_floor(json::Value& pod) {
  json::remove(pod, "/metadata/annotations/quorate.io~1raft-floor");
}

void take_an_old_image(json::Value& pod) {
  if (name_in(pod) == "c-1")
    set(pod, "/spec/containers/0/image",
        json::Value(std::string(api::kDefaultEtcdRepository) + ":v3.4.23"));
}

std::vector<Mutant> of_formation() {
  return {
      {"new-for-ever",
       "Pods are told for ever that the formation is open",
       {"S10"},
       "data",
       {emptied(1)},
       decides(rules_new_for_ever()),
       150s},
      {"new-on-loss",
       "an emptied member starts anew under its old identity",
       {"S3"},
       "data",
       {emptied(3)},
       decides(rules_new_for_ever()),
       150s},
      {"new-again",
       "members that lost everything form the cluster anew",
       {"S1", "Linearizable"},
       "data",
       {emptied(3)},
       decides(rules_new_for_ever()),
       150s},
      {"alone",
       "each Pod is told that it is the only member",
       {"S11"},
       "form",
       {kNothing},
       edits_body("POST", "/pods", tell_it_is_alone),
       60s},
      {"alone-and-served",
       "each member is a cluster, and all of them are served",
       {"S2"},
       "form",
       {kNothing},
       both(edits_body("POST", "/pods", tell_it_is_alone), decides(rules_serving_at_once())),
       60s},
      {"opens-at-once",
       "clients are let in while some Pods do not know yet that the cluster has formed",
       {"S33"},
       "form",
       {kNothing},
       decides(rules_open_at_once()),
       60s},
      {"one-volume",
       "all Pods mount the first member's volume",
       {"S9"},
       "form",
       {kNothing},
       edits_body("POST", "/pods", mount_the_first_volume),
       60s},
      {"floorless",
       "the guard is not told how far a member's log went: a copy from before starts",
       {"S1", "S2", "S3", "Linearizable"},
       "rolled-back-seed",
       {kNothing},
       both(edits_body("POST", "/pods", tell_no_floor),
            edits_body("PATCH", "/pods/", tell_no_floor)),
       400s},
      {"mixed-versions",
       "one member gets an image of long ago",
       {"S16"},
       "form",
       {kNothing},
       edits_body("POST", "/pods", take_an_old_image),
       60s},
  };
}

// ---- Members ----

// One plan for each side effect of these numbers.
std::vector<Plan> at_each_effect(FaultKind kind, std::uint64_t first, std::uint64_t last) {
  std::vector<Plan> out;
  for (auto effect = first; effect <= last; ++effect) {
    auto one = fault(kind, 0s);
    one.effect = effect;
    out.push_back({{one}});
  }
  return out;
}

std::vector<Mutant> of_members() {
  const Plan one_down{{fault(FaultKind::kPowerOff, 60s, 1, 200s)}};
  const Plan relabelled{{fault(FaultKind::kDropServing, 60s)}};
  const Plan down_and_relabelled{
      {fault(FaultKind::kPowerOff, 50s, 1, 100s), fault(FaultKind::kDropServing, 60s)}};
  const Plan cut_off{
      {fault(FaultKind::kPowerOff, 30s, 0, 250s), fault(FaultKind::kPowerOff, 30s, 1, 250s)}};
  return {
      {"adds-voters",
       "adds a voter to a cluster that has formed",
       {"S6"},
       "form",
       {kNothing},
       adds_a_voter(),
       150s},
      {"removes-the-living",
       "removes a member that is needed",
       {"S7"},
       "form",
       {one_down},
       removes_who_answers(),
       200s},
      {"hurries",
       "sends a second change before the first is answered",
       {"S5"},
       "form",
       {kNothing},
       adds_two_at_once(),
       150s},
      {"asks-again",
       "takes an addition whose answer was lost for one that failed, and adds again",
       {"S5"},
       "grow",
       at_each_effect(FaultKind::kLoseReply, 20, 50),
       adds_again_without_an_answer(),
       90s},
      {"remembers-members",
       "removes members by a list that it read long ago",
       {"S13"},
       "shrink",
       {kNothing},
       remembers_members(),
       200s},
      {"ponders",
       "adds a member although its lease may be over",
       {"S14"},
       "grow",
       {Plan{{fault(FaultKind::kPause, 45s, 0, 70s)}},
        Plan{{fault(FaultKind::kPause, 45s, 1, 70s)}}},
       thinks_before_it_adds(),
       150s},
      {"ignores-alarms",
       "goes on although an alarm says that data is corrupt",
       {"S29", "L7"},
       "corrupt",
       {kNothing},
       hears_no_doubt()},
      {"ignores-differences",
       "goes on although the data of members differ",
       {"S29", "L7"},
       "diverged",
       {kNothing},
       hears_no_doubt()},
      {"deletes-first",
       "deletes the Pod that holds the data of a member that is listed",
       {"S8"},
       "pod-bound",
       {relabelled},
       deletes_pods({"c-0"}),
       100s},
      {"rolls-at-once",
       "stops a member before the last one is back",
       {"S15"},
       "form",
       {relabelled},
       deletes_pods({"c-0", "c-1"}),
       100s},
      {"breaks-the-quorum",
       "stops members while one is down",
       {"S4"},
       "form",
       {down_and_relabelled},
       deletes_pods({"c-0", "c-1", "c-2"}),
       150s},
      {"destroys-in-need",
       "deletes a volume when the quorum is gone",
       {"S29"},
       "form",
       {cut_off},
       deletes_a_volume_in_need(),
       200s},
      {"tidies-up",
       "deletes a volume with the Pod when members go to sleep",
       {"S8"},
       "asleep",
       {kNothing},
       deletes_a_volume_with_its_pod(),
       100s},
      {"no-budget",
       "a disruption budget that allows everything",
       {"S24"},
       "form",
       {kNothing},
       edits_body("POST PATCH", "/poddisruptionbudgets",
                  [](json::Value& body) { set(body, "/spec/minAvailable", 0); }),
       60s},
  };
}

// ---- How it writes ----

Plan pauses() {
  Plan plan;
  for (std::uint64_t effect = 1; effect <= 60; effect += 6) {
    auto one = fault(FaultKind::kPause, 0s, 0, 60s);
    one.effect = effect;
    plan.faults.push_back(one);
  }
  return plan;
}

void read_what_is_remembered(net::Request& request) {
  const bool query = request.path.find('?') != std::string::npos;
  request.path += query ? "&resourceVersion=0" : "?resourceVersion=0";
}

void write_the_declaration(net::Request& request) {
  request.path = request.path.substr(0, request.path.find("/status"));
}

// Objects of cluster d get the owner of those of cluster c.
void mix_owners_up(WorldOptions& options) {
  auto owner = std::make_shared<json::Value>();
  edits_body("POST", "/etcdmembers", [owner](json::Value& body) {
    auto* owners = json::find(body, "/metadata/ownerReferences");
    if (!owners) return;
    if (name_in(body).starts_with("c-"))
      *owner = *owners;
    else if (!owner->is_null())
      *owners = *owner;
  })(options);
}

std::vector<Mutant> of_writes() {
  Fault lost_reply = fault(FaultKind::kLoseReply, 0s);
  lost_reply.effect = 6;
  return {
      {"never-content",
       "writes what stands there already",
       {"S28"},
       "form",
       {kNothing},
       says_it_again(),
       60s},
      {"dawdles",
       "sends writes although its lease may be over",
       {"S14"},
       "form",
       {pauses()},
       ignores_its_lease(),
       150s},
      {"renames",
       "takes a lost reply for a failure and tries another name",
       {"L3"},
       "operators",
       {Plan{{lost_reply}}},
       takes_lost_replies_for_failures(),
       60s},
      {"blind-patches",
       "patches without naming the UID",
       {"S12"},
       "form",
       {kNothing},
       edits_body("PATCH", "/", [](json::Value& body) { json::remove(body, "/metadata/uid"); }),
       60s},
      {"stale-list",
       "looks again at what the server remembers, before it harms",
       {"S13"},
       "sleep-three",
       {kNothing},
       edits("GET", "/", read_what_is_remembered),
       100s},
      {"overrules",
       "writes status by way of the declaration",
       {"S32"},
       "form",
       {kNothing},
       edits("PUT", "/etcdclusters/c/status", write_the_declaration),
       60s},
      {"mixes-owners",
       "objects of one cluster belong to another",
       {"S27"},
       "two",
       {kNothing},
       mix_owners_up,
       60s},
      {"owns-volumes",
       "volumes go with the cluster whatever is declared",
       {"S30"},
       "delete",
       {kNothing},
       decides(rules_owning_volumes()),
       100s},
  };
}

std::vector<Mutant> make_museum() {
  std::vector<Mutant> out;
  for (auto&& part : {of_formation(), of_members(), of_writes(), of_reports(), of_progress(),
                      of_rolls(), of_certificates(), of_updates()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace

const std::vector<Mutant>& museum() {
  static const std::vector<Mutant> kAll = make_museum();
  return kAll;
}

const Mutant* find_mutant(std::string_view name) {
  for (const auto& mutant : museum())
    if (mutant.name == name) return &mutant;
  return nullptr;
}

}  // namespace quorate::sim
