#include <fmt/format.h>

#include <algorithm>

#include "api/cluster.h"
#include "apiserver/registry.h"
#include "base/launch_contract.h"
#include "json/document.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/requests.h"

// What becomes of it all: each is asked once, when a run is over or when its story says so.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

constexpr auto kClientPatience = 15s;

// Of every story one of these is asked: that in the end it is as it should be.
Invariant is_reached(std::string_view id, std::string_view says) {
  return {.id = id, .says = says, .end = [id](const Ending& ending, Truth&, Findings& findings) {
            if (ending.asks != id || (!ending.settled && ending.destroyed)) return;
            findings.evaluated(id);
            if (!ending.settled)
              findings.broken(id, "it is not as declared, long after all is calm");
          }};
}

std::string waits_for(World& world, const std::string& cluster) {
  const auto object = world.cluster(cluster);
  const auto* waiting = object ? json::find(*object, "/status/waiting") : nullptr;
  const bool some = waiting && waiting->is_array() && !waiting->as_array().empty();
  return some ? json::render(*waiting) : std::string();
}

bool wants_members(World& world, const std::string& cluster) {
  const auto object = world.cluster(cluster);
  return object && json::integer_at(*object, "/spec/replicas").value_or(api::kDefaultReplicas) > 0;
}

bool clients_are_served(World& world, Duration patience) {
  const auto& clients = world.clients();
  return std::all_of(clients.begin(), clients.end(), [&](const auto& client) {
    return client->last_success() && world.now() - *client->last_success() <= patience;
  });
}

// Members of the cluster that the guard does not let start for want of data; not what is left in
// its ledger of those that were replaced.
std::set<std::string> lost_members(World& world, const std::string& cluster) {
  std::set<std::string> out;
  const auto& pods = *world.api().registry().built_in().pods;
  for (const auto& refusal : world.ledger().refusals) {
    const auto& pod = refusal.pod;
    if (refusal.code == launch::kExitLost && pod.name.substr(0, pod.name.rfind('-')) == cluster &&
        !world.process_of(pod) && world.api().storage().find(pods, pod))
      out.insert(pod.name);
  }
  return out;
}

}  // namespace

Invariant l1_reached_and_kept() {
  auto out = is_reached("L1", "what is declared is reached after calm, and stays");
  out.end = [reached = out.end](const Ending& ending, Truth& truth, Findings& findings) {
    reached(ending, truth, findings);
    if (!ending.settled) return;
    findings.evaluated("L1");
    if (!ending.stayed) findings.broken("L1", "it was as declared, and is not any more");
  };
  return out;
}
Invariant l2_edits_are_undone() {
  return is_reached("L2", "after any edits, the first declaration is reached again");
}
Invariant l5_whole_again() {
  return is_reached("L5", "a cluster that lost a member is whole again");
}
Invariant l8_goes() { return is_reached("L8", "a deleted cluster goes"); }

namespace {

// Which member is deleted follows from who leads, and that from what went wrong: of deletions, the
// number of each kind counts.
std::map<std::string, int> without_victims(const std::map<std::string, int>& counts) {
  std::map<std::string, int> out;
  for (const auto& [what, count] : counts)
    out[what.starts_with("DELETE ") ? what.substr(0, what.rfind(' ')) : what] += count;
  return out;
}

}  // namespace

// No object is made or deleted more often than without faults, and as many are left. It may be
// less often: what is declared and declared otherwise before an operator sees it is never made.
Invariant l3_same_counts() {
  return {.id = "L3",
          .says =
              "objects are created and deleted no more often than without faults, and as many are "
              "left",
          .end = [](const Ending& ending, Truth&, Findings& findings) {
            if (!ending.reference) return;
            findings.evaluated("L3");
            const auto counts = without_victims(ending.counts);
            const auto reference = without_victims(*ending.reference);
            for (const auto& [what, count] : counts) {
              auto found = reference.find(what);
              const auto expected = found == reference.end() ? 0 : found->second;
              const bool left = what.starts_with("LEFT ");
              if (count > expected || (left && count != expected))
                findings.broken(
                    "L3", fmt::format("{}: {} times, {} without faults", what, count, expected));
            }
          }};
}

Invariant l4_clients_are_served() {
  return {.id = "L4",
          .says = "clients are served",
          .end = [](const Ending& ending, Truth& truth, Findings& findings) {
            auto& world = truth.world();
            if (!ending.settled ||
                std::none_of(ending.clusters.begin(), ending.clusters.end(),
                             [&](const auto& name) { return wants_members(world, name); }))
              return;
            findings.evaluated("L4");
            if (!clients_are_served(world, kClientPatience))
              findings.broken("L4", "a client is not served");
          }};
}

Invariant l6_members_return_alone() {
  return {.id = "L6",
          .says = "members that come back serve without an operator",
          .asked = [](Truth& truth, Findings& findings) {
            findings.evaluated("L6");
            if (!clients_are_served(truth.world(), 20s))
              findings.broken("L6", "the members are back, and clients are not served");
          }};
}

Invariant l7_says_why() {
  return {.id = "L7",
          .says = "what makes no progress says why",
          .end = [](const Ending& ending, Truth& truth, Findings& findings) {
            for (const auto& name : ending.stuck) {
              findings.evaluated("L7");
              if (waits_for(truth.world(), name).empty())
                findings.broken(
                    "L7", fmt::format("{} makes no progress, and status does not say why", name));
            }
          }};
}

Invariant l7_says(const std::string& cluster, const std::string& reason) {
  auto out = l7_says_why();
  out.asked = [=](Truth& truth, Findings& findings) {
    findings.evaluated("L7");
    if (waits_for(truth.world(), cluster).find(reason) == std::string::npos)
      findings.broken("L7", fmt::format("status of {} does not tell of: {}", cluster, reason));
  };
  return out;
}

Invariant l12_holds_nobody_up(const std::string& other) {
  return {.id = "L12",
          .says = "a cluster that cannot form holds no other one up",
          .asked = [other](Truth& truth, Findings& findings) {
            findings.evaluated("L12");
            if (!truth.world().converged(other))
              findings.broken("L12", "a cluster that cannot form holds another one up");
          }};
}

Invariant l13_somebody_leads() {
  return {.id = "L13",
          .says = "somebody leads",
          .end = [](const Ending& ending, Truth& truth, Findings& findings) {
            if (!ending.settled) return;
            findings.evaluated("L13");
            const auto& replicas = truth.world().replicas();
            if (std::none_of(replicas.begin(), replicas.end(),
                             [](const auto& replica) { return replica->leading(); }))
              findings.broken("L13", "no operator leads");
          }};
}

Invariant l14_names_who_lost() {
  return {.id = "L14",
          .says = "status names who has lost its data",
          .end = [](const Ending& ending, Truth& truth, Findings& findings) {
            for (const auto& name : ending.stuck) {
              const auto text = waits_for(truth.world(), name);
              if (text.empty()) continue;  // L7 says so
              for (const auto& pod : lost_members(truth.world(), name)) {
                findings.evaluated("L14");
                if (text.find(pod) == std::string::npos)
                  findings.broken("L14",
                                  fmt::format("{} has lost its data, status does not say so", pod));
              }
            }
          }};
}

}  // namespace quorate::sim
