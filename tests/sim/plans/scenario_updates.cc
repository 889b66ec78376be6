#include <algorithm>

#include "tests/sim/plans/acts.h"

// People choose when members are restarted (spec.update). The world begins at midnight.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

json::Object shaped(const char* memory, json::Object update) {
  auto spec = plain_spec(3);
  spec["resources"] = json::Object{{"requests", json::Object{{"memory", memory}}}};
  spec["update"] = std::move(update);
  return spec;
}

json::Object between(const char* start, const char* duration) {
  return {{"pauseBetween", "45s"},
          {"window", json::Object{{"start", start}, {"duration", duration}}}};
}

// A clock that is wrong is wrong about windows.
std::vector<FaultKind> faults_but_of_clocks() {
  auto out = faults_of_operators();
  std::erase(out, FaultKind::kWallJump);
  return out;
}

Scenario make_windows() {
  auto out = form_as("windows",
                     "other memory is wanted before the window, and again half a minute before it "
                     "closes; then another window is declared");
  out.acts = {declare(0s, "c", shaped("128Mi", between("00:02", "10m"))),
              edit(60s, "c", shaped("256Mi", between("00:02", "10m"))),
              edit(690s, "c", shaped("128Mi", between("00:02", "10m"))),
              edit(900s, "c", shaped("128Mi", between("00:15", "2h")))};
  out.length = 1100s;
  out.faults = faults_but_of_clocks();
  return out;
}

Scenario make_on_delete() {
  auto out = form_as("on-delete",
                     "members take other memory when somebody deletes their Pods; the rest is "
                     "rolled in the end");
  const json::Object update{{"strategy", "OnDelete"}};
  const json::Object rolling{{"strategy", "Rolling"}};
  out.acts = {declare(0s, "c", shaped("128Mi", update)), edit(60s, "c", shaped("256Mi", update)),
              befall(150s, FaultKind::kDeletePod, 0), befall(210s, FaultKind::kDeletePod, 1),
              befall(270s, FaultKind::kDeletePod, 2),
              // Of Pods that were not there just then nobody deleted any.
              edit(330s, "c", shaped("256Mi", rolling))};
  out.faults = faults_but_of_clocks();
  return out;
}

}  // namespace

std::vector<Scenario> update_scenarios() { return {make_windows(), make_on_delete()}; }

}  // namespace quorate::sim
