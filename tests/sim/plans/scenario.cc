#include "tests/sim/plans/scenario.h"

#include "base/check.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

json::Object plain_spec(int replicas) {
  const json::Object off{{"mode", "Disabled"}};
  return {{"replicas", replicas}, {"tls", json::Object{{"peer", off}, {"client", off}}}};
}

Act declare(Duration at, std::string name, json::Object spec) {
  return {at, "declares " + name, [name, spec = json::Value(std::move(spec))](World& world) {
            auto declared = world.declare(name, spec);
            CHECK(declared.has_value(), "{}", declared.error().text());
            for (auto& client : world.clients()) client->talk_to(name);
          }};
}

// An edit; one that is refused is as good.
Act edit(Duration at, std::string name, json::Object spec) {
  return {at, "edits " + name, [name, spec = json::Value(std::move(spec))](World& world) {
            auto declared = world.declare(name, spec);
            static_cast<void>(declared);
          }};
}

Act remove(Duration at, std::string name) {
  return {at, "deletes " + name, [name](World& world) {
            auto removed = world.remove(name);
            static_cast<void>(removed);
          }};
}

const std::vector<FaultKind> kOfOperators{
    FaultKind::kCrash,         FaultKind::kPause,           FaultKind::kWallJump,
    FaultKind::kHandOver,      FaultKind::kLoseRequest,     FaultKind::kLoseReply,
    FaultKind::kRefuseWrites,  FaultKind::kThrottle,        FaultKind::kDelayCalls,
    FaultKind::kOutage,        FaultKind::kFreezeWatches,   FaultKind::kHalfOpen,
    FaultKind::kForgetHistory, FaultKind::kDuplicateEvents, FaultKind::kLoseEtcdReplies,
    FaultKind::kCutFromEtcd,   FaultKind::kWipeStatus,      FaultKind::kDropServing};

std::vector<FaultKind> all_that_heals() {
  auto out = kOfOperators;
  for (auto kind :
       {FaultKind::kCutMember, FaultKind::kCutOneWay, FaultKind::kSlowNetwork,
        FaultKind::kBreakNames, FaultKind::kKill, FaultKind::kStop, FaultKind::kFullDisk,
        FaultKind::kStallDisk, FaultKind::kPowerOff, FaultKind::kReboot, FaultKind::kCutNode,
        FaultKind::kDeletePod, FaultKind::kEvictPod, FaultKind::kDeleteRecord})
    out.push_back(kind);
  return out;
}

Scenario make_form() {
  Scenario form;
  form.name = "form";
  form.says = "three members form; then they are left alone";
  form.acts = {declare(0s, "c", plain_spec(3))};
  form.clusters = {"c"};
  form.faults = all_that_heals();
  return form;
}

Scenario form_as(std::string name, std::string says) {
  auto out = make_form();
  out.name = std::move(name);
  out.says = std::move(says);
  return out;
}

// ---- What goes wrong differs ----

Scenario make_operators() {
  auto out = form_as("operators", "as form, but only operators and what they see go wrong");
  out.operators = 3;
  out.faults = kOfOperators;
  return out;
}

Scenario make_data() {
  auto out = form_as("data", "as form, and disks are emptied, exchanged and damaged");
  for (auto kind :
       {FaultKind::kWipe, FaultKind::kWipeAndKill, FaultKind::kBlankDisk, FaultKind::kCorruptLog})
    out.faults.push_back(kind);
  return out;
}

// ---- What is declared differs ----

Scenario make_declared(std::string name, std::string says, json::Object spec) {
  auto out = form_as(std::move(name), std::move(says));
  out.acts = {declare(0s, "c", std::move(spec))};
  return out;
}

Scenario make_pod_bound() {
  auto bound = plain_spec(3);
  bound["storage"] = json::Object{{"emptyDir", json::Object()}};
  auto out =
      make_declared("pod-bound", "members whose data goes with their Pods", std::move(bound));
  out.pod_bound = true;
  return out;
}

Scenario make_edits() {
  auto out = form_as("edits",
                     "a version without an image is declared, then mended before anything formed");
  auto wrong = plain_spec(3);
  wrong["version"] = "3.6.14";
  auto right = plain_spec(3);
  right["version"] = "3.6.16";
  out.acts = {declare(0s, "c", std::move(wrong)), edit(30s, "c", std::move(right))};
  out.faults = kOfOperators;
  return out;
}

Scenario make_campaign() {
  auto out = form_as("campaign",
                     "the user edits whatever the resource has, well and badly, and in the end "
                     "wants what was wanted first");
  out.base = json::Value(plain_spec(3));
  out.faults = kOfOperators;
  return out;
}

Scenario make_certificates() {
  auto out = make_declared("certificates", "leaves of an hour are renewed for three hours",
                           {{"replicas", 3}});
  out.setup = [](WorldOptions& options) { options.op.executor.leaf_lifetime = 1h; };
  out.length = 3h;
  out.faults = kOfOperators;
  return out;
}

Scenario make_authorities() {
  auto out = make_declared("authorities", "authorities of four hours are replaced within five",
                           {{"replicas", 3}});
  out.setup = [](WorldOptions& options) {
    options.op.executor.authority_lifetime = 4h;
    options.op.executor.leaf_lifetime = 2h;
  };
  out.length = 5h;
  out.faults = kOfOperators;
  return out;
}

// ---- How many are wanted differs ----

Scenario make_grow() {
  auto out = form_as("grow", "one member becomes three");
  out.acts = {declare(0s, "c", plain_spec(1)), edit(40s, "c", plain_spec(3))};
  return out;
}

