#include "tests/sim/plans/acts.h"

// What becomes of a cluster: it grows and shrinks, sleeps, loses something, is deleted.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

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

Scenario make_sizes() {
  auto out = form_as("sizes", "1, 3, 5, 3 and 1 members, with time to reach each");
  out.acts = {declare(0s, "c", plain_spec(1)), edit(50s, "c", plain_spec(3)),
              edit(130s, "c", plain_spec(5)), edit(230s, "c", plain_spec(3)),
              edit(300s, "c", plain_spec(1))};
  return out;
}

Scenario make_plunge() {
  auto out = form_as("plunge", "five members become one");
  out.acts = {declare(0s, "c", plain_spec(5)), edit(40s, "c", plain_spec(1))};
  return out;
}

Scenario make_hasty() {
  auto out = form_as("hasty", "five are wanted before three have formed");
  out.acts.push_back(edit(300ms, "c", plain_spec(5)));
  return out;
}

Scenario make_hesitant() {
  auto out = form_as("hesitant", "0, 1, 0 and 3 members are wanted in the first minute");
  out.acts = {declare(0s, "c", plain_spec(0)), edit(5s, "c", plain_spec(1)),
              edit(20s, "c", plain_spec(0)), edit(40s, "c", plain_spec(3))};
  return out;
}

Scenario make_heal() {
  auto out = make_resize();
  out.name = "heal";
  out.says = "as resize, and a disk is emptied now and then";
  out.faults.push_back(FaultKind::kWipeAndKill);
  return out;
}

// ---- None is wanted for a while ----

Scenario make_sleep(std::string name, std::string says, int size) {
  auto out = form_as(std::move(name), std::move(says));
  out.acts = {declare(0s, "c", plain_spec(size)), edit(60s, "c", plain_spec(0)),
              edit(130s, "c", plain_spec(size))};
  return out;
}

Scenario make_asleep() {
  auto out = form_as("asleep", "three members are put to sleep for good");
  out.acts.push_back(edit(60s, "c", plain_spec(0)));
  return out;
}

Scenario make_nap() {
  auto out = form_as("nap", "three members are put to sleep, and wanted again before they are");
  out.acts.push_back(edit(60s, "c", plain_spec(0)));
  out.acts.push_back(edit(61s, "c", plain_spec(3)));
  out.acts.push_back(edit(90s, "c", plain_spec(0)));
  out.acts.push_back(edit(95s, "c", plain_spec(5)));
  return out;
}

// ---- Something is lost ----

Scenario make_loss(std::string name, std::string says, std::vector<Act> losses, int size = 3) {
  auto out = form_as(std::move(name), std::move(says));
  out.acts = {declare(0s, "c", plain_spec(size))};
  for (auto& loss : losses) out.acts.push_back(std::move(loss));
  out.faults = faults_of_operators();
  out.heals = true;
  return out;
}

Scenario make_lost_quorum() {
  auto out =
      make_loss("lost-quorum", "two of three members lose their data",
                {befall(60s, FaultKind::kWipeAndKill, 0), befall(60s, FaultKind::kWipeAndKill, 1)});
  out.heals = false;
  out.clusters = {};
  out.hopeless = {"c"};
  return out;
}

Scenario make_lost_of_two() {
  auto out =
      make_loss("lost-of-two", "one of two members loses its data, then one is wanted",
                {befall(60s, FaultKind::kWipeAndKill, 0), edit(120s, "c", plain_spec(1))}, 2);
  out.heals = false;
  out.clusters = {};
  out.hopeless = {"c"};
  return out;
}

Scenario make_lost_pods() {
  auto out = make_loss("lost-pods", "all Pods are deleted that hold the data", {});
  auto bound = plain_spec(3);
  bound["storage"] = json::Object{{"emptyDir", json::Object()}};
  out.acts = {declare(0s, "c", std::move(bound))};
  for (int i = 0; i < 3; ++i) out.acts.push_back(befall(60s, FaultKind::kDeletePod, i));
  out.pod_bound = true;
  out.heals = false;
  out.clusters = {};
  out.hopeless = {"c"};
  return out;
}

// ---- Data are in doubt ----

