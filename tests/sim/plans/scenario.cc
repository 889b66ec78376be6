#include "tests/sim/plans/scenario.h"

#include "base/check.h"
#include "tests/sim/plans/acts.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// ---- What goes wrong differs ----

Scenario make_operators() {
  auto out = form_as("operators", "as form, but only operators and what they see go wrong");
  out.operators = 3;
  out.faults = faults_of_operators();
  return out;
}

Scenario make_data() {
  auto out = form_as("data", "as form, and disks are emptied, exchanged and damaged");
  for (auto kind : {FaultKind::kWipe, FaultKind::kWipeAndKill, FaultKind::kBlankDisk,
                    FaultKind::kCorruptLog, FaultKind::kCorruptDatabase})
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
  out.faults = faults_of_operators();
  return out;
}

Scenario make_campaign() {
  auto out = form_as("campaign",
                     "the user edits whatever the resource has, well and badly, and in the end "
                     "wants what was wanted first");
  out.base = json::Value(plain_spec(3));
  out.faults = faults_of_operators();
  return out;
}

Scenario make_certificates() {
  auto out = make_declared("certificates", "leaves of an hour are renewed for three hours",
                           {{"replicas", 3}});
  out.setup = [](WorldOptions& options) { options.op.executor.leaf_lifetime = 1h; };
  out.length = 3h;
  out.faults = faults_of_operators();
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
  out.faults = faults_of_operators();
  return out;
}

Scenario make_roll() {
  auto out = form_as("roll",
                     "other memory, another patch version, one that does not exist and back, and "
                     "both at once, wanted one after the other whether reached or not");
  auto back = edit(170s, "c", shaped_spec("3.6.15", "256Mi"));
  back.says = "goes back to 3.6.15";  // from a version of which there is no image
  out.acts = {declare(0s, "c", shaped_spec("3.6.15", "128Mi")),
              edit(40s, "c", shaped_spec("3.6.15", "256Mi")),
              edit(80s, "c", shaped_spec("3.6.16", "256Mi")),
              edit(130s, "c", shaped_spec("3.6.19", "256Mi")),
              std::move(back),
              edit(210s, "c", shaped_spec("3.6.16", "128Mi"))};
  return out;
}

// Members whose data goes with their Pods are replaced.
Scenario make_roll_pod_bound() {
  auto out = make_pod_bound();
  out.name = "replace";
  out.says = "as pod-bound, and other memory is wanted twice";
  auto spec = [](const char* memory) {
    auto shape = shaped_spec("3.6.16", memory);
    shape["storage"] = json::Object{{"emptyDir", json::Object()}};
    return shape;
  };
  out.acts = {declare(0s, "c", spec("128Mi")), edit(60s, "c", spec("256Mi")),
              edit(200s, "c", spec("160Mi"))};
  return out;
}

Scenario make_outgrow() {
  auto out = form_as("outgrow", "five members of other memory instead of three, and back");
  auto five = shaped_spec("3.6.16", "256Mi");
  five["replicas"] = 5;
  out.acts = {declare(0s, "c", shaped_spec("3.6.16", "128Mi")), edit(40s, "c", std::move(five)),
              edit(200s, "c", shaped_spec("3.6.16", "128Mi"))};
  return out;
}

// What one member is given differs in everything that can be changed by an edit.
Scenario make_overhaul() {
  auto out = form_as("overhaul", "version, members, memory and options change in one edit");
  auto other = shaped_spec("3.6.16", "256Mi");
  other["replicas"] = 5;
  other["options"] = json::Object{{"heartbeat-interval", "150"}, {"election-timeout", "1500"}};
  out.acts = {declare(0s, "c", shaped_spec("3.6.15", "128Mi")), edit(40s, "c", std::move(other))};
  return out;
}

Scenario make_recede() {
  auto out = form_as("recede", "two of five members are to go while all get more memory");
  auto five = [](const char* memory) {
    auto spec = shaped_spec("3.6.16", memory);
    spec["replicas"] = 5;
    return spec;
  };
  out.acts = {declare(0s, "c", five("128Mi")), edit(60s, "c", five("256Mi")),
              edit(64s, "c", shaped_spec("3.6.16", "256Mi"))};
  return out;
}

// ---- What is done differs ----

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
  out.expects = {{60s, l12_holds_nobody_up("c")}};
  return out;
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
  out.expects = {{290s, l6_members_return_alone()}};
  out.faults = {FaultKind::kLoseRequest, FaultKind::kLoseReply, FaultKind::kRefuseWrites,
                FaultKind::kThrottle, FaultKind::kDuplicateEvents};
  return out;
}

std::vector<Scenario> make_scenarios() {
  std::vector<Scenario> out{form_as("form", "three members form; then they are left alone"),
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
                            make_roll(),
                            make_roll_pod_bound(),
                            make_outgrow(),
                            make_overhaul(),
                            make_recede(),
                            make_two(),
                            make_neighbour(),
                            make_blackout()};
  for (auto& more : {lifecycle_scenarios(), surroundings_scenarios(), update_scenarios()})
    out.insert(out.end(), more.begin(), more.end());
  return out;
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
