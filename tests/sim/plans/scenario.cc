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

std::vector<Scenario> make_scenarios() {
  std::vector<Scenario> out;
  auto add = [&](Scenario scenario) { out.push_back(std::move(scenario)); };

  Scenario form;
  form.name = "form";
  form.says = "three members form; then they are left alone";
  form.acts = {declare(0s, "c", plain_spec(3))};
  form.clusters = {"c"};
  form.faults = all_that_heals();
  add(form);

  auto operators = form;
  operators.name = "operators";
  operators.says = "as form, but only operators and what they see go wrong";
  operators.operators = 3;
  operators.faults = kOfOperators;
  add(operators);

  auto data = form;
  data.name = "data";
  data.says = "as form, and disks are emptied and damaged";
  for (auto kind : {FaultKind::kWipe, FaultKind::kWipeAndKill, FaultKind::kCorruptLog})
    data.faults.push_back(kind);
  add(data);

  auto tls = form;
  tls.name = "tls";
  tls.says = "as form, with certificates";
  tls.acts = {declare(0s, "c", {{"replicas", 3}})};
  add(tls);

  auto one = form;
  one.name = "one";
  one.says = "a single member";
  one.acts = {declare(0s, "c", plain_spec(1))};
  add(one);

  auto five = form;
  five.name = "five";
  five.says = "five members on three nodes";
  five.acts = {declare(0s, "c", plain_spec(5))};
  add(five);

  auto memory = form;
  memory.name = "pod-bound";
  memory.says = "members whose data goes with their Pods";
  auto bound = plain_spec(3);
  bound["storage"] = json::Object{{"emptyDir", json::Object()}};
  memory.acts = {declare(0s, "c", std::move(bound))};
  memory.pod_bound = true;
  add(memory);

  auto edits = form;
  edits.name = "edits";
  edits.says =
      "a version without an image is declared, then mended before "
      "anything formed";
  auto wrong = plain_spec(3);
  wrong["version"] = "3.6.14";
  auto right = plain_spec(3);
  right["version"] = "3.6.16";
  edits.acts = {declare(0s, "c", std::move(wrong)), edit(30s, "c", std::move(right))};
  edits.faults = kOfOperators;
  add(edits);

  auto grow = form;
  grow.name = "grow";
  grow.says = "one member becomes three";
  grow.acts = {declare(0s, "c", plain_spec(1)), edit(40s, "c", plain_spec(3))};
  add(grow);

  auto shrink = form;
  shrink.name = "shrink";
  shrink.says = "five members become three, then one";
  shrink.acts = {declare(0s, "c", plain_spec(5)), edit(40s, "c", plain_spec(3)),
                 edit(100s, "c", plain_spec(1))};
  add(shrink);

  auto resize = form;
  resize.name = "resize";
  resize.says = "1, 3, 5, 3, 1 and 3 members, wanted one after the other whether reached or not";
  resize.acts = {declare(0s, "c", plain_spec(1)), edit(30s, "c", plain_spec(3)),
                 edit(70s, "c", plain_spec(5)),   edit(110s, "c", plain_spec(3)),
                 edit(150s, "c", plain_spec(1)),  edit(190s, "c", plain_spec(3))};
  add(resize);

  auto heal = resize;
  heal.name = "heal";
  heal.says = "as resize, and a disk is emptied now and then";
  heal.faults.push_back(FaultKind::kWipeAndKill);
  add(heal);

  auto deleted = form;
  deleted.name = "delete";
  deleted.says = "a cluster forms and is deleted";
  deleted.acts.push_back(remove(60s, "c"));
  deleted.clusters = {};
  deleted.gone = {"c"};
  add(deleted);

  auto two = form;
  two.name = "two";
  two.says = "two clusters side by side";
  two.acts.push_back(declare(1s, "d", plain_spec(3)));
  two.clusters = {"c", "d"};
  add(two);
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
