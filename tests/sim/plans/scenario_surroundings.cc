#include "api/cluster.h"
#include "apiserver/registry.h"
#include "apiserver/verbs.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/plans/acts.h"

// What is around a cluster is not as it might be: nodes, images, webhooks, the operator's version.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// No Pod is put on any node, or again on all.
Act cordon(Duration at, bool on) {
  return {at, on ? "cordons all nodes" : "uncordons them", [on](World& world) {
            const auto& nodes = *world.api().registry().built_in().nodes;
            const json::Value spec = json::Object{
                {"spec", json::Object{{"unschedulable", on ? json::Value(true) : nullptr}}}};
            for (const auto& node : world.nodes()) {
              auto done = world.api().verbs().patch(nodes, {"", node->name()},
                                                    apiserver::PatchType::kMerge, spec);
              static_cast<void>(done);  // a node that is off from the first has no object
            }
          }};
}

Scenario make_no_room() {
  auto out = form_as("no-room", "two more members find no node, and are not wanted any more");
  out.acts.push_back(cordon(50s, true));
  out.acts.push_back(edit(60s, "c", plain_spec(5)));
  out.acts.push_back(edit(200s, "c", plain_spec(3)));
  out.acts.push_back(cordon(260s, false));
  return out;
}

Scenario make_absent_image() {
  auto out = form_as("absent-image",
                     "one node cannot run the version that is wanted next; the user goes back");
  auto back = edit(200s, "c", shaped_spec("3.6.15", "128Mi"));
  back.says = "goes back to 3.6.15";
  out.acts = {declare(0s, "c", shaped_spec("3.6.15", "128Mi")),
              {39s, "offers 3.6.16, but not to node-1",
               [](World& world) {
                 world.nodes()[1]->lack(std::string(api::kDefaultEtcdRepository) + ":v3.6.16");
               }},
              edit(40s, "c", shaped_spec("3.6.16", "128Mi")),
              std::move(back)};
  return out;
}

// What others add to a Pod is theirs: no reason to make it anew, nor to write it again.
Scenario make_webhook() {
  auto out = form_as("webhook", "a webhook changes every Pod; then other memory is wanted");
  out.setup = edits_body("POST", "/pods", [](json::Value& pod) {
    set(pod, "/metadata/annotations/injector.example~1status", "injected");
    set(pod, "/metadata/labels/injector.example~1revision", "7");
    set(pod, "/spec/priority", 0);
    set(pod, "/spec/containers/0/env/-", json::Object{{"name", "INJECTED"}, {"value", "yes"}});
  });
  out.acts = {declare(0s, "c", shaped_spec("3.6.16", "128Mi")),
              edit(60s, "c", shaped_spec("3.6.16", "256Mi"))};
  return out;
}

Act upgrade_operator(Duration at, std::size_t which) {
  return {at, "upgrades an operator", [which](World& world) {
            world.replicas()[which]->set_launch_image(World::kNextLaunchImage);
            Fault over;
            over.kind = FaultKind::kHandOver;
            over.target = static_cast<int>(which);
            over.duration = 2s;
            world.fate().inflict(over);
          }};
}

Scenario make_newer_operator() {
  auto out = form_as("newer-operator",
                     "operators of a newer release, which makes other Pods, take over one by one");
  out.acts.push_back(upgrade_operator(60s, 0));
  out.acts.push_back(upgrade_operator(75s, 1));
  return out;
}

Scenario make_renewed_amid_roll() {
  auto out = form_as("renewed-amid-roll", "leaves are renewed while members get other memory");
  auto spec = [](const char* memory) {
    auto shape = shaped_spec("3.6.16", memory);
    shape.erase("tls");
    return shape;
  };
  // They begin ten minutes before they are made, and are due in the last third: after 1000 s.
  out.setup = [](WorldOptions& options) { options.op.executor.leaf_lifetime = 30min; };
  out.acts = {declare(0s, "c", spec("128Mi")), edit(998s, "c", spec("256Mi"))};
  out.length = 1040s;
  out.faults = {FaultKind::kThrottle, FaultKind::kDelayCalls, FaultKind::kDuplicateEvents,
                FaultKind::kLoseReply, FaultKind::kRefuseWrites};
  return out;
}

}  // namespace

std::vector<Scenario> surroundings_scenarios() {
  return {make_no_room(), make_absent_image(), make_webhook(), make_newer_operator(),
          make_renewed_amid_roll()};
}

}  // namespace quorate::sim