// Three members whose data are in doubt are left as they are, whatever is wanted: nobody is added,
// nobody goes, and status says why.
Scenario make_doubt(std::string name, std::string says, FaultKind kind, const std::string& reason,
                    Duration found_by) {
  auto out = form_as(std::move(name), std::move(says));
  const auto edited = found_by + 20s;
  const auto looked_at = edited + 120s;
  out.acts.push_back(befall(150s, kind, 1));
  out.acts.push_back(edit(edited, "c", plain_spec(5)));
  out.expects = {{looked_at, l7_says("c", reason)}, {looked_at, s29_left_alone("c", 3)}};
  out.length = looked_at + 60s;
  // Hashes are compared more often than in life, so that the story is not all waiting.
  out.setup = [](WorldOptions& options) { options.op.observer.hash_every = 4min; };
  out.clusters = {};
  out.hopeless = {"c"};
  out.faults = {FaultKind::kLoseRequest, FaultKind::kLoseReply,       FaultKind::kRefuseWrites,
                FaultKind::kRefuseReads, FaultKind::kThrottle,        FaultKind::kDelayCalls,
                FaultKind::kHandOver,    FaultKind::kDuplicateEvents, FaultKind::kWipeStatus};
  return out;
}

std::vector<Scenario> losses() {
  return {
      make_loss("lost-data", "one member loses its data, later another one",
                {befall(60s, FaultKind::kWipeAndKill, 0),
                 befall_once_whole(200s, FaultKind::kWipeAndKill, 1)}),
      make_loss("lost-volume", "one member loses its volume, later another one",
                {befall(60s, FaultKind::kLoseVolume, 1),
                 befall_once_whole(200s, FaultKind::kLoseVolume, 2)}),
      make_loss("lost-node", "a node with its volumes goes for ever",
                {befall(60s, FaultKind::kLoseNode, 1)}),
      make_loss("rolled-back",
                "a follower's volume is what it was a while ago, later another one's",
                {befall_follower(60s, FaultKind::kRollBack, 30s),
                 befall_follower(240s, FaultKind::kRollBack, 10s)}),
      make_loss("rolled-back-seed",
                "the first member's volume is what it was when it was alone, while the others are "
                "not heard of",
                {befall(40s, FaultKind::kRollBack, 0, 200s), edit(60s, "c", plain_spec(3)),
                 befall(238s, FaultKind::kStop, 1, 60s), befall(238s, FaultKind::kStop, 2, 60s)},
                1),
      make_loss("lost-two", "two of five members lose their data at once",
                {befall(80s, FaultKind::kWipeAndKill, 1), befall(80s, FaultKind::kWipeAndKill, 3)},
                5),
      make_lost_quorum(),
      make_lost_of_two(),
      make_lost_pods(),
      make_doubt("corrupt", "an alarm says that a member's data is corrupt",
                 FaultKind::kRaiseCorrupt, "CorruptAlarm", 190s),
      make_doubt("diverged", "a member's data differs, and etcd does not notice",
                 FaultKind::kTamper, "differs at revision", 16min),
      make_loss("restart", "all nodes are restarted at once, and again",
                {befall(60s, FaultKind::kReboot, 0), befall(60s, FaultKind::kReboot, 1),
                 befall(60s, FaultKind::kReboot, 2), befall(200s, FaultKind::kReboot, 0),
                 befall(201s, FaultKind::kReboot, 1), befall(202s, FaultKind::kReboot, 2)}),
  };
}

// ---- It is deleted ----

Scenario make_delete() {
  auto out = form_as("delete", "a cluster forms and is deleted");
  out.acts.push_back(remove(60s, "c"));
  out.clusters = {};
  out.gone = {"c"};
  return out;
}

Scenario make_recreate() {
  auto out = form_as("recreate", "a cluster is deleted and declared again under its name, twice");
  for (const auto at : {60s, 160s}) {
    out.acts.push_back(remove(at, "c"));
    out.acts.push_back(edit(at + 2s, "c", plain_spec(3)));
  }
  return out;
}

}  // namespace

std::vector<Scenario> lifecycle_scenarios() {
  std::vector<Scenario> out{make_grow(),
                            make_shrink(),
                            make_resize(),
                            make_sizes(),
                            make_heal(),
                            make_plunge(),
                            make_hasty(),
                            make_hesitant(),
                            make_sleep("sleep-one", "a single member sleeps and wakes", 1),
                            make_sleep("sleep-three", "three members sleep and wake", 3),
                            make_sleep("sleep-five", "five members sleep and wake", 5),
                            make_asleep(),
                            make_nap(),
                            make_delete(),
                            make_recreate()};
  for (auto& loss : losses()) out.push_back(std::move(loss));
  return out;
}

}  // namespace quorate::sim
