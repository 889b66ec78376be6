#include <memory>

#include "api/cluster.h"
#include "api/names.h"
#include "tests/sim/museum/broken_rules.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/museum/mutant.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

Fault fault(FaultKind kind, Duration at, int target = 0, Duration duration = {}) {
  Fault out;
  out.kind = kind;
  out.at = at;
  out.target = target;
  out.duration = duration;
  return out;
}

const Plan kNothing;

// ---- Formation and identity ----

// The first members lose their content and their Pods after the cluster has formed.
Plan emptied(int members) {
  Plan plan;
  for (int i = 0; i < members; ++i) {
    plan.faults.push_back(fault(FaultKind::kWipeAndKill, 60s, i));
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

void take_an_old_image(json::Value& pod) {
  if (name_in(pod) == "c-1")
    set(pod, "/spec/containers/0/image",
        json::Value(std::string(api::kDefaultEtcdRepository) + ":v3.4.23"));
}

std::vector<Mutant> of_formation() {
  const Plan late{{fault(FaultKind::kPowerOff, 0s, 0, 60s)}};
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
       {emptied(1)},
       decides(rules_new_for_ever()),
       150s},
      {"new-quorum",
       "emptied members outvote the one that has the data",
       {"S1", "Linearizable"},
       "data",
       {emptied(2)},
       decides(rules_new_for_ever()),
       150s},
      {"serves-unverified",
       "Pods are sent clients as soon as they are there",
       {"S10", "S18"},
       "form",
       {late},
       decides(rules_serving_at_once()),
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
      {"one-volume",
       "all Pods mount the first member's volume",
       {"S9"},
       "form",
       {kNothing},
       edits_body("POST", "/pods", mount_the_first_volume),
       60s},
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
      {"deletes-first",
       "deletes the Pod of a member that is listed",
       {"S8"},
       "form",
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
      {"no-budget",
       "a disruption budget that allows everything",
       {"S24"},
       "form",
       {kNothing},
       edits_body("POST", "/poddisruptionbudgets",
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

void own_it(json::Value& claim) {
  const auto* metadata = json::find(claim, "/metadata");
  json::Object owner{
      {"apiVersion", "quorate.io/v1alpha1"},
      {"kind", "EtcdCluster"},
      {"name", "c"},
      {"uid", json::Value(json::text_or(*metadata, "/labels/quorate.io~1cluster-uid", ""))}};
  set(claim, "/metadata/ownerReferences", json::Array{std::move(owner)});
}

std::vector<Mutant> of_writes() {
  const Plan lost_reply{{fault(FaultKind::kLoseReply, 200ms)}};
  return {
      {"never-content",
       "writes what stands there already",
       {"S28"},
       "form",
       {kNothing},
       decides(rules_never_content()),
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
       {lost_reply},
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
       "edits",
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
       edits_body("POST", "/persistentvolumeclaims", own_it),
       100s},
  };
}

// ---- What it says ----

void say_available(json::Value& body) {
  auto* conditions = json::find(body, "/status/conditions");
  if (!conditions || !conditions->is_array()) return;
  for (auto& condition : conditions->as_array())
    if (json::text_or(condition, "/type", "") == api::kConditionAvailable)
      set(condition, "/status", "True");
}

void be_vague(json::Value& body) {
  auto* waiting = json::find(body, "/status/waiting");
  if (!waiting || !waiting->is_array()) return;
  for (auto& entry : waiting->as_array()) set(entry, "/message", "something is not well");
}

void be_silent(json::Value& body) { json::remove(body, "/status/waiting"); }

void leak(json::Value& body) {
  set(body, "/metadata/annotations/note", "-----BEGIN PRIVATE KEY-----");
}

std::vector<Mutant> of_reports() {
  const Plan cut_off{
      {fault(FaultKind::kPowerOff, 30s, 0, 250s), fault(FaultKind::kPowerOff, 30s, 1, 250s)}};
  const Plan lost{{fault(FaultKind::kWipeAndKill, 60s, 0)}};
  return {
      {"boasts",
       "says Available whatever it knows",
       {"S25"},
       "form",
       {cut_off},
       edits_body("PUT", "/etcdclusters/c/status", say_available),
       300s},
      {"leaks",
       "writes a private key into an annotation",
       {"S26"},
       "form",
       {kNothing},
       edits_body("POST", "/services", leak),
       60s},
      {"silent",
       "does not say what it waits for",
       {"L7"},
       "data",
       {lost},
       edits_body("PUT", "/etcdclusters/c/status", be_silent),
       100s},
      {"vague",
       "does not say who has lost its data",
       {"L14"},
       "data",
       {lost},
       edits_body("PUT", "/etcdclusters/c/status", be_vague),
       100s},
  };
}

// ---- What it does not bring about ----

Apply pretends_to_make_pod(const std::string& name) {
  return answers_itself(
      [name](const net::Request& request) {
        if (request.method != "POST" || !request.path.ends_with("/pods")) return false;
        auto body = json::parse(request.body);
        return body && name_in(*body) == name;
      },
      [](const net::Request& request) -> Result<net::Response> {
        auto body = json::parse(request.body);
        set(*body, "/metadata/uid", "00000000-0000-0000-0000-000000000000");
        set(*body, "/metadata/resourceVersion", "1");
        return net::Response{201, {{"content-type", "application/json"}}, json::render(*body), {}};
      });
}

Result<net::Response> refuse(const net::Request&) {
  return fail(Code::kUnavailable, "does not feel like it");
}

Apply never_renews() {
  return answers_itself(
      [](const net::Request& request) {
        return request.method == "PATCH" && request.path.find("/secrets/") != std::string::npos;
      },
      refuse);
}

void tire(WorldOptions& options) {
  auto left = std::make_shared<int>(20);
  answers_itself(
      [left](const net::Request& request) { return request.method != "GET" && --*left < 0; },
      refuse)(options);
}

void bar_clients(json::Value& body) {
  if (name_in(body) == "c-client-tls") set(body, "/data/tls.crt", "Z2FyYmFnZQ==");
}

std::vector<Mutant> of_progress() {
  const Plan crashes{{fault(FaultKind::kCrash, 50s, 0, 1s), fault(FaultKind::kCrash, 50s, 1, 1s)}};
  return {
      {"pretends",
       "believes that it made a Pod",
       {"L1"},
       "form",
       {kNothing},
       pretends_to_make_pod("c-2"),
       60s},
      {"tires", "stops writing after a while", {"L2"}, "campaign", {}, tire, 100s},
      {"bars-clients",
       "gives applications certificates of nobody",
       {"L4"},
       "tls",
       {kNothing},
       edits_body("POST", "/secrets", bar_clients),
       60s},
      {"never-restarts",
       "Pods that do not start again by themselves",
       {"L6"},
       "blackout",
       {kNothing},
       edits_body("POST", "/pods",
                  [](json::Value& body) { set(body, "/spec/restartPolicy", "Never"); }),
       310s},
      {"clings",
       "Pods with a finalizer that nobody takes away",
       {"L8"},
       "delete",
       {kNothing},
       edits_body("POST", "/pods",
                  [](json::Value& body) {
                    set(body, "/metadata/finalizers", json::Array{"quorate.io/never"});
                  }),
       100s},
      {"one-at-a-time",
       "a cluster that takes long holds up the others",
       {"L12"},
       "neighbour",
       {kNothing},
       both(stands_still_at("bad", 40s), [](WorldOptions& options) { options.op.workers = 1; }),
       100s},
      {"keeps-the-lease",
       "a lease that outlives its holder by minutes",
       {"L13"},
       "form",
       {crashes},
       [](WorldOptions& options) { options.op.timings.lease = 10min; },
       100s},
  };
}

// ---- Certificates ----

// The root that members trust among each other is that of clients.
void swap_authorities(WorldOptions& options) {
  auto other = std::make_shared<json::Value>();
  edits_body("POST", "/secrets", [other](json::Value& body) {
    const auto* root = json::find(body, "/data/ca.crt");
    if (root && name_in(body) == "c-client-ca") *other = *root;
    if (root && name_in(body) == "c-peer-tls" && !other->is_null())
      set(body, "/data/ca.crt", *other);
  })(options);
}

std::vector<Mutant> of_certificates() {
  return {
      {"swaps-authorities",
       "members trust another authority than theirs",
       {"S22"},
       "tls",
       {kNothing},
       swap_authorities,
       60s},
      {"locks-itself-out",
       "renews its own certificate to one of nobody",
       {"S23"},
       "certificates",
       {kNothing},
       edits_body("PATCH", "/secrets/c-operator-tls",
                  [](json::Value& body) { set(body, "/data/tls.crt", "Z2FyYmFnZQ=="); }),
       1h},
      {"never-renews",
       "does not renew certificates",
       {"L10"},
       "certificates",
       {kNothing},
       never_renews(),
       1h},
  };
}

std::vector<Mutant> make_museum() {
  std::vector<Mutant> out;
  for (auto&& part :
       {of_formation(), of_members(), of_writes(), of_reports(), of_progress(), of_certificates()})
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