Scenario make_shrink() {
  auto out = form_as("shrink", "five members become three, then one");
  out.acts = {declare(0s, "c", plain_spec(5)), edit(40s, "c", plain_spec(3)),
              edit(100s, "c", plain_spec(1))};
  return out;
}

Scenario make_resize() {
  auto out = form_as("resize",
                     "1, 3, 5, 3, 1 and 3 members, wanted one after the other whether reached or "
                     "not");
  out.acts = {declare(0s, "c", plain_spec(1)), edit(30s, "c", plain_spec(3)),
              edit(70s, "c", plain_spec(5)),   edit(110s, "c", plain_spec(3)),
              edit(150s, "c", plain_spec(1)),  edit(190s, "c", plain_spec(3))};
  return out;
}

Scenario make_heal() {
  auto out = make_resize();
  out.name = "heal";
  out.says = "as resize, and a disk is emptied now and then";
  out.faults.push_back(FaultKind::kWipeAndKill);
  return out;
}

json::Object shaped(const char* version, const char* memory) {
  auto spec = plain_spec(3);
  spec["version"] = version;
  spec["resources"] = json::Object{{"requests", json::Object{{"memory", memory}}}};
  return spec;
}

Scenario make_roll() {
  auto out = form_as("roll",
                     "other memory, another patch version, one that does not exist and back, and "
                     "both at once, wanted one after the other whether reached or not");
  out.acts = {
      declare(0s, "c", shaped("3.6.15", "128Mi")), edit(40s, "c", shaped("3.6.15", "256Mi")),
      edit(80s, "c", shaped("3.6.16", "256Mi")),   edit(130s, "c", shaped("3.6.19", "256Mi")),
      edit(170s, "c", shaped("3.6.15", "256Mi")),  edit(210s, "c", shaped("3.6.16", "128Mi"))};
  return out;
}

// Members whose data goes with their Pods are replaced.
Scenario make_roll_pod_bound() {
  auto out = make_pod_bound();
  out.name = "replace";
  out.says = "as pod-bound, and other memory is wanted twice";
  auto spec = [](const char* memory) {
    auto shape = shaped("3.6.16", memory);
    shape["storage"] = json::Object{{"emptyDir", json::Object()}};
    return shape;
  };
  out.acts = {declare(0s, "c", spec("128Mi")), edit(60s, "c", spec("256Mi")),
              edit(200s, "c", spec("160Mi"))};
  return out;
}

// ---- What is done differs ----

Scenario make_delete() {
  auto out = form_as("delete", "a cluster forms and is deleted");
  out.acts.push_back(remove(60s, "c"));
  out.clusters = {};
  out.gone = {"c"};
  return out;
}

Scenario make_two() {
  auto out = form_as("two", "two clusters side by side");
  out.acts.push_back(declare(1s, "d", plain_spec(3)));
  out.clusters = {"c", "d"};
  return out;
}

Scenario make_neighbour() {
  auto out = form_as("neighbour", "a cluster forms beside one that cannot");
  auto spec = plain_spec(5);
  spec["version"] = "3.6.14";  // there is no such image
  Act bad{0s, "declares bad", [spec = json::Value(std::move(spec))](World& world) {
            auto declared = world.declare("bad", spec);
            CHECK(declared.has_value(), "{}", declared.error().text());
          }};
  out.acts.insert(out.acts.begin(), std::move(bad));
  out.hopeless = {"bad"};
  out.faults = {FaultKind::kSlowNetwork, FaultKind::kDelayCalls, FaultKind::kDuplicateEvents};
  out.expects = {{60s, "L12", "a cluster that cannot form holds another one up",
                  [](World& world) { return world.converged("c"); }}};
  return out;
}

bool clients_are_served(World& world) {
  for (auto& client : world.clients())
    if (!client->last_success() || world.now() - *client->last_success() > 20s) return false;
  return true;
}

Scenario make_blackout() {
  auto out = form_as("blackout", "all members and all operators go down; members come back alone");
  out.acts.push_back({120s, "turns the lights off", [](World& world) {
                        for (auto& replica : world.replicas()) replica->pause();
                        for (auto& node : world.nodes()) node->power_off();
                      }});
  out.acts.push_back({150s, "turns the lights on", [](World& world) {
                        for (auto& node : world.nodes()) node->power_on();
                      }});
  out.acts.push_back({300s, "wakes the operators", [](World& world) {
                        for (auto& replica : world.replicas()) replica->resume();
                      }});
  out.expects = {
      {290s, "L6", "the members are back, and clients are not served", clients_are_served}};
  out.faults = {FaultKind::kLoseRequest, FaultKind::kLoseReply, FaultKind::kRefuseWrites,
                FaultKind::kThrottle, FaultKind::kDuplicateEvents};
  return out;
}

std::vector<Scenario> make_scenarios() {
  return {make_form(),
          make_operators(),
          make_data(),
          make_declared("tls", "as form, with certificates", {{"replicas", 3}}),
          make_declared("one", "a single member", plain_spec(1)),
          make_declared("five", "five members on three nodes", plain_spec(5)),
          make_pod_bound(),
          make_edits(),
          make_campaign(),
          make_certificates(),
          make_authorities(),
          make_grow(),
          make_shrink(),
          make_resize(),
          make_heal(),
          make_roll(),
          make_roll_pod_bound(),
          make_delete(),
          make_two(),
          make_neighbour(),
          make_blackout()};
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kAll = make_scenarios();
  return kAll;
}

const Scenario* find_scenario(std::string_view name) {
  for (const auto& scenario : scenarios())
    if (scenario.name == name) return &scenario;
  return nullptr;
}

}  // namespace quorate::sim
